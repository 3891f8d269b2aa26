// The figures of a job that several sections need: where the time went, and how even the ranks are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

// Smallest, median and largest over ranks. `median` is element (n-1)/2 of the ascending order, as mpitrace has it;
// median_ns the mean of the two in the middle where their number is even.
struct Spread {
    struct At {
        std::uint64_t ns = 0;
        std::uint32_t rank = 0;
    };
    At least, median, most;
    double mean_ns = 0, median_ns = 0;
    std::vector<double> by_rank;
};
Spread spread_of(std::span<const Rank> ranks, std::uint64_t (*figure)(const Rank&));

// The efficiencies of the POP project (https://pop-coe.eu/node/69, "POP Standard Metrics for Parallel Performance
// Analysis"), with time outside MPI for "useful computation": load balance = mean / largest of it, communication
// efficiency = largest of it / elapsed, parallel efficiency = their product.
//
// Communication efficiency is serialisation x transfer: on a network that takes no time to move data the run would take
// "ideal", serialisation = largest time outside / ideal, transfer = ideal / elapsed. Ideal is estimated as Cube's
// advisor does from Scalasca's wait states: the longest time of a rank without that in which it moved data.
struct Efficiency {
    double load_balance = 0;
    double communication = 0;
    double parallel = 0;
    std::optional<double> serialisation{}, transfer{};  // empty: waiting and moving are not told apart
};

inline constexpr std::uint64_t small_message = 1024;  // bytes, at most: what is said of small messages

struct Figures {
    std::uint32_t ranks = 0;          // with a profile of their own
    std::uint64_t wall_ns = 0;        // their elapsed times added up, without pauses
    std::uint64_t mpi_ns = 0;         // their times in MPI added up
    std::uint64_t unfinished_ns = 0;  // in calls that have not returned: not in mpi_ns
    std::uint64_t inside_ns() const { return mpi_ns + unfinished_ns; }
    std::uint64_t largest_elapsed_ns = 0;
    std::uint64_t largest_recorded_ns = 0;  // without pauses
    double paused_share = 0;                // of the elapsed times
    bool is_elapsed_estimated = false;      // that rank was killed: it is what is known at least
    std::uint64_t largest_process_ns = 0;
    std::uint64_t waiting_ns = 0;   // of mpi_ns, estimated where it was not compared
    std::uint64_t judged_ns = 0;    // of mpi_ns: where it could be
    std::uint64_t compared_ns = 0;  // of judged_ns
    double background_share = 0;    // of the time in MPI: on other threads than the main thread
    double beside_share = 0;        // of it: the main thread is proven not to have been blocked meanwhile, at least
    double not_known_share = 0;     // of it: on other threads, and whether others were blocked is not known
    double cores_busy = 0;          // CPU time / elapsed, mean over ranks; 0 = not known
    double inside_share = 0;        // of the wall time of all ranks: in MPI
    Spread in_mpi, outside;
    // Absent for one rank, where MPI runs beside the program's own work, and for GPUs alone.
    std::optional<Efficiency> efficiency;

    // Whether what is waiting is known of nearly all of the time that could be judged.
    bool is_waiting_known() const {
        return judged_ns != 0 && static_cast<double>(compared_ns) >= 0.95 * static_cast<double>(judged_ns);
    }
    bool is_mpi_beside() const { return beside_share >= 0.5; }
    // Then time in MPI says nothing about how long the program waited for it.
    bool may_be_beside() const { return beside_share >= 0.1 || not_known_share >= 0.1; }
    bool was_paused() const { return paused_share >= 0.001; }  // for long enough to speak of it
    double share_of_wall(std::uint64_t ns) const {
        return wall_ns ? static_cast<double>(ns) / static_cast<double>(wall_ns) : 0;
    }
};
Figures figures_of(const Job& job);

// Rows over the ranks asked for only (their cells must have been kept); all of them where none are named.
std::vector<Row> rows_of(const Job& job, std::span<const std::uint32_t> ranks);

// The calls that these ranks (none named: all) have not returned from, one row for each function: their time is in MPI
// as that of all others, and tables that leave it out contradict the rest of their screen.
std::vector<Row> unfinished_rows(const Job& job, std::span<const std::uint32_t> ranks);

}  // namespace mpiprof::report
