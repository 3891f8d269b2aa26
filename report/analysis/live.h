// A running job as it is at this moment, compared with how it was a moment ago. For `watch`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct LiveTotals {
    std::uint64_t wall_ns = 0;  // of all ranks, without pauses
    std::uint64_t inside_ns = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t elapsed_ns = 0;  // of the rank that runs longest
};
LiveTotals live_totals(const Job& job);

// Since a moment ago; `before` may be null, then only the first is known.
struct LiveRates {
    double share_inside = 0;  // of all the time until now
    std::optional<double> share_inside_now;
    std::optional<double> calls_per_s, bytes_per_s;
};
LiveRates live_rates(const Job& now, const Job* before);

// How many ranks are in which state.
struct LiveStates {
    std::uint32_t running = 0, out_of_sight = 0, finalized = 0, ended = 0, without_profile = 0;
};
LiveStates live_states(const Job& job);

// The call that some rank has been inside for longest, if that is worth a word.
struct LongestWait {
    std::uint16_t call = 0;  // index into Job::calls
    std::uint64_t for_ns = 0;
    std::vector<std::uint32_t> ranks;    // that are inside it
    std::vector<std::uint32_t> missing;  // that have not entered it
};
std::optional<LongestWait> longest_wait(const Job& job);

// The rows of timed calls, those with most time first.
struct LiveCall {
    std::string call;
    const Row* row = nullptr;
    std::uint64_t time_ns = 0;  // of the row, and of calls that have not returned
    std::uint32_t ranks = 0;
    std::uint64_t wall_ns = 0;
    std::optional<double> per_second;
    std::optional<double> share_now;
};
std::vector<LiveCall> live_calls(const Job& now, const Job* before);

}  // namespace mpiprof::report
