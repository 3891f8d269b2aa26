// What is proven of a hang: calls that can never match, and waiting for somebody who will never come. What is not
// proven is in arrivals.h. For the section `hang`; the proofs are in hangs.cpp and deadlocks.cpp.
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
    // Where they are what makes the difference:
    std::optional<std::uint32_t> group;  // index into Job::groups
    std::int32_t root = any_rank;
    std::vector<Message> messages;  // that they wait for
    bool has_passed = false;        // they have made this call where the others are in theirs, and went on
};

struct Hang {
    enum class Kind : std::uint8_t {
        different_collectives,  // parties: what members of `group` are in, most ranks first
        member_is_gone,         // parties: who waits in a collective of `group`; `gone`: who will never enter it
        nobody_is_left,         // parties: who waits for messages; `gone`: all others
        // parties: one or more ranks of each side, most ranks first
        different_roots,          // in one call of `group`
        different_order,          // they have parted before; `at` says when, if it is known
        different_communicators,  // they wait for each other there
        different_tags,           // of two messages
        collective_and_message,   // they wait for each other
        cycle,                    // of messages: each waits for the next
        not_sent,                 // parties: who waits to receive from `gone`
        not_received,             // the same with send
    };
    Kind kind{};
    std::uint32_t group = 0;  // index into Job::groups
    std::vector<Party> parties;
    std::vector<std::uint32_t> gone;
    std::uint64_t for_ns = 0;
    std::vector<Made> made{};  // what `gone` did that may have been meant
    std::uint64_t at = 0;      // the so manieth collective of `group`, from 1 on; 0: not known
};

// No rank is known to run, and either none can be any more or one has ended them all by MPI_Abort.
bool is_over(const Job& job);

// Of a running job, and of one that was ended while it hung.
std::optional<Hang> hang_of(const Job& job);

// The ranks that will enter nothing any more. Killed ones prove something only while others run on.
std::vector<std::uint32_t> never_come(const Job& job);
// Threads that have been inside a call for so long that it is worth a word.
std::vector<const Standing*> long_inside(const Job& job);
// Those that stand alike are one party, the largest first.
std::vector<Party> parties_of(const std::vector<const Standing*>& standings);

// Since when no call has ended, or, with ranks outside, none has begun; nothing where some rank says nothing.
struct Quiet {
    std::uint64_t for_ns = 0;
    bool are_all_inside = false;
};
std::optional<Quiet> quiet_of(const Job& job);

}  // namespace mpiprof::report
