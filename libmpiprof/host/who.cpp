// The node and the process; what launcher and scheduler say is in launch.cpp and job.cpp.
#include "libmpiprof/host/who.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/host/environment.h"
#include "libmpiprof/host/job.h"
#include "libmpiprof/host/launch.h"

namespace mpiprof {

using format::Header;

namespace {

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
void describe_command(Header& header, bool with_arguments) {
    char line[2048];
    const std::size_t length = own_command_line(line, sizeof line);
    bool hide_next = false;
    for (const char* a = line; a < line + length; a += strlen(a) + 1) {
        if (a != line && !with_arguments) return append(header.command, " ...");
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

// By the kernel's own clocks, as the anchors are.
void describe_start(Header& header, const ProcessStat& self) {
    const std::uint64_t age = own_age_ns(self), now = kernel_nanoseconds(CLOCK_REALTIME);
    if (age != 0 && age < now) header.process_start_ns = now - age;
}

}  // namespace

void kernels_name(char* text, std::size_t size) {
    snprintf(text, size, "%u %llu", own_pid_namespace(), own_stat().start);
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
    describe_launch(header, world, own_stat());
}

void describe_process(Header& header, const World& world, const char* job, bool says_how) {
    header.pid = static_cast<std::uint32_t>(getpid());
    const ProcessStat self = own_stat();
    header.parent_pid = self.parent;
    describe_world(header, world);
    describe_job(header, job, self);
    describe_job_ids(header);
    describe_node(header);
    describe_command(header, says_how);
    describe_start(header, self);
    const ssize_t n = readlink("/proc/self/exe", header.executable, sizeof header.executable - 1);
    if (n < 0) header.executable[0] = 0;
    if (says_how) (void)working_directory(header.directory, sizeof header.directory);
}

}  // namespace mpiprof
