// A named part of the program, or the marks of its iterations, over all ranks of a job.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mpiprof::report {

struct RegionRow {
    std::string path;  // "solve/halo"; empty: outside all regions
    bool is_iteration = false;
    std::uint32_t ranks = 0;         // that entered it
    std::uint64_t entered = 0;       // over all ranks
    std::uint64_t time_ns = 0;       // over all ranks, inner regions included
    std::uint64_t largest_ns = 0;    // of the rank that spent most
    std::uint32_t largest_rank = 0;  // the lowest of them
    std::uint64_t items = 0;
    // What MPI did in it, without inner regions: sums over regions are the totals of the job.
    std::uint64_t calls = 0;
    std::uint64_t mpi_ns = 0;
    std::uint64_t message_bytes = 0;
    // The same with inner regions.
    std::uint64_t inner_mpi_ns = 0;
    // Of marks of iterations: how long each took, ascending, where every rank kept them singly; so the percentiles are
    // exact. Of ranks with many of them each stands for `stride` at most.
    struct Times {
        std::uint32_t us = 0;
        std::uint64_t count = 0;
    };
    std::vector<Times> times;
    std::uint32_t first_number = 0;  // the order in which ranks met the regions: the lowest of their numbers
    std::uint32_t stride = 1;
    bool has_exact_percentiles = false;
    std::vector<std::uint32_t> marked_by;                  // ranks, ascending
    std::optional<double> p50_ns, p75_ns, p90_ns, p95_ns;  // of the duration of one time
};

// The seconds that `share` (0 to 1) of the times do not exceed, between two neighbours on a straight line, as
// numpy.percentile has it to the last bit. Of no times: 0.
double percentile_of(std::span<const RegionRow::Times> times, double share);

}  // namespace mpiprof::report
