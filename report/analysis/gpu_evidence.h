// What the rules of GPUs and of NCCL rest on, as evidence.h says.
#pragma once

#include <cstdint>

#include "report/analysis/figure.h"

namespace mpiprof::report::evidence {

struct NcclWaiting {
    double collectives_share = 0;  // of their time on the GPU
    double run_share = 0;
    double last_share = 0;  // of the waiting: for the rank that came last most often, Finding::ranks
    std::uint64_t last = 0, compared = 0;

    FigureList figures() const {
        return {{"collectives_share", collectives_share},
                {"run_share", run_share},
                {"last_share", last_share},
                {"times_last", last},
                {"compared", compared}};
    }
};
struct NcclExposed {
    double nccl_share = 0;
    double kernels_share = 0;

    FigureList figures() const { return {{"nccl_share", nccl_share}, {"kernels_share", kernels_share}}; }
};
// What CUDA graphs repeated without a call.
struct GraphReplays {
    double replayed = 0, called = 0;  // operations of NCCL, of the mean rank
    std::uint32_t ranks_missing = 0;  // whose replays are not all counted

    FigureList figures() const {
        return {{"replayed", replayed}, {"called", called}, {"ranks_missing", ranks_missing}};
    }
};
struct GpuIdle {
    double idle_share = 0, largest_share = 0;  // of the time that was recorded; Finding::ranks: whose is the largest
    std::uint32_t gpus = 0;
    double host_share = 0;  // of the run: hosts inside operations of MPI and NCCL

    FigureList figures() const {
        return {
            {"idle_share", idle_share}, {"largest_share", largest_share}, {"gpus", gpus}, {"host_share", host_share}};
    }
};

}  // namespace mpiprof::report::evidence
