// A named part of the program, or the marks of its iterations, over all ranks of a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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
    std::optional<double> p50_ns, p75_ns, p90_ns, p95_ns;  // of the duration of one time
};

}  // namespace mpiprof::report
