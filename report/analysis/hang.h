// A hang as a value: its class, the ranks that stand in it and where, and what is known of those who do not come.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

inline constexpr std::uint64_t worth_a_word_ns = 1'000'000'000;  // a shorter wait is no hang

// Ranks that are inside one call.
struct Party {
    std::vector<std::uint32_t> ranks;
    std::uint16_t call = 0;   // index into Job::calls
    std::uint32_t place = 0;  // index into Job::places
    std::uint64_t for_ns = 0;
    // Where they are what makes the difference:
    std::optional<std::uint32_t> group;  // index into Job::groups
    std::int32_t root = any_rank;
    std::vector<Message> messages{};  // that they wait for
    bool has_passed = false;          // they have made this call where the others are in theirs, and went on
    Given given{};                    // of one that NCCL has enqueued
};

struct Hang {
    enum class Kind : std::uint8_t {
        different_collectives,  // parties: what members of `group` are in, most ranks first
        member_is_gone,         // parties: who waits in a collective of `group`; `gone`: who will never enter it
        nobody_is_left,         // parties: who waits for messages; `gone`: all others
        // parties: one or more ranks of each side, most ranks first
        different_roots,          // in one call of `group`
        different_arguments,      // to one collective of NCCL's on `group`
        different_order,          // they have parted before; `at` says when, if it is known
        different_communicators,  // they wait for each other there
        different_tags,           // of two messages
        not_started,              // who waits, and who has set up what fits and not started it: `made`
        collective_and_message,   // they wait for each other
        cycle,                    // of messages: each waits for the next
        not_sent,                 // parties: who waits to receive from `gone`
        not_received,             // the same with send
    };
    Kind kind{};
    std::uint32_t group = 0;  // index into Job::groups
    std::vector<Party> parties{};
    std::vector<std::uint32_t> gone;
    std::uint64_t for_ns = 0;
    std::vector<Made> made{};  // what `gone` did that may have been meant
    std::uint64_t at = 0;      // the so manieth collective of `group`, from 1 on; 0: not known
};

}  // namespace mpiprof::report
