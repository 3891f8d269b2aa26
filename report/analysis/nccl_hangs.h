// What is known of NCCL's collectives in a job that stands still. Its calls return before anything has happened, so no
// rank is seen inside one: what its members have enqueued is compared, and since when they enqueue nothing more.
#pragma once

#include <optional>
#include <vector>

#include "report/analysis/arrivals.h"
#include "report/analysis/hang.h"

namespace mpiprof::report {

// Members that have enqueued other collectives, or with other arguments; or a collective that members who will do
// nothing any more have not enqueued.
std::optional<Hang> nccl_hang(const Job& job);

// Two ranks that have enqueued on two communicators in opposite orders, and stand still. It is no proof that they hang:
// it goes well as long as a GPU has room for both. of_second.word is 0 where that rank has not come to it.
struct Crossing {
    std::uint32_t first = 0, second = 0;  // index into Job::groups
    OppositeOrder::Side one{}, other{};
    std::uint64_t for_ns = 0;
};
std::optional<Crossing> crossing_of(const Job& job);

// Two members of a communicator of NCCL's that have enqueued as many collectives and not the same ones, where nothing
// is kept of what they were.
struct Unlike {
    std::uint32_t group = 0;  // index into Job::groups
    std::uint32_t one = 0, other = 0;
    std::uint64_t collectives = 0;
    std::uint64_t for_ns = 0;
};
std::optional<Unlike> unlike_of(const Job& job);

// A rank that waits inside a call of MPI's for another one, whose GPU waits for it: the other one has enqueued a
// collective of NCCL's that this rank has not. It hangs if the other one's host waits for its GPU, which nobody sees.
struct MixedWait {
    const Standing* in_mpi = nullptr;  // of the job
    std::uint32_t other = 0;           // rank
    std::uint32_t group = 0;           // index into Job::groups: NCCL's communicator
    OrderedStep not_enqueued{};        // by the rank in MPI
    std::uint64_t for_ns = 0;
};
// `lags`: of not_enqueued_by_all().
std::optional<MixedWait> mixed_wait_of(const Job& job, const std::vector<Arrival>& arrivals,
                                       const std::vector<Arrival>& lags);

// The first collective of a communicator of NCCL's that some members have enqueued and others have not, as one that
// has it keeps it.
std::optional<OrderedStep> first_not_enqueued(const Job& job, std::uint32_t group);

}  // namespace mpiprof::report
