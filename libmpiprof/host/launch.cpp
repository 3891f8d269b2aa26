// The tables of launchers, and the walk over them. A new launcher is a row.
#include "libmpiprof/host/launch.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/basics.h"
#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

using format::Header;

// ---- the processes above ----

// The argument that follows `option` in a NUL-separated command line.
const char* argument_after(const char* line, std::size_t length, const char* option) {
    for (const char* a = line; a < line + length; a += strlen(a) + 1)
        if (strcmp(a, option) == 0 && a + strlen(a) + 1 < line + length) return a + strlen(a) + 1;
    return nullptr;
}

constexpr int most_ancestors = 64;

// Other launchers than Hydra, as the kernel calls their processes. What they started is told by its environment.
constexpr char starters[][16] = {"orterun", "orted", "mpirun",         "mpiexec",         "prterun",
                                 "prted",   "prte",  "mpirun.openmpi", "mpiexec.openmpi", "mpirun_rsh"};

bool is_hydra(unsigned pid, Starter& starter) {
    char line[2048];
    const std::size_t length = command_line(pid, line, sizeof line);
    const char* port = argument_after(line, length, "--control-port");
    if (!port) return false;
    copy(starter.port, port);
    if (const char* group = argument_after(line, length, "--pgid")) copy(starter.group, group);
    return true;
}

bool is_starter(const char* name) {
    for (const auto& starter : starters)
        if (strcmp(name, starter) == 0) return true;
    return false;
}

// ---- what they tell their ranks ----

