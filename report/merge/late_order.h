// In which order ranks come last to the collectives of a communicator, call after call: by chance, each for several
// calls in a row, or again after a fixed number of calls; and whether it was the only one that had something to do. For
// the part `arrivals`, which compares the calls.
#pragma once

#include <cstdint>
#include <span>

#include "report/model/comparison.h"

namespace mpiprof::report {

// One call that all members have kept.
struct LateCall {
    std::uint64_t number;     // among the collectives of the communicator
    std::uint32_t rank;       // that entered it last,
    bool is_decided;          // if the clocks tell
    double waited_ns;         // by all members together, for that one
    std::int64_t entered_ns;  // when it did
};

// `calls` by number.
LateOrder late_order_of(std::span<const LateCall> calls, std::uint32_t members);

}  // namespace mpiprof::report
