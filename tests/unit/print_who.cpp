// Prints what a process finds out about itself: who_test.cpp starts it with the environments of launchers and
// schedulers. MPI's answer is taken from WORLD_RANK and WORLD_SIZE. Control characters are printed as they are, values
// end with NUL.
#include <stdio.h>
#include <stdlib.h>

#include "libmpiprof/host/launch.h"
#include "libmpiprof/host/who.h"
#include "libmpiprof/process/settings.h"

int main() {
    const auto number = [](const char* name, unsigned fallback) {
        const char* text = getenv(name);
        return text ? static_cast<unsigned>(atoi(text)) : fallback;
    };
    static mpiprof::format::Header header;
    const mpiprof::World world{
        number("WORLD_RANK", 0), number("WORLD_SIZE", 4), true, false, 0, mpiprof::format::MpiFamily::open_mpi,
        "Some MPI 1.0"};
    mpiprof::describe_process(header, world, mpiprof::value_of(mpiprof::Setting::job), true);
    const mpiprof::LaunchRank rank = mpiprof::rank_by_launcher();
    printf("launch=%s%c", header.launch, 0);
    printf("launcher=%s%c", header.launcher, 0);
    printf("job=%s%c", header.job, 0);
    printf("job_ids=%s%c", header.job_ids, 0);
    printf("host=%s%c", header.host, 0);
    printf("node=%s%c", header.node, 0);
    printf("command=%s%c", header.command, 0);
    printf("executable=%s%c", header.executable, 0);
    printf("directory=%s%c", header.directory, 0);
    printf("parent=%llu%c", static_cast<unsigned long long>(header.parent_pid), 0);
    printf("process_start_ns=%llu%c", static_cast<unsigned long long>(header.process_start_ns), 0);
    printf("launch_rank=%s %u %u %d%c", rank.known ? "known" : "unknown", rank.rank, rank.size,
           static_cast<int>(rank.local_rank), 0);
    const mpiprof::World without_mpi = mpiprof::world_without_mpi(2, 4, "NCCL");
    printf("nccl_world=%u %u%c", without_mpi.rank, without_mpi.size, 0);
}