// Identities that all ranks of a launch see, most specific first: up to three variables joined.
struct LaunchRow {
    char launcher[12];
    char variables[3][40];  // the first must be set
};
constexpr LaunchRow launch_rows[] = {
    {"PMIx", {"PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports", "SLURM_JOB_ID"}},
    {"PALS", {"PALS_APID", "PBS_JOBID", ""}},
    {"Flux", {"FLUX_JOB_ID", "", ""}},
    {"Slurm", {"PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"Slurm", {"SLURM_STEP_ID", "SLURM_JOB_ID", "SLURM_SRUN_COMM_PORT"}},
    {"torchrun", {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"}},
};

// The socket by which the proxy of this node speaks to mpiexec: its ranks have inherited it. Numbers of sockets are
// given once as long as the machine runs.
bool mark_by_socket(SharedMark& mark) {
    unsigned fd = 0;
    if (!number(variable("HYDI_CONTROL_FD"), fd)) return false;
    char path[48], link[64], boot[16];
    snprintf(path, sizeof path, "/proc/self/fd/%u", fd);
    link_text(path, link, sizeof link);
    constexpr char kind[] = "socket:[";
    if (strncmp(link, kind, sizeof kind - 1) != 0 || !number(link + sizeof kind - 1, mark.number)) return false;
    slurp("/proc/sys/kernel/random/boot_id", boot, 9);
    snprintf(mark.name, sizeof mark.name, "socket:%u:%s", mark.number, boot);
    return true;
}

// The memory that MPICH's ranks of a node share has a name made up by one of them.
bool mark_by_memory(SharedMark& mark) {
    constexpr char prefix[] = "/mpich_shar_tmp";
    char name[32] = "";
    each_line_of("/proc/self/maps", [&](const char* line) {
        if (const char* found = name[0] ? nullptr : strstr(line, prefix)) copy(name, found + sizeof prefix - 1);
    });
    cut(name, " \n");
    if (!name[0]) return false;
    std::uint64_t hash = 0;
    for (const char* c = name; *c; ++c) hash = mix(hash + static_cast<unsigned char>(*c));
    mark.number = static_cast<unsigned>(hash >> 44);
    snprintf(mark.name, sizeof mark.name, "memory:%s", name);
    return true;
}

constexpr unsigned first_pid_namespace = 0xeffffffc;  // the machine's own

// The most specific first: torchrun and Horovod start their ranks below a launcher, whose word is then about them.
struct RankRow {
    char rank[24], size[24], local[28];
    char only_with[16];  // this must be set, too
};
constexpr RankRow rank_rows[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR"},
    {"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", ""},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", ""},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", ""},
    {"PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID", ""},
    {"PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_RANKID", ""},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", ""},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", ""},
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", ""},
};

void add_to_launch(Header& header, const char* word, unsigned long long number) {
    const std::size_t used = strlen(header.launch);
    snprintf(header.launch + used, sizeof header.launch - used, "%s%llu", word, number);
}

// torchrun gives a run without a name the name "none", on its default port: on one machine its process tells runs
// apart.
bool is_nameless_torchrun_of_one_node() {
    const char* run = variable("TORCHELASTIC_RUN_ID");
    unsigned here = 0, all = 0;
    return run && strcmp(run, "none") == 0 && number(variable("LOCAL_WORLD_SIZE"), here) &&
           number(variable("WORLD_SIZE"), all) && here == all;
}

// Open MPI's MPI_Init in a process that no launcher of its started makes up the names that such a launcher gives.
bool is_singleton_of_open_mpi() {
    const char* how = variable("OMPI_MCA_ess");
    return how && strcmp(how, "singleton") == 0;
}

bool launch_by_table(char* launch, std::size_t size, const char*& launcher) {
    for (const LaunchRow& row : launch_rows) {
        if (!variable(row.variables[0]) || (&row == launch_rows && is_singleton_of_open_mpi())) continue;
        int used = snprintf(launch, size, "%s", row.launcher);
        for (const auto& name : row.variables) {
            const char* value = name[0] ? variable(name) : nullptr;
            if (value && used > 0 && static_cast<std::size_t>(used) < size)
                used += snprintf(launch + used, size - static_cast<std::size_t>(used), ":%s", value);
        }
        launcher = row.launcher;
        return true;
    }
    return false;
}

// How many ranks the launcher started on this node, and in all.
struct SpanRow {
    char here[28], all[24];
};
constexpr SpanRow span_rows[] = {
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"},
    {"MPI_LOCALNRANKS", "PMI_SIZE"},
};

}  // namespace

Starter starter_above(const ProcessStat& self) {
    Starter starter;
    unsigned pid = self.parent;
    for (int i = 0; i < most_ancestors && pid > 1; ++i) {
        const ProcessStat stat = stat_of(pid);
        if (is_hydra(pid, starter) || is_starter(stat.name)) {
            starter.pid = pid;
            starter.parent = stat.parent;
            break;
        }
        pid = stat.parent;
    }
    return starter;
}

bool mark_of_hydra(SharedMark& mark) {
    const bool is_started = variable("PMI_FD") || variable("PMI_PORT");
    return is_started && (mark_by_socket(mark) || mark_by_memory(mark));
}

void describe_launch(Header& header, const World& world, const ProcessStat& self) {
    const char* launcher = "none";
    const ProcessStat parent = stat_of(self.parent);
    const Starter starter = starter_above(self);
    if (starter.port[0]) {  // Hydra gives its ranks no name for the launch; spawned worlds share the port
        snprintf(header.launch, sizeof header.launch, "hydra:%s:%s", starter.port, starter.group);
        launcher = "Hydra";
    } else if (SharedMark mark; launch_by_table(header.launch, sizeof header.launch, launcher)) {
    } else if (mark_of_hydra(mark)) {
        snprintf(header.launch, sizeof header.launch, "hydra:%s", mark.name);
        launcher = "Hydra";
    } else {
        snprintf(header.launch, sizeof header.launch, "%s%u:%llu", format::launch_by_parent, self.parent, parent.start);
        // Nothing is known of who started us: what other containers hold is another launch.
        if (parent.start == 0) add_to_launch(header, "@", own_pid_namespace());
    }
    if (variable("OMPI_COMM_WORLD_SIZE")) launcher = "Open MPI";
    // What torchrun starts again after a failure is another launch.
    unsigned restarts = 0;
    if (number(variable("TORCHELASTIC_RESTART_COUNT"), restarts) && restarts > 0)
        add_to_launch(header, ":restart", restarts);
    if (is_nameless_torchrun_of_one_node()) {
        add_to_launch(header, ":", self.parent);
        add_to_launch(header, ":", parent.start);
    }
    // A world of one is its own launch: srun starts four of them where it does not speak the program's PMI.
    const LaunchRank claimed = rank_by_launcher();
    if (world.size == 1 && (!claimed.known || claimed.size != 1)) {
        add_to_launch(header, "+", header.pid);
        add_to_launch(header, ":", self.start);
        const unsigned space = own_pid_namespace();
        if (space != first_pid_namespace) add_to_launch(header, "@", space);
    }
    copy(header.launcher, launcher);
}

bool spans_nodes() {
    unsigned here = 0, all = 0;
    for (const SpanRow& row : span_rows)
        if (number(variable(row.here), here) && number(variable(row.all), all)) return here < all;
    return false;
}

LaunchRank rank_by_launcher() {
    LaunchRank known{false, 0, 1, format::no_local_rank};
    for (const RankRow& row : rank_rows) {
        if ((row.only_with[0] && !variable(row.only_with)) || !number(variable(row.rank), known.rank)) continue;
        known.known = true;
        number(variable(row.size), known.size);
        number(variable(row.local), known.local_rank);
        break;
    }
    return known;
}

World world_without_mpi(unsigned rank, unsigned size, const char* library) {
    World world{rank, size, false, false, 0, format::MpiFamily::none, library};
    const LaunchRank launched = rank_by_launcher();
    if (!launched.known || launched.size < size) return world;
    world.rank = launched.rank;
    world.size = launched.size;
    world.is_launchers = true;
    return world;
}

}  // namespace mpiprof
