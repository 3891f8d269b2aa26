// Which calls may take long because another rank is late. For merge, which estimates by how much, and for the findings
// that name who was late; one answer for both.
#pragma once

#include "report/model/words.h"

namespace mpiprof::report {

constexpr bool may_wait_for_others(Traffic traffic) {
    switch (traffic) {
        case Traffic::send:
        case Traffic::receive:
        case Traffic::exchange:
        case Traffic::collective:
        case Traffic::completion:
        case Traffic::probe:
        case Traffic::sync:
            return true;
        default:
            return false;
    }
}

// What moving so many bytes in so many messages takes at most, on a slow network or between ranks of one node: what
// calls take above that is waiting, however long the fastest of them took.
constexpr double slowest_moving_ns(double messages, double bytes, bool is_of_one_node) {
    const double message_ns = is_of_one_node ? 20'000 : 100'000, bytes_per_ns = is_of_one_node ? 1 : 0.1;
    return messages * message_ns + bytes / bytes_per_ns;
}

}  // namespace mpiprof::report
