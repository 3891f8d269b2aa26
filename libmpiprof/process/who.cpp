// The tables of launchers and schedulers, and the walk over them. A new scheduler is a row.
#include "libmpiprof/process/who.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof {
namespace {

using format::Header;

// ---- small reading helpers; strtol and scanf have newer versions on newer hosts ----

const char* variable(const char* name) {
    const char* value = getenv(name);
    return value && *value ? value : nullptr;
}

bool number(const char* text, unsigned& value) {
    unsigned read = 0;
    if (!text || read_number(text, read) == text) return false;
    value = read;
    return true;
}

struct ProcessStat {
    unsigned parent;
    char name[32];
    unsigned long long start;  // clock ticks after boot
};

ProcessStat stat_of(unsigned pid) {
    ProcessStat stat{};
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    slurp(path, text, sizeof text);
    const char* open_bracket = strchr(text, '(');
    const char* close_bracket = open_bracket;
    for (const char* c = text; *c; ++c)  // the last one: the name itself may hold brackets
        if (*c == ')') close_bracket = c;
    if (!open_bracket || close_bracket <= open_bracket) return stat;
    const auto length = static_cast<std::size_t>(close_bracket - open_bracket - 1);
    memcpy(stat.name, open_bracket + 1, length < sizeof stat.name ? length : sizeof stat.name - 1);
    const char* field = close_bracket + 1;
    for (int i = 3; *field && i <= 22; ++i) {
        while (*field == ' ') ++field;
        if (i == 4) number(field, stat.parent);
        if (i == 22) read_number(field, stat.start);
        while (*field && *field != ' ') ++field;
    }
    return stat;
}

std::size_t command_line(unsigned pid, char* buffer, std::size_t size) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    return slurp(path, buffer, size);
}

// The argument that follows `option` in a NUL-separated command line.
const char* argument_after(const char* line, std::size_t length, const char* option) {
    for (const char* a = line; a < line + length; a += strlen(a) + 1)
        if (strcmp(a, option) == 0 && a + strlen(a) + 1 < line + length) return a + strlen(a) + 1;
    return nullptr;
}

// ---- the launcher ----

// The nearest process above that starts ranks. Between it and a rank there may be others: scripts that do not exec,
// time, strace, gdb.
struct Starter {
    unsigned pid = 0;  // 0: there is none to be seen
    unsigned parent = 0;
    char port[80] = "";  // Hydra's proxy: whom it reports to, HOST:PORT, as all proxies of the launch do
    char group[16] = "0";
};
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

// ---- launch ----

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

