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

}  // namespace mpiprof::report
