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

// What moving so many bytes in so many messages takes at most, on a slow network: what calls take above that is
// waiting, however long the fastest of them took.
constexpr double slowest_message_ns = 100'000;
constexpr double slowest_moving_ns(double messages, double bytes) {
    constexpr double bytes_per_ns = 0.1;
    return messages * slowest_message_ns + bytes / bytes_per_ns;
}
// The same between ranks of one node, whose memory is faster than any network.
constexpr double slowest_copying_ns(double messages, double bytes) {
    constexpr double bytes_per_ns = 1;
    return messages * slowest_message_ns + bytes / bytes_per_ns;
}

}  // namespace mpiprof::report