bool launch_by_table(char* launch, std::size_t size, const char*& launcher) {
    for (const LaunchRow& row : launch_rows) {
        if (!variable(row.variables[0])) continue;
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

void describe_launch(Header& header, const World& world, const ProcessStat& self) {
    const char* launcher = "none";
    const ProcessStat parent = stat_of(self.parent);
    const Starter starter = starter_above(self);
    if (starter.port[0]) {  // Hydra gives its ranks no name for the launch; spawned worlds share the port
        snprintf(header.launch, sizeof header.launch, "hydra:%s:%s", starter.port, starter.group);
        launcher = "Hydra";
    } else if (!launch_by_table(header.launch, sizeof header.launch, launcher)) {
        snprintf(header.launch, sizeof header.launch, "parent:%u:%llu", self.parent, parent.start);
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
    }
    copy(header.launcher, launcher);
}

// ---- job ----

struct JobRow {
    char id[24];
    char part[28];  // array index
    char part_is_none[12];
};
constexpr JobRow job_rows[] = {
    {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", ""},
    {"SLURM_JOB_ID", "", ""},
    {"PBS_JOBID", "", ""},
    {"LSB_JOBID", "LSB_JOBINDEX", "0"},
    {"COBALT_JOBID", "", ""},
    {"FLUX_JOB_ID", "", ""},
    {"OAR_JOB_ID", "", ""},
    {"JOB_ID", "SGE_TASK_ID", "undefined"},
};

// '/', blanks and control characters have no place in a file name, and dots separate its parts.
char in_file_name(char c) {
    const auto code = static_cast<unsigned char>(c);
    return c == '[' || c == '.' || c == '/' || code <= ' ' || code >= 0x7f ? '_' : c;
}

// "4711.sdb" -> 4711, "4711[3].sdb" -> 4711_3.
void add_job_id(Header& header, const char* id) {
    for (; *id && *id != '.'; ++id) {
        const char c = in_file_name(*id);
        if (*id != ']') append(header.job, &c, 1);
    }
}

// What the user calls it: "lj-2.5" -> lj-2_5.
void add_job_name(Header& header, const char* name) {
    for (; *name; ++name) {
        const char c = in_file_name(*name);
        append(header.job, &c, 1);
    }
}

// How many ranks the launcher started on this node, and in all.
struct SpanRow {
    char here[28], all[24];
};
constexpr SpanRow span_rows[] = {
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"},
    {"MPI_LOCALNRANKS", "PMI_SIZE"},
};

bool spans_nodes() {
    unsigned here = 0, all = 0;
    for (const SpanRow& row : span_rows)
        if (number(variable(row.here), here) && number(variable(row.all), all)) return here < all;
    return false;
}

// What the launcher calls the launch, on all nodes: the port of Hydra's mpiexec; ORTE's job family, or the process of
// PRRTE's prterun, out of the PMIx namespace ("4057923585", "prterun-login-27540@1").
bool add_launchers_number(Header& header, const Starter& starter) {
    if (const char* colon = strrchr(starter.port, ':')) {
        add_job_id(header, colon + 1);
        return true;
    }
    const char* space = variable("PMIX_NAMESPACE");
    unsigned value = 0;
    if (!space) return false;
    const char* dash = strrchr(space, '-');
    if (!number(dash ? dash + 1 : space, value)) return false;
    snprintf(header.job, sizeof header.job, "%u", dash ? value : value >> 16);
    return true;
}

// Without a scheduler it is the launcher's process, if all ranks are where it is.
void add_launcher(Header& header, const ProcessStat& self) {
    const Starter starter = starter_above(self);
    if ((spans_nodes() || starter.pid == 0) && add_launchers_number(header, starter)) return;
    unsigned launcher = starter.pid ? starter.pid : self.parent;
    if (starter.port[0] && starter.parent > 1) launcher = starter.parent;  // mpiexec, above its proxy
    snprintf(header.job, sizeof header.job, "%u", launcher);
}

void describe_job(Header& header, const ProcessStat& self) {
    const char* chosen = value_of(Setting::job);
    if (*chosen) return add_job_name(header, chosen);
    if (const char* leader = variable("SLURM_HET_JOB_ID")) {
        add_job_id(header, leader);
        if (const char* offset = variable("SLURM_HET_JOB_OFFSET")) {
            append(header.job, "+");
            add_job_id(header, offset);
        }
        return;
    }
    for (const JobRow& row : job_rows) {
        const char* id = variable(row.id);
        if (id) add_job_id(header, id);
        if (!header.job[0]) continue;
        const char* part = row.part[0] ? variable(row.part) : nullptr;
        if (part && strcmp(part, row.part_is_none) != 0) {
            append(header.job, "_");
            add_job_id(header, part);
        }
        return;
    }
    const char* run = variable("TORCHELASTIC_RUN_ID");
    if (run && strcmp(run, "none") != 0) return add_job_name(header, run);
    add_launcher(header, self);
}

// ---- node and process ----

void describe_node(Header& header) {
    if (gethostname(header.host, sizeof header.host - 1) != 0) copy(header.host, "?");
    // Under Slurm two nodes may live on one machine (and one host name); its own node name tells them apart.
    const char* name = variable("SLURMD_NODENAME");
    if (name && variable("SLURM_JOB_ID")) copy(header.host, name);
    char boot[64];
    slurp("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    cut(boot, "\n");
    snprintf(header.node, sizeof header.node, "%s/%s", boot, header.host);
}

// "--api-key=abc" and "--token abc" are stored as "--api-key=***" and "--token ***".
void describe_command(Header& header) {
    char line[2048];
    const std::size_t length = command_line(header.pid, line, sizeof line);
    bool hide_next = false;
    for (const char* a = line; a < line + length; a += strlen(a) + 1) {
        if (a != line) append(header.command, " ");
        const char* equals = strchr(a, '=');
        const std::size_t name = equals ? static_cast<std::size_t>(equals - a) : strlen(a);
        const bool secret = a != line && looks_secret(a, name);
        if (hide_next && *a != '-')
            append(header.command, "***");
        else
            append(header.command, a, secret && equals ? name + 1 : strlen(a));
        if (secret && equals) append(header.command, "***");
        hide_next = secret && !equals;
    }
}

void describe_start(Header& header, const ProcessStat& self) {
    timespec boot{}, real{};
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &real);
    const auto hertz = static_cast<unsigned long long>(sysconf(_SC_CLK_TCK));
    if (self.start == 0 || hertz == 0) return;
    const auto since_boot =
        static_cast<unsigned long long>(boot.tv_sec) * 1'000'000'000u + static_cast<unsigned long long>(boot.tv_nsec);
    const auto now =
        static_cast<unsigned long long>(real.tv_sec) * 1'000'000'000u + static_cast<unsigned long long>(real.tv_nsec);
    const auto start = self.start * (1'000'000'000u / hertz);
    if (start < since_boot) header.process_start_ns = now - (since_boot - start);
}

}  // namespace

bool looks_secret(const char* word, std::size_t length) {
    static constexpr char marks[][12] = {"token",  "password", "passwd",  "secret",
                                         "apikey", "api-key",  "api_key", "credential"};
    for (const auto& mark : marks) {
        const std::size_t n = strlen(mark);
        for (std::size_t i = 0; i + n <= length; ++i) {
            std::size_t same = 0;
            while (same < n && lower(word[i + same]) == mark[same]) ++same;
            if (same == n) return true;
        }
    }
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

void describe_world(Header& header, const World& world) {
    header.rank = world.rank;
    header.size = world.size;
    header.thread_level = world.thread_level;
    header.mpi_family = world.family;
    header.local_rank = rank_by_launcher().local_rank;
    header.flags &= ~std::uint32_t{format::world_is_spawned | format::no_world | format::initialized_by_session};
    if (world.is_spawned) header.flags |= format::world_is_spawned;
    if (!world.is_world) header.flags |= format::no_world | format::initialized_by_session;
    if (world.library != header.mpi_library) copy(header.mpi_library, world.library);
    describe_launch(header, world, stat_of(header.pid));
}

void describe_process(Header& header, const World& world) {
    header.pid = static_cast<std::uint32_t>(getpid());
    const ProcessStat self = stat_of(header.pid);
    header.parent_pid = self.parent;
    describe_world(header, world);
    describe_job(header, self);
    describe_node(header);
    describe_command(header);
    describe_start(header, self);
    const ssize_t n = readlink("/proc/self/exe", header.executable, sizeof header.executable - 1);
    if (n < 0) header.executable[0] = 0;
    (void)working_directory(header.directory, sizeof header.directory);
}

}  // namespace mpiprof
