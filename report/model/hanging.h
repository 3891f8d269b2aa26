// What the members of communicators and the messages of hung ranks are, beside where each rank stands (Job::standings):
// who has made how many collectives and which, who has sent from where, what a Wait waits for. merge/standings and
// merge/orders make it; analysis asks. No sentence.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpiprof::report {

// Ranks as a call was given them, but for these.
inline constexpr std::int32_t any_rank = -1;
inline constexpr std::int32_t no_rank = -2;  // MPI_PROC_NULL
inline constexpr std::int32_t any_tag = -1;

// Membership::order after a call: what it was before, times this, and the call's Call::order_word and root.
inline constexpr std::uint64_t order_factor = 0x5bd1e995;

// A message that a call waits for, or that a request stands for; of a collective only its communicator.
struct Message {
    std::optional<std::uint16_t> call;  // index into Job::calls: the call itself, or the one that posted the request
    std::uint32_t place = 0;            // index into Job::places: where that was called
    std::uint32_t group = 0;            // index into Job::groups
    std::int32_t peer = any_rank;       // rank in that communicator
    std::int32_t tag = any_tag;
    bool is_sent = false;  // else it is received
    bool is_collective = false;
    bool operator==(const Message&) const = default;
};

// A rank that is not finalized, or has used NCCL, as a member of a communicator.
struct Membership {
    std::uint32_t group = 0;  // index into Job::groups
    std::uint32_t rank = 0;
    std::uint32_t rank_in_group = 0;
    std::uint64_t collectives = 0;  // that all members make in one order and that have returned
    std::uint64_t order = 0;        // what tells whether these were the same ones
};

// Calls that a rank which is not finalized has made at one place: collectives of a communicator, messages that it sent,
// and persistent requests that it has set up and not started.
struct Made {
    std::uint32_t rank = 0;
    std::uint32_t group = 0;
    std::uint16_t call = 0;
    std::uint32_t place = 0;
    std::uint64_t calls = 0;  // 0: set up and not started
    std::int32_t peer = any_rank, tag = any_tag;
};

// Messages that such a rank has enqueued on a communicator of NCCL's, to and from one of its ranks.
struct EnqueuedWith {
    std::uint32_t group = 0;
    std::uint32_t rank = 0;
    std::uint32_t peer = 0;  // rank in that communicator
    struct Flow {
        std::uint64_t messages = 0;
        std::uint64_t after = 0;  // so many collectives of the communicator came before the last of them,
        std::uint32_t place = 0;  // which was enqueued here
    } sent{}, received{};
};

// What all members have to give a collective of NCCL's alike, beside its root; with NCCL's numbers for types. Of a call
// of which each member has a block, `count` is that of all blocks.
struct Given {
    std::uint64_t count = 0;
    std::uint8_t type = 0;
    std::uint8_t reduction = 0;  // NCCL's number and 1; 0: it does not reduce
    bool operator==(const Given&) const = default;
};
// A collective that a member has made and kept (format/arrivals.h), or one of the newest that it enqueued.
struct OrderedStep {
    std::uint64_t number = 0;  // so many of the communicator's came before it
    std::int32_t root = any_rank;
    std::uint16_t call = 0;   // index into Job::calls
    std::uint32_t place = 0;  // index into Job::places
    std::uint64_t word = 0;   // Call::order_word: the same of two names of one collective
    Given given{};            // of NCCL's
};
// Members of one communicator that have made the same collectives.
struct OrderOfMembers {
    std::uint64_t collectives = 0;
    std::uint64_t order = 0;
    std::uint32_t first_rank = 0;
    std::vector<OrderedStep> steps{};  // by number; of the first rank
};
// A communicator whose members have not all made the same: some have made fewer up to now, or others.
struct Orders {
    std::uint64_t id = 0;
    std::string name;
    std::uint32_t size = 0;
    bool is_world = false;
    bool is_enqueued = false;               // NCCL's: its steps are the newest
    bool is_broken = false;                 // all members are known and ended as they should: it is wrong
    std::vector<OrderOfMembers> members{};  // by their first ranks; two or more
};

// Two ranks that are members of two communicators of NCCL's and have enqueued on them in opposite orders: `one` a
// collective of the first before one of the second, `other` the same two the other way round.
struct OppositeOrder {
    std::uint64_t first_id = 0, second_id = 0;  // Group::id
    struct Side {
        std::uint32_t rank = 0;
        OrderedStep of_first{}, of_second{};
    } one{}, other{};
};

}  // namespace mpiprof::report
