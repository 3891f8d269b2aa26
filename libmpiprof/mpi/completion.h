// Requests at the calls that start and complete them: which handles were given (copied before the call, since the library
// overwrites the completed ones) and which of them are done (by flag, index or indices). Used by sizes.h.
#pragma once

#include "libmpiprof/mpi/library.h"

namespace mpiprof::mpi {

template <Id I>
struct RequestArguments {
    static constexpr Roles roles = row_of(I).roles;
    static constexpr int one = find(roles, Role::request), many = find(roles, Role::requests), n = find(roles, Role::n);
    static constexpr int flag = find(roles, Role::flag), index = find(roles, Role::index);
    static constexpr int outcount = find(roles, Role::outcount), indices = find(roles, Role::indices);
};

// Nothing is copied while this thread has no request in flight that could be completed.
template <Id I, class Language>
[[gnu::always_inline]] inline void copy_handles(Ledger& ledger, const Word* words) {
    using R = RequestArguments<I>;
    CallInHand& hand = ledger.hand;
    hand.requests = 0;
    hand.completed = 0;
    if (!ledger.has_requests()) return;
    if constexpr (R::one >= 0) {
        if (words[R::one] == 0) return;  // an error, which is MPI's to report
        hand.handle = Language::handle_at(words[R::one], 0);
        hand.handles = &hand.handle;
        hand.requests = 1;
    } else {
        const std::int64_t n = words[R::many] != 0 ? Language::integer(words[R::n]) : 0;
        Word* copy = n > 0 ? ledger.room_for_handles(n) : nullptr;
        if (!copy) return;
        for (std::int64_t i = 0; i < n; ++i) copy[i] = Language::handle_at(words[R::many], i);
        hand.handles = copy;
        hand.requests = n;
    }
}

// After success: books the completed requests where they were posted. `ticks`, this call's duration, is shared evenly.
template <Id I, class Language>
[[gnu::noinline]] void complete_requests(Ledger& ledger, Ticks end, Ticks ticks) {
    using R = RequestArguments<I>;
    CallInHand& hand = ledger.hand;
    const auto value = [&](int argument) { return *reinterpret_cast<const int*>(hand.words[argument]); };
    if constexpr (R::flag >= 0)
        if (value(R::flag) == 0) return;

    // The positions that are done: all, one, or as listed. MPI_UNDEFINED is negative in every MPI.
    std::int64_t done = hand.requests;
    const int* listed = nullptr;
    int one = 0;
    if constexpr (R::index >= 0) {
        one = value(R::index);
        listed = &one;
        done = one < 0 ? 0 : 1;
    } else if constexpr (R::indices >= 0) {
        listed = reinterpret_cast<const int*>(hand.words[R::indices]);
        done = value(R::outcount) < 0 ? 0 : value(R::outcount);
    }
    const auto position = [&](std::int64_t i) { return listed ? listed[i] - Language::first_index : i; };
    const auto is_request = [&](std::int64_t p) { return p >= 0 && p < hand.requests && !Language::is_null_request(hand.handles[p]); };

    const Ticks share = done > 1 ? ticks / static_cast<Ticks>(done) : ticks;
    for (std::int64_t i = 0; i < done; ++i) {
        if (!is_request(position(i))) continue;
        ledger.complete(hand.handles[position(i)], end, share);
        hand.completed += 1;
    }
}

// Start, Startall: what the started operations move.
template <Id I, class Language>
Bytes bytes_started(Ledger& ledger, const Word* words) {
    using R = RequestArguments<I>;
    if constexpr (R::one >= 0) return ledger.start(Language::handle_at(words[R::one], 0), ledger.since());
    Bytes bytes = 0;
    if constexpr (R::many >= 0)
        for (std::int64_t i = 0, n = Language::integer(words[R::n]); i < n; ++i)
            bytes += ledger.start(Language::handle_at(words[R::many], i), ledger.since());
    return bytes;
}

}  // namespace mpiprof::mpi
