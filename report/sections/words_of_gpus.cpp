// What the GPUs did beside NCCL.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;

namespace {
std::string says(const evidence::NcclExposed& e, const Spoken&) {
    return fmt::format("{} of NCCL's GPU time is exposed (not overlapped with other kernels): {} of the GPU busy time.",
                       human_share(e.nccl_share), human_share(e.kernels_share));
}

}  // namespace

const RuleWords rule_words::nccl_exposed{
    .means = "Exposed communication: NCCL kernels run while no other kernel does.",
    .evidence = "CUPTI's kernel times: the part of NCCL's that no other kernel overlaps.",
    .check = "mpiprof-report nccl.",
    .says = of<evidence::NcclExposed, says>,
};

namespace {
std::string says(const evidence::GpuIdle& e, const Spoken& s) {
    const std::string most =
        e.gpus == 1 ? std::string()
                    : fmt::format(" (most on rank {}: {})", s.finding.ranks.front(), human_share(e.largest_share));
    return fmt::format(
        "{} idle for {} of the time recorded by CUPTI{}. Host time in NCCL and MPI operations ({} of the run, "
        "set-up apart) does not explain it: check the data loader and host-device synchronisation. Details: mpiprof-report nccl.",
        e.gpus == 1 ? "The GPU is" : "GPUs are", human_share(e.idle_share), most, human_share(e.host_share));
}

}  // namespace

const RuleWords rule_words::gpu_idle{
    .means = "GPUs are idle much of the time, and NCCL and MPI do not explain it.",
    .evidence =
        "CUPTI's times of all kernels, from the first to the last one recorded: at least 20 % of it without any, "
        "while the hosts spend less than half as much of the run in NCCL and MPI operations. Copies do not count as "
        "kernels. Only the time that CUPTI records is known: with MPIPROF_CUPTI=sample a few seconds.",
    .check =
        "mpiprof-report nccl (GPU UTILISATION). Usual reasons: the data loader or the file system, "
        "synchronisation with the host, many short kernels. A timeline of a few steps (Nsight Systems, PyTorch "
        "profiler) shows which.",
    .says = of<evidence::GpuIdle, says>,
};

namespace {
std::string says(const evidence::GraphReplays& e, const Spoken&) {
    const std::string missing = fmt::format("on {}, replays of CUDA graphs with NCCL operations are not seen",
                                            plural(e.ranks_missing, "rank", "ranks"));
    if (e.replayed <= 0)
        return "NCCL did more work than its calls show: " + missing + ". Details: mpiprof-report nccl.";
    return fmt::format(
        "CUDA graphs replayed {} NCCL operations per rank (mean), and {} were called directly: counts, bytes and "
        "times of calls include only the latter.{} Details: mpiprof-report nccl.",
        human_count(e.replayed), human_count(e.called),
        e.ranks_missing == 0 ? "" : " There were more: " + missing + ".");
}

}  // namespace

const RuleWords rule_words::graph_replays{
    .means = "CUDA graph replays repeat NCCL operations without calls.",
    .evidence =
        "Captured operations times the replays of their graphs: at least a tenth of all. Also replays that cannot be "
        "counted: through the driver API, with a static CUDA runtime, or of graphs captured while recording was "
        "paused.",
    .check = "mpiprof-report nccl counts them per communicator; with MPIPROF_CUPTI=sample they also have GPU times.",
    .says = of<evidence::GraphReplays, says>,
};

}  // namespace mpiprof::report
