// What follows from the times of one program at several sizes: speedup, efficiency, what a further unit gains and
// costs. Numbers of a user or of Runs in, values out; scaling_tables puts them into words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/compare/run.h"

namespace mpiprof::report {

// One measurement.
struct Sample {
    double n = 1;  // ranks, nodes or GPUs
    double seconds = 0;
    std::optional<double> resources{};         // that are charged, weighted; empty: N of them
    std::optional<double> items_per_second{};  // of all ranks
    std::string label{};                       // whose run it is
};

struct ScalingPoint {
    double n = 1;
    double seconds = 0;  // the median of its repeats
    std::size_t repeats = 1;
    double least = 0, most = 0;  // of the repeats
    double speedup = 1;          // weak: scaled, how much more work is done in the same time
    double efficiency = 1;
    double relative_su = 1;              // weak: for the same work
    std::optional<double> gain{};        // of each unit since the point before, in units of the smallest
    std::optional<double> karp_flatt{};  // the serial share that would explain the speedup; never of weak scaling
    std::optional<double> items_per_second{};
};

struct Scaling {
    std::string name;                  // of the series; may be empty
    std::vector<ScalingPoint> points;  // by n, ascending
    bool is_weak = false;
    double worth = 0.25;
    // Index of the last point that is worth it: since the one before that is, its units gain `worth` each on the whole.
    // So one dip stops nobody, and what only makes up for a dip is no gain. The first is worth it by definition.
    std::size_t last_worth = 0;
    std::size_t worth_before = 0;  // the one before it

    // The repeats lie so far apart that another point might be the last.
    bool is_close() const;
    // More was measured than is worth asking for.
    bool has_plateau() const { return last_worth + 1 < points.size(); }
    const ScalingPoint& smallest() const { return points.front(); }
};

// The speedup is to the median time of the smallest N. Of an N0 other than 1, the smallest counts as if it had scaled
// perfectly: a unit gains 1 if it adds as much as each of those N0. Karp and Flatt's metric (Communications of the ACM
// 33, 1990): e = (1/s - 1/p) / (1 - 1/p) with p = N / N0. The gain of a unit: (s - s_before) / (p - p_before).
Scaling scaling_of(std::string name, const std::vector<Sample>& samples, bool is_weak, double worth);

// A run of a series, where it is known as more than a time.
struct SizedRun {
    double n = 1;
    Run run;
};

struct ScalingSeries {
    Scaling scaling;
    int decimals = 0;  // of its times in s
    std::vector<SizedRun> runs;
};

}  // namespace mpiprof::report
