// MPI on other threads than the main one: whether it costs time. It does where the threads that compute are blocked
// meanwhile, and not where they run on. Profiles have how long the main thread ran and waited for a processor, and the
// CPU time of the whole process, so that often one of the two is proven. For figures, the budget and the rule
// `overlap`. Knows what a profile says, no sentence.
#pragma once

#include <cstdint>

#include "report/model/job.h"

namespace mpiprof::report {

enum class WhoseMpi : std::uint8_t {
    main_threads,  // nearly all of it
    acting,        // one other thread makes the calls, and stands for the program: the main thread is mostly blocked
    beside,        // the main thread is proven not to be blocked during a good part of it
    any,           // several threads make calls, others run as well, or the kernel keeps no account
};
WhoseMpi whose_mpi(const Rank& rank);

// For so long at least the main thread ran or wanted to, outside MPI, while others were inside: it does not fit into
// the rest of the run. That it did more than to spin is not said.
double unblocked_beside_ns(const Rank& rank);

// The part of the rank's time in MPI that takes the time of the thread whose budget is the rank's: the one that acts
// for it, or the main thread. Others inside MPI take nothing from it.
double own_share(const Rank& rank);

}  // namespace mpiprof::report
