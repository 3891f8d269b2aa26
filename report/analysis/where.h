// Where in the source it happens, what a finding is about: the line that has most of it. For sections that put a
// finding into words.
#pragma once

#include <cstdint>
#include <vector>

#include "report/analysis/finding.h"
#include "report/model/job.h"

namespace mpiprof::report {

struct WhereLine {
    std::uint16_t call = 0;          // index into Job::calls
    const Module* module = nullptr;  // of the job's
    std::uint64_t offset = 0;        // in it
    double share = 0;                // of the time in the call, or of what ranks waited in all
};
struct Where {
    bool is_of_waiting = false;      // of that: an estimate
    std::vector<WhereLine> lines{};  // one line of the source may be several, each inlined elsewhere
};
inline constexpr double a_good_part = 0.25;  // of it: worth being named

// No lines: the rule speaks of no calls, or nothing is known.
Where where_of(const Finding& finding, const Job& job);

}  // namespace mpiprof::report
