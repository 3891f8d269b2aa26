// One sentence for each kind of note.
#include "report/model/job_note.h"

#include <fmt/format.h>

#include "report/model/units.h"

namespace mpiprof::report {
namespace {

std::string moves_unseen(const JobNote& note) {
    return fmt::format(
        "{} is loaded or used on {}: traffic of its kernels between GPUs is not recorded, so shares of communication "
        "are lower bounds",
        note.name, plural(note.number, "rank", "ranks"));
}
std::string nccl_fetched(const JobNote& note) {
    return fmt::format(
        "on {} the program fetched NCCL's functions by dlsym (as JAX, TensorFlow and CuPy do): these calls have only "
        "what NCCL itself reports (2.23 and later), without host time, or nothing; preload libmpiprof-dlsym.so beside "
        "libmpiprof.so",
        plural(note.number, "rank", "ranks"));
}

std::string merged_while_running(const JobNote& note) {
    return fmt::format("{} {} running when the profiles were merged, at {}: this report is a snapshot of that time",
                       plural(note.number, "rank", "ranks"), note.number == 1 ? "was" : "were",
                       human_moment(note.ns_since_1970));
}

}  // namespace

std::string text_of(const JobNote& note) {
    using Kind = JobNote::Kind;
    const auto differs = [&](const char* what) {
        return fmt::format("{} differs: rank {} has {}", what, note.number, note.name.empty() ? "none" : note.name);
    };
    switch (note.kind) {
        case Kind::another_program:
            return differs("the program");
        case Kind::another_mpi_library:
            return differs("the MPI library");
        case Kind::several_mpi_libraries:
            return "a second MPI library was loaded in some process; its calls are not recorded";
        case Kind::tool_in_front:
            return "another PMPI tool precedes mpiprof: calls that it forwards by their PMPI_ names are missing here; "
                   "name libmpiprof.so first in LD_PRELOAD";
        case Kind::library_not_profiled:
            return fmt::format(
                "{} is loaded on {} and not profiled: what the program does with it, other than through MPI or NCCL, is "
                "not recorded",
                note.name, plural(note.number, "rank", "ranks"));
        case Kind::moves_unseen:
            return moves_unseen(note);
        case Kind::nccl_fetched:
            return nccl_fetched(note);
        case Kind::barrier_setting:
            return fmt::format(
                "MPIPROF_COLLECTIVE_BARRIER={}: a barrier came before these collectives; [barrier] is "
                "the time in it, waiting for the last rank",
                note.name);
        case Kind::ranks_setting:
            return fmt::format("MPIPROF_RANKS={}: only these ranks were profiled", note.name);
        case Kind::bounded_ranks:
            return note.name + ": not every rank was profiled";
        case Kind::functions_setting:
            return fmt::format("MPIPROF_FUNCTIONS={}: only these functions were recorded", note.name);
        case Kind::spawned:
            return "these ranks are a world of their own: MPI_Comm_spawn started them";
        case Kind::sessions_only:
            return "MPI was used in sessions, without MPI_Init: ranks are numbered as the launcher did";
        case Kind::unknown_mpi_family:
            return "this MPI library is not recognised: calls and times are recorded, sizes are not";
        case Kind::merged_while_running:
            return merged_while_running(note);
        case Kind::no_helper_thread:
            return fmt::format(
                "{} may become another user (root's rights, or a capability) and had no threads: mpiprof made none "
                "there, and what a kill would have left is what was written before",
                plural(note.number, "rank", "ranks"));
        case Kind::late_writes:
            return fmt::format(
                "the job ended a moment ago; if this is a network file system, the last writes of {} of {} ranks may "
                "not be visible here yet: --wait 60 waits for them",
                note.number, note.of);
        case Kind::from_the_reader:
            break;
    }
    return note.name;
}

}  // namespace mpiprof::report
