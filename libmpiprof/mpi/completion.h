// Requests at the calls that start and complete them: which handles were given (copied before the call, since the
// library overwrites the completed ones) and which of them are done (by flag, index or indices). Used by sizes.h.
#pragma once

#include "libmpiprof/mpi/peers.h"

namespace mpiprof::mpi {

// What the second half of a row that completes requests has to know of it: rows that are alike in it share their code.
struct Completion {
    enum class Which : std::uint8_t { one, all, at_index, at_indices } which = Which::one;
    bool has_flag = false;  // it may complete none
    enum class Statuses : std::uint8_t { none, one, array } statuses = Statuses::none;
    bool is_polled = false;

    constexpr bool is_listed() const { return which == Which::at_index || which == Which::at_indices; }
};

constexpr Completion completion_of(Id id) {
    return {.which = has(id, Role::index)     ? Completion::Which::at_index
                     : has(id, Role::indices) ? Completion::Which::at_indices
                     : has(id, Role::request) ? Completion::Which::one
                                              : Completion::Which::all,
            .has_flag = has(id, Role::flag),
            .statuses = has(id, Role::statuses) ? Completion::Statuses::array
                        : has(id, Role::status) ? Completion::Statuses::one
                                                : Completion::Statuses::none,
            .is_polled = row_of(id).treatment == Treatment::polled};
}

// What MPI has stored where an argument points.
inline int int_at(Word argument) { return *reinterpret_cast<const int*>(argument); }

// Where the status, or the array of them, stands; -1: nowhere.
constexpr int status_of(const Facts& facts) {
    return facts.has(Role::status) ? facts.at(Role::status) : facts.at(Role::statuses);
}

// What a completing call's second half needs. Nothing is copied while this thread has no request in flight that could
// be completed. False: there is no room for a copy yet; or requests go from one language to another, so that the plain
// form has stored what is needed (store_mixed_requests), or will.
template <class Language, class Row>
[[gnu::always_inline]] inline bool store_requests(Row row, Ledger& ledger, const Word* words, bool are_mixed = false) {
    const Facts& facts = row.facts;
    CallInHand& hand = ledger.hand;
    const bool is_shown = facts.treatment == Treatment::timed, is_one = facts.has(Role::request);
    const std::uint64_t in_use = ledger.requests.in_use();
    if (Requests::are_mixed(in_use) && !are_mixed) [[unlikely]]
        return false;
    if (is_one) hand.requests = 0;
    if (in_use == 0) {
        if (!is_one) hand.requests = 0;
        if (is_shown) ledger.hand.set_requests(0);
        return true;
    }
    if (facts.has(Role::flag)) hand.flag = words[facts.at(Role::flag)];
    if (facts.has(Role::index)) hand.index = words[facts.at(Role::index)];
    if (facts.has(Role::outcount)) hand.outcount = words[facts.at(Role::outcount)];
    if (facts.has(Role::indices)) hand.indices = words[facts.at(Role::indices)];
    if (const int status = status_of(facts); status >= 0) hand.status = words[status];
    if (is_one) {
        if (is_shown) ledger.hand.set_requests(1);
        if (words[facts.at(Role::request)] == 0) [[unlikely]]
            return true;  // an error, which is MPI's to report
        hand.handle = Language::handle_at(words[facts.at(Role::request)], 0);
        hand.handles = &hand.handle;
        hand.requests = 1;
        if (is_shown) ledger.hand.set_request(hand.handle);
    } else {
        const std::int64_t n = words[facts.at(Role::requests)] != 0 ? Language::integer(words[facts.at(Role::n)]) : 0;
        if (is_shown) {
            ledger.hand.set_requests(n);
            ledger.hand.set_request(0);
        }
        if (n <= 0) [[unlikely]] {
            hand.requests = 0;
            return true;
        }
        Word* copy = ledger.requests.ready_room_for_handles(n);
        if (!copy) [[unlikely]]
            return false;
        Language::copy_handles(copy, words[facts.at(Role::requests)], n);
        hand.handles = copy;
        hand.requests = n;
    }
    return true;
}

// The same where languages mix, by the handles that the requests are known by.
template <class Language, class Row>
[[gnu::noinline]] void store_mixed_requests(Row row, Ledger& ledger, const Word* words) {
    CallInHand& hand = ledger.hand;
    store_requests<Language>(row, ledger, words, true);
    if (hand.requests == 0) return;
    find_keys<Language>(ledger, const_cast<Word*>(hand.handles), hand.requests);
    if (row.facts.has(Role::request) && row.facts.treatment == Treatment::timed) hand.set_request(hand.handle);
}

// The requests that are done, as (handle, which of the statuses is its).
template <Completion C, class Language, class Use>
void each_completed(const CallInHand& hand, Use use) {
    if constexpr (C.is_listed()) {
        constexpr bool is_one = C.which == Completion::Which::at_index;
        const int* listed = reinterpret_cast<const int*>(is_one ? hand.index : hand.indices);
        const int done = is_one ? 1 : int_at(hand.outcount);
        for (int i = 0; i < done; ++i) {
            const std::int64_t position = std::int64_t{listed[i]} - Language::first_index;
            if (position >= 0 && position < hand.requests) use(hand.handles[position], i);
        }
    } else {
        for (std::int64_t i = 0; i < hand.requests; ++i) use(hand.handles[i], i);
    }
}

// Receives from whoever sent first: the statuses, where the program wants them, say who it was.
template <Completion C, class Language>
[[gnu::noinline]] void close_sources(Ledger& ledger) {
    if constexpr (C.statuses != Completion::Statuses::none) {
        const Word statuses = ledger.hand.status;
        constexpr bool is_array = C.statuses == Completion::Statuses::array;
        if (!library.is_known() ||
            (is_array ? Language::ignores_statuses(statuses) : !tells_source<Language>(statuses)))
            return;
        each_completed<C, Language>(ledger.hand, [&](Word handle, std::int64_t i) {
            const Requests::Partner* partner = ledger.requests.open_source(handle);
            if (!partner) return;
            const Word status = statuses + i * profiled.facts.status_bytes;
            if (is_of_cancelled(reinterpret_cast<const void*>(status))) return Requests::take_back(*partner);
            const int source = source_in(status);
            if (source >= 0)
                ledger.requests.close_source(*partner, library.peer_later(ledger, partner->key, partner->comm, source));
        });
    }
}

// The requests that the call in hand has completed, for a trace; before they are booked and forgotten. Returns how
// many.
template <Completion C, class Language>
[[gnu::noinline]] int trace_completed(Ledger& ledger, Ticks end) {
    const CallInHand& hand = ledger.hand;
    if (hand.requests == 0) return 0;
    if constexpr (C.has_flag)
        if (int_at(hand.flag) == 0) return 0;
    Word statuses = 0;
    if constexpr (C.statuses != Completion::Statuses::none) {
        constexpr bool is_array = C.statuses == Completion::Statuses::array;
        const Word given = hand.status;
        if (library.is_known() && !(is_array ? Language::ignores_statuses(given) : !tells_source<Language>(given)))
            statuses = given;
    }
    int completed = 0;
    each_completed<C, Language>(hand, [&](Word handle, std::int64_t i) {
        if (Language::is_complete_at_once(handle)) {
            ++completed;
            return;
        }
        if (!ledger.requests.knows(handle) && !Language::is_null_request(handle)) ledger.take_over(handle, end);
        completed += ledger.trace_completed(handle, end, [&](const Requests::Partner& partner) {
            Trace::Side side;
            if (statuses == 0) return side;
            const Word status = statuses + i * profiled.facts.status_bytes;
            const int source = source_in(status);
            if (source >= 0 && !is_of_cancelled(reinterpret_cast<const void*>(status)))
                side = {library.peer_later(ledger, partner.key, partner.comm, source).rank, tag_in(status),
                        format::trace_receives};
            return side;
        });
    });
    return completed;
}

// One of the completed requests; `share` is its part of this call's duration. How many it counts for.
template <class Language>
[[gnu::always_inline]] inline int complete_request(Ledger& ledger, Word handle, Ticks end, Ticks share, Ticks ticks) {
    if (Language::is_no_request(handle)) [[unlikely]]
        return 0;
    if (Language::is_complete_at_once(handle)) {
        ledger.requests.pass_complete();
        return 1;
    }
    const int completed_here = ledger.complete(handle, end, share, ticks);
    if (completed_here != Requests::not_remembered) [[likely]]
        return completed_here;
    if (Language::is_null_request(handle)) return 0;
    const int completed_of_others = ledger.complete_of_others(handle, end, share, ticks);
    if (completed_of_others != Requests::not_remembered) return completed_of_others;
    ledger.requests.count_unknown();
    return 1;
}

// Where some of them were complete when they were posted, as their common handle tells: the others alone share the
// time.
template <Completion C, class Language>
[[gnu::noinline]] std::int64_t complete_beside_shared(Ledger& ledger, Ticks end, Ticks ticks) {
    std::int64_t others = 0, completed = 0;
    each_completed<C, Language>(ledger.hand, [&](Word handle, std::int64_t) {
        others += !Language::is_complete_at_once(handle) && !ledger.requests.is_shared(handle);
    });
    const Ticks share = others > 1 ? ticks / static_cast<Ticks>(others) : ticks;
    each_completed<C, Language>(ledger.hand, [&](Word handle, std::int64_t) {
        completed += complete_request<Language>(ledger, handle, end, share, ticks);
    });
    return completed;
}

// What each of `n` has of the time; those that were complete at once have none.
template <class Language, class HandleAt>
[[gnu::always_inline]] inline Ticks share_of(const Ledger& ledger, std::int64_t n, Ticks ticks, HandleAt handle_at) {
    std::int64_t waited_for = n;
    if (ledger.requests.has_complete())
        for (std::int64_t i = 0; i < n; ++i) waited_for -= Language::is_complete_at_once(handle_at(i));
    return waited_for > 1 ? ticks / static_cast<Ticks>(waited_for) : ticks;
}

// After success: books the completed requests where they were posted, and says how many. `ticks`, this call's duration,
// is shared evenly.
template <Completion C, class Language>
[[gnu::always_inline]] inline std::int64_t complete_requests(Ledger& ledger, Ticks end, Ticks ticks) {
    const CallInHand& hand = ledger.hand;
    if constexpr (C.has_flag)
        if (int_at(hand.flag) == 0) return 0;
    if (ledger.requests.has_odd()) [[unlikely]] {
        if (ledger.requests.has_open_sources()) close_sources<C, Language>(ledger);
        if (ledger.requests.has_shared()) return complete_beside_shared<C, Language>(ledger, end, ticks);
    }
    // The positions that are done: the one, as listed, or all. MPI_UNDEFINED is negative in every MPI.
    std::int64_t completed = 0;
    if constexpr (C.is_listed()) {
        constexpr bool is_one = C.which == Completion::Which::at_index;
        const int* listed = reinterpret_cast<const int*>(is_one ? hand.index : hand.indices);
        const int done = is_one ? 1 : int_at(hand.outcount);
        const auto listed_at = [&](std::int64_t i) -> Word {
            const std::int64_t position = std::int64_t{listed[i]} - Language::first_index;
            return position >= 0 && position < hand.requests ? hand.handles[position] : no_handle;
        };
        const Ticks share = share_of<Language>(ledger, done, ticks, listed_at);
        for (int i = 0; i < done; ++i)
            if (const Word handle = listed_at(i); handle != no_handle)
                completed += complete_request<Language>(ledger, handle, end, share, ticks);
    } else if constexpr (C.which == Completion::Which::one) {
        completed = complete_request<Language>(ledger, hand.handle, end, ticks, ticks);
    } else {
        const Word* const handles = hand.handles;
        const std::int64_t n = hand.requests;
        const Ticks share = share_of<Language>(ledger, n, ticks, [&](std::int64_t i) { return handles[i]; });
        for (const Word* h = handles; h != handles + n; ++h)
            completed += complete_request<Language>(ledger, *h, end, share, ticks);
    }
    return completed;
}

// Start, Startall, before the real call: Open MPI puts a new handle in place of one whose last message it has not quite
// finished with.
template <class Language, class Row>
void store_to_start(Row row, Ledger& ledger, const Word* words) {
    CallInHand& hand = ledger.hand;
    const bool is_one = row.facts.has(Role::request);
    const int at = row.facts.at(is_one ? Role::request : Role::requests);
    hand.requests = 0;
    if (words[at] == 0 || !library.is_known()) return;
    const std::int64_t n = is_one ? 1 : Language::integer(words[row.facts.at(Role::n)]);
    Word* copy = n > 0 ? ledger.requests.room_for_handles(n) : nullptr;
    if (!copy) return;
    Language::copy_handles(copy, words[at], n);
    if (ledger.requests.are_mixed()) find_keys<Language>(ledger, copy, n);
    hand.handles = copy;
    hand.requests = n;
}

// And after it: what the started operations move.
template <class Language, class Row>
Bytes bytes_started(Row row, Ledger& ledger, const Word* words) {
    const bool is_one = row.facts.has(Role::request);
    const int at = row.facts.at(is_one ? Role::request : Role::requests);
    const CallInHand& hand = ledger.hand;
    const std::int64_t n = is_one ? 1 : Language::integer(words[row.facts.at(Role::n)]);
    Bytes bytes = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        Word now = Language::handle_at(words[at], i);
        const Word before = i < hand.requests ? hand.handles[i] : now;
        // The same request, by the handle of the language that set it up.
        if (before != now && ledger.requests.are_mixed() && Language::other_request(now) == before) now = before;
        bytes += ledger.start(before, now, hand.since());
    }
    return bytes;
}

}  // namespace mpiprof::mpi
