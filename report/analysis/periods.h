// When ranks were inside MPI and outside: a run cut into periods of equal length, added up over ranks on one axis of
// time. The section `time` shows it, verdicts find in it since when a rank is slow. It asks the Job alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

// What one rank, or several, did in one period.
struct Period {
    double time_ns = 0;
    double bytes = 0;
    double lived_ns = 0;  // of ranks, between their MPI_Init and their end
    double off_ns = 0;    // of that, recording was off

    double recorded_ns() const { return std::max(lived_ns - off_ns, 0.0); }
    double share() const { return recorded_ns() > 0 ? time_ns / recorded_ns() : 0; }
    // Of what was hardly seen nothing is said.
    bool is_recorded() const { return off_ns == 0 || recorded_ns() >= 0.1 * lived_ns; }
};
using Periods = std::vector<Period>;

// From the first MPI_Init to the last end.
struct Axis {
    std::uint64_t begin_ns = ~std::uint64_t{0};
    std::uint64_t end_ns = 0;

    double length() const { return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) : 0; }
};

struct Lane {
    const Rank* rank;
    const Activity* activity;
    const Activity* pauses;
};

// Of the ranks asked for (none named: all) that say when they were inside MPI.
std::vector<Lane> lanes_of(const Job& job, std::span<const std::uint32_t> ranks);
Axis axis_of(const std::vector<Lane>& lanes);
Periods periods_of(const std::vector<Lane>& lanes, const Axis& axis, std::size_t count);

}  // namespace mpiprof::report
