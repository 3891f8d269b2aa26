// Counted rank by rank.
#include "report/analysis/completeness.h"

namespace mpiprof::report {

Completeness completeness_of(const Job& job) {
    Completeness result{.missing = job.missing(),
                        .profiles = job.profiles(),
                        .expected = job.expected(),
                        .problems = job.problems.size()};
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.state == State::finalized) continue;
        const bool is_running = rank.state == State::running && rank.life == Life::running;
        ++(is_running ? result.running : result.unfinished);
    }
    result.is_complete = !job.lacks_ranks() && result.running == 0 && result.unfinished == 0 && result.problems == 0;
    return result;
}

}  // namespace mpiprof::report
