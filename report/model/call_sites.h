// Where a job called MPI from, added up over its ranks. merge/sites makes it; sections ask.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "report/model/profile.h"

namespace mpiprof::report {

// Where a call was made: a return address in a module's file.
struct Place {
    std::uint32_t module = 0;  // index into the modules beside it; 0 = not known
    std::uint64_t offset = 0;
    bool operator==(const Place&) const = default;
};

struct CommRef {
    CommKind kind = CommKind::none;
    std::uint64_t id = 0;  // of `known` and `by_members`: Comm::id
    auto operator<=>(const CommRef&) const = default;
};

// One call from one place, told apart by its callers as far as they are the same for all these calls.
struct CallSite {
    std::uint16_t call = 0;     // index into Job::calls
    std::vector<Place> frames;  // innermost first; empty: calls whose places are not told apart
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t errors = 0;
    std::optional<std::uint64_t> min_ns{};  // of one call; empty where not known
    std::uint64_t max_ns = 0;
    std::uint64_t judged_ns = 0;   // of time_ns: where the next is known
    std::uint64_t waiting_ns = 0;  // estimated, see Row
    std::uint64_t compared_ns = 0;
    std::uint32_t ranks = 0;       // that called from here
    std::uint64_t largest_ns = 0;  // of the rank that spent most
    std::uint32_t largest_rank = 0;
    std::vector<CommRef> comms;  // some of its communicators, MPI_COMM_WORLD and large ones first
    bool has_more_comms = false;
};

struct CallSites {
    std::vector<Module> modules{Module{}};  // [0] = not known
    std::vector<CallSite> sites;            // of timed calls, each call in exactly one; by time
};

}  // namespace mpiprof::report
