// What is proven of a hang: calls that can never match, and waiting for somebody who will never come. What is not
// proven is in arrivals.h. For the section `hang`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

// Ranks that are inside one call.
struct Party {
    std::vector<std::uint32_t> ranks;
    std::uint16_t call = 0;   // index into Job::calls
    std::uint32_t place = 0;  // index into Job::places
    std::uint64_t for_ns = 0;
};

struct Hang {
    enum class Kind : std::uint8_t {
        different_collectives,  // parties: what members of `group` are in, most ranks first
        member_is_gone,         // parties: who waits in a collective of `group`; `gone`: who will never enter it
        nobody_is_left,         // parties: who waits for messages; `gone`: all others
    };
    Kind kind{};
    std::uint32_t group = 0;  // index into Job::groups
    std::vector<Party> parties;
    std::vector<std::uint32_t> gone;
    std::uint64_t for_ns = 0;
};

// Of a running job, and of one that was ended while it hung.
std::optional<Hang> hang_of(const Job& job);

// Since when no call has ended, or, with ranks outside, none has begun; nothing where some rank says nothing.
struct Quiet {
    std::uint64_t for_ns = 0;
    bool are_all_inside = false;
};
std::optional<Quiet> quiet_of(const Job& job);

}  // namespace mpiprof::report
