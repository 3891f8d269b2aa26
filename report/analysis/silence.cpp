// All calls of all ranks are added up: who polls, or has threads that are outside MPI at each look, is seen by that.
#include "report/analysis/silence.h"

#include <utility>

namespace mpiprof::report {

void Silence::look(const Job& job, std::uint64_t now_ns) {
    std::vector<std::uint64_t> now{job.ranks.size()};
    std::uint64_t calls = 0;
    for (const Row& row : job.rows) calls += row.sum.calls + row.sum.errors;
    now.push_back(calls);
    for (const Standing& standing : job.standings) {
        now.push_back(standing.rank);
        now.push_back(standing.os_thread);
        now.push_back(standing.is_inside && standing.call ? std::uint64_t{*standing.call} + 1 : 0);
    }
    if (now != seen_) since_ns_ = now_ns;
    seen_ = std::move(now);
    last_ns_ = now_ns;
}

}  // namespace mpiprof::report
