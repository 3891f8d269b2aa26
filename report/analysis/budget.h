// The time budget of a rank: from the start of its process to the end of MPI_Finalize, in parts that add up to all of
// it. For the section `budget`, and for the comparisons of several jobs. It knows what a profile says; what of it is an
// estimate stands with each part.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "report/model/job.h"

namespace mpiprof::report {

// In the order in which screens name them. Inside MPI or NCCL the time is that of the main thread, or of the one that
// acts for it (beside.h).
enum class Part : std::uint8_t {
    before_init,  // process started, MPI_Init not called
    init,
    profiler,           // this library's own: set-up, end and, by what it measured, between calls
    computing,          // outside, but for the next two
    blocked,            // outside, and neither running nor waiting for a processor; by stretches of the run
    processor,          // outside, ready to run and without a processor; by the kernel's account
    waiting,            // for other ranks: an upper bound (merge/waits)
    moving,             // data; the rest of the calls of which it is known how long they waited: a lower bound
    waiting_or_moving,  // in calls that communicate, where it is not known
    file,               // MPI-IO
    other,              // in all other calls
    unreturned,         // in a call that has not returned
    paused,             // recording was off
    finalize,
};
inline constexpr std::size_t part_count = static_cast<std::size_t>(Part::finalize) + 1;

constexpr std::array<Part, part_count> all_parts() {
    std::array<Part, part_count> parts{};
    for (std::size_t i = 0; i < part_count; ++i) parts[i] = static_cast<Part>(i);
    return parts;
}

class Budget {
  public:
    // Nanoseconds; empty: not known, and then it is in another part.
    std::optional<double>& operator[](Part part) { return ns_[static_cast<std::size_t>(part)]; }
    const std::optional<double>& operator[](Part part) const { return ns_[static_cast<std::size_t>(part)]; }
    double of(Part part) const { return (*this)[part].value_or(0); }
    double total() const;
    // From the end of MPI_Init to MPI_Finalize, without pauses: what shares are of.
    double run() const;
    double profiler_in_run() const { return of(Part::profiler) - set_up_ns; }
    bool has(Part part) const { return of(part) > 0; }

    double set_up_ns = 0;  // of Part::profiler: within MPI_Init

  private:
    std::array<std::optional<double>, part_count> ns_;
};

// Of one rank that has a profile of its own.
//
// Of the time for which the main thread waited for a processor, what fell outside MPI is a part of its own
// (processors.h); what fell inside stays there, since who waits for another rank needs no processor.
Budget budget_of(const Rank& rank);

// The mean of the ranks of a job that have a profile. A part that some of them do not know is 0 there.
Budget mean_budget(const Job& job);

}  // namespace mpiprof::report
