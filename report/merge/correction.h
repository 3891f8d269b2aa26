// What was seen of some calls' waiting, beside what Floors estimates of them: the one takes the place of the other in
// whatever these calls are added up in. Made by ArrivalsPart.
#pragma once

#include <algorithm>
#include <cstdint>

#include "report/merge/floors.h"

namespace mpiprof::report {

struct Correction {
    std::uint16_t call = 0;  // of the registry
    Floors::Waiting estimated;
    std::uint64_t waiting_ns = 0;
    std::uint64_t time_ns = 0;  // of all these calls

    Correction& operator+=(const Correction& more) {
        call = more.call;
        estimated.judged_ns += more.estimated.judged_ns;
        estimated.waiting_ns += more.estimated.waiting_ns;
        waiting_ns += more.waiting_ns;
        time_ns += more.time_ns;
        return *this;
    }
    // To a row, rank or site that has the estimate.
    template <class Judged>
    void apply(Judged& judged) const {
        judged.judged_ns += time_ns - std::min(estimated.judged_ns, time_ns);
        judged.waiting_ns -= std::min(estimated.waiting_ns, judged.waiting_ns);
        judged.waiting_ns += waiting_ns;
        judged.compared_ns += time_ns;
    }
};

}  // namespace mpiprof::report
