// What the second half of a row does with what was stored: sizes that a status tells, means, requests that are posted
// and completed. The partners of a call are added to these by peers.h.
#pragma once

#include "libmpiprof/mpi/completion.h"
#include "libmpiprof/mpi/library.h"

namespace mpiprof::mpi {

// What arrived, by the status; where there is none to read (Fortran's STATUS_IGNORE), the posted count and type.
template <class Language>
struct Received : wrap::AsStored {
    static bool look(const CallInHand& hand, std::int64_t& seen) {
        seen = quick_bytes_in_status(hand.status);
        return !(Language::fortran && Language::ignores_status(hand.status));
    }
    static Word quick_type(const CallInHand&) { return no_handle; }
    static std::int64_t quick_count(const CallInHand&, std::int64_t seen) { return seen; }
    static Bytes quick_bytes(const CallInHand&, std::int64_t seen, std::uint64_t) { return static_cast<Bytes>(seen); }
    static Booking booking(const CallInHand& hand) {
        if (!library.is_known() || Language::ignores_status(hand.status)) return {hand.type, hand.count};
        return {no_handle, static_cast<std::int64_t>(bytes_in_status(reinterpret_cast<const void*>(hand.status)))};
    }
};

// What was sent, and what arrived by the status; nothing is added without one.
struct Exchanged : wrap::AsStored {
    static Bytes bytes(const CallInHand& hand, const Booking& b, std::uint64_t type_size) {
        Bytes sum = static_cast<Bytes>(b.count) * type_size;
        if (hand.status != 0) sum += bytes_in_status(reinterpret_cast<const void*>(hand.status));
        return sum;
    }
    static Bytes quick_bytes(const CallInHand& hand, std::int64_t, std::uint64_t type_size) {
        return bytes(hand, booking(hand), type_size);
    }
};

// The mean over so many blocks.
struct Averaged : wrap::AsStored {
    static Bytes bytes(const CallInHand& hand, const Booking& b, std::uint64_t type_size) {
        const Bytes sum = static_cast<Bytes>(b.count) * type_size;
        return hand.members > 1 ? sum / static_cast<Bytes>(hand.members) : sum;
    }
    static Bytes quick_bytes(const CallInHand& hand, std::int64_t, std::uint64_t type_size) {
        return bytes(hand, booking(hand), type_size);
    }
};

// A nonblocking call leaves a request behind: remember whose it is and since when. Its sizes are as `Sized` books them.
template <class Language, class Sized>
struct Posting : Sized {
    static bool quick_after(Ledger& ledger, const Memo& memo, Bytes, Ticks ticks) {
        const Word request = Language::handle_at(ledger.hand.request, 0);
        if (Language::is_complete_at_once(request)) {
            ledger.requests.post_complete(memo, ticks);
            return true;
        }
        return Language::is_no_request(request) || ledger.requests.post_fast(ledger.hand, memo, request);
    }
    static void after(Ledger& ledger, Memo& memo, Bytes, Ticks ticks) {
        if (!library.is_known()) return;
        const Word request = Language::handle_at(ledger.hand.request, 0);
        if (Language::is_complete_at_once(request))
            ledger.requests.post_complete(memo, ticks);
        else if (!Language::is_no_request(request))
            ledger.post(memo, request, ledger.hand.since());
    }
};

// Wait* and Test* complete requests.
template <Completion C, class Language>
struct Completing : wrap::Sizeless {
    static bool quick_after(Ledger& ledger, const Memo&, Bytes, Ticks) { return ledger.hand.requests == 0; }
    [[gnu::always_inline]] static void after(Ledger& ledger, Memo& memo, Bytes, Ticks ticks) {
        if (ledger.hand.requests == 0) return;
        ledger.books.add_completed(memo, complete_requests<C, Language>(ledger, ledger.hand.since() + ticks, ticks));
    }
    // Polls that completed nothing leave no trace.
    static void trace(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        if (trace_completed<C, Language>(ledger, ledger.hand.since() + ticks) != 0 || !C.is_polled)
            ledger.trace->call(ledger.hand, memo, bytes, ticks);
    }
    static constexpr bool has_after_untimed = true;
    static void after_untimed(Ledger& ledger) {
        if (ledger.hand.requests == 0) return;
        if constexpr (C.has_flag)
            if (int_at(ledger.hand.flag) == 0) return;
        complete_untimed(ledger);
    }
    [[gnu::noinline]] static void complete_untimed(Ledger& ledger) {
        complete_requests<C, Language>(ledger, ledger.read_clock(), 0);
    }
};

// What a call adds to its communicator's order, beside its root, by its number.
inline constexpr auto order_words = wrap::order_words_of(table);

// A call that all members of its communicator make in one order. It is counted there when it has returned, recorded or
// not, with or without success. The fast form brings its word along.
template <bool HasRoot, class Language, class Base>
struct InOrder : Base {
    static constexpr bool takes_order_word = true;
    static std::uint64_t with_root(const Ledger& ledger, std::uint64_t word) {
        return HasRoot ? word + static_cast<std::uint64_t>(ledger.hand.peer()) : word;
    }
    [[gnu::always_inline]] static bool quick_after(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks,
                                                   std::uint64_t word) {
        CommunicatorTable::Counted& communicator = ledger.counted(memo);
        if (communicator.is_at_arrival() || !Base::quick_after(ledger, memo, bytes, ticks)) [[unlikely]]
            return false;
        communicator.count(with_root(ledger, word));
        return true;
    }
    [[gnu::always_inline]] static bool quick_after(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        return quick_after(ledger, memo, bytes, ticks, order_words[memo.cell->call]);
    }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        CommunicatorTable::Counted& communicator = ledger.counted(memo);
        if (communicator.is_at_arrival()) ledger.keep_arrival(memo, ticks, HasRoot);
        communicator.count(with_root(ledger, order_words[memo.cell->call]));
        Base::after(ledger, memo, bytes, ticks);
    }
    static void after_failure(const Ledger& ledger) {
        if (library.is_known())
            library.communicators.count_known(Language::c_comm(ledger.hand.comm()),
                                              with_root(ledger, order_words[call_of(ledger.hand.key())]));
    }
};

template <class Language, class Row>
[[gnu::noinline]] void Mpi::count_unrecorded(Row row, const Word* words, Word result) {
    const Facts& facts = row.facts;
    if (!library.is_known() || !runtime.is_recording()) return;
    CallInHand hand{};
    if constexpr (Language::fortran) hand.ierror = wrap::ierror_in(words, facts);
    std::uint64_t word = order_words[facts.id];
    if (facts.has(Role::root)) word += static_cast<std::uint64_t>(Language::integer(words[facts.at(Role::root)]));
    const Word handle = Language::c_comm(Language::handle(words[facts.at(Role::comm)]));
    if (Language::failed(result, hand))
        library.communicators.count_known(handle, word);
    else
        library.count_in_order(handle, word);
}

}  // namespace mpiprof::mpi
