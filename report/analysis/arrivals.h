// Who waits for whom: of each collective call that some rank is inside, which members have entered it and which have
// not. For the sections that look at hung jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct Arrival {
    std::optional<std::uint16_t> call;   // index into Job::calls; none: MPI_Finalize, which no profile names
    std::uint32_t group = 0;             // index into Job::groups
    std::uint64_t entered = 0;           // it is the so manieth time
    std::uint64_t for_ns = 0;            // the rank that is there longest has waited so long
    std::vector<std::uint32_t> inside;   // ranks that have entered it so often and are in it
    std::vector<std::uint32_t> missing;  // members that have not
    std::uint64_t least_entered = 0;     // by one of them: so many times
    std::uint32_t passed = 0;            // members that have been inside and are out again, or one further
};

std::string name_of(const Arrival& arrival, const Job& job);

// Those where members are missing come first; of these and of the others, those that most ranks wait in.
std::vector<Arrival> arrivals_of(const Job& job);

// The same of NCCL's collectives, which are only enqueued by their calls: those that some members have not enqueued yet
// as often as others, whose GPUs wait for it. `inside`: the members that have. `for_ns`: since these did anything.
std::vector<Arrival> not_enqueued_by_all(const Job& job);

// For how long a rank has made no call, in ns; 0: not known.
std::uint64_t quiet_for(const Job& job, std::uint32_t rank);

// How often a rank has entered a call on a communicator.
std::uint64_t entered_by(const Job& job, std::uint32_t group, std::uint16_t call, std::uint32_t rank);

}  // namespace mpiprof::report
