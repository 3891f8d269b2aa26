// Where in a rank's run it waited for a processor: outside MPI, where that is lost time, or inside, where a rank that
// waits for others needs none. For the budget and for the rule about crowds. Knows what a profile says, no sentence.
#pragma once

#include <optional>

#include "report/model/job.h"

namespace mpiprof::report {

// The kernel's slices last longer; who yields has the processor back sooner.
inline constexpr double shortest_slice_ns = 500'000;

struct ProcessorWait {
    double outside_ns = 0;
    double blocked_ns = 0;     // outside MPI, and neither ran nor waited: for files, in sleep, for a GPU
    bool is_measured = false;  // by stretches of the run taken by chance; else divided by what is possible
};

// Of the thread that began MPI; empty where the kernel keeps no account, or where this is not the thread whose budget
// is the rank's.
//
// The whole is the kernel's. It is divided as the rank waited in the stretches of the run at whose ends the account was
// read: the share of each kind (outside, inside) times the time of that kind. Where these saw less than two
// milliseconds of waiting, it is spread over all of the run; and a rank that waits for less than half a millisecond at
// a time yields inside MPI, so that outside is only what does not fit into its calls. Never more than the time outside,
// and never less than what does not fit inside. It was blocked outside MPI for what remains of these stretches, but
// for no longer than it neither ran nor waited in the whole run, and for as long at least as that exceeds MPI.
std::optional<ProcessorWait> processor_wait(const Rank& rank);

}  // namespace mpiprof::report
