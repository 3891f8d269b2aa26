// What happened on each communicator of a job, added up over its members. merge/comms makes it; sections ask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/words.h"

namespace mpiprof::report {

// One (call, size bin) on one communicator, over its members, threads, sites and kinds of buffers.
struct CommSum {
    std::uint16_t call = 0;  // index into Job::calls
    std::uint8_t bin = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t errors = 0;
};

// How often its members entered a collective; a member without one counts as 0.
struct CommEntries {
    std::uint16_t call = 0;  // index into Job::calls
    std::uint64_t fewest = 0;
    std::uint64_t most = 0;
    std::optional<std::uint32_t> fewest_rank{};  // the lowest of them; empty: one that never entered it
    std::uint32_t most_rank = 0;
};

struct Comm {
    CommKind kind = CommKind::none;
    std::uint64_t id = 0;
    std::uint64_t parent = 0;  // its id; 0 = none or not known
    std::string name{};
    std::string made_by{};            // name of a call; empty: MPI's own, or not known
    std::uint32_t size = 0;           // of the group that its members talk to; 0 = not known, or several
    std::uint32_t members = 0;        // ranks that have used it, as far as they have profiles
    std::uint32_t seats = 0;          // of its members, these ranks are so many: with NCCL one for each of their GPUs
    std::uint32_t first_rank = 0;     // the lowest of them
    std::uint64_t communicators = 1;  // that are together here; of `none` 0
    bool is_world = false;
    bool is_inter = false;
    std::uint64_t largest_ns = 0;  // time of the member that spent most
    std::uint32_t largest_rank = 0;
    std::vector<CommSum> sums{};         // sorted by call, bin
    std::vector<CommEntries> entries{};  // sorted by call; of `known` only
};

}  // namespace mpiprof::report
