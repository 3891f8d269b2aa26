// How a language passes the arguments that are read, and what the second half of a call does with what the first half
// stored. Plain functions over words, without state. Libraries derive theirs from these (mpi/sizes.h, nccl/library.h).
#pragma once

#include <array>

#include "libmpiprof/calls/call.h"
#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/record/ledger.h"

namespace mpiprof::wrap {

// How a language passes what the second half of a call reads ...
struct InC {
    static constexpr bool fortran = false;
    static int integer(Word w) { return static_cast<int>(w); }  // the upper half is garbage
    static Word handle(Word w) { return w; }
    static bool failed(Word result, const CallInHand&) { return static_cast<int>(result) != 0; }
};
struct InFortran {
    static constexpr bool fortran = true;
    static int integer(Word w) { return *reinterpret_cast<const int*>(w); }
    static Word handle(Word w) { return *reinterpret_cast<const int*>(w); }
    // Fortran 2008 may leave ierror out; then errors are fatal by default and never come back here.
    static bool failed(Word, const CallInHand& hand) { return hand.ierror && *hand.ierror != 0; }
};
// ... and the first half besides. `Large`: counts are 64 bits wide.
template <bool Large>
struct C : InC {
    static std::int64_t count(Word w) { return Large ? w : static_cast<int>(w); }
    static std::int64_t count_at(Word array, std::int64_t i) {
        return Large ? reinterpret_cast<const std::int64_t*>(array)[i] : reinterpret_cast<const int*>(array)[i];
    }
};
template <bool Large>
struct Fortran : InFortran {
    static std::int64_t count(Word w) { return count_at(w, 0); }
    static std::int64_t count_at(Word array, std::int64_t i) { return C<Large>::count_at(array, i); }
};

// What the second half needs of a language: several share one, and so the code.
template <class Language>
struct BehindOf {
    using Type = Language;
};
template <class Language>
requires requires { typename Language::Behind; }
struct BehindOf<Language> {
    using Type = typename Language::Behind;
};
template <class Language>
using Behind = typename BehindOf<Language>::Type;

// The word behind the C arguments.
template <int Arity, class... Words>
[[gnu::always_inline]] inline const int* ierror_of(Words... args) {
    const Word words[] = {args..., 0};
    return reinterpret_cast<const int*>(words[Arity]);
}

// A row's Booker says what its second half does, with what the first half stored. Booked is count x size of `type`;
// type no_handle: count is in bytes. This one books what was stored, and does nothing else.
struct AsStored {
    // What a memo has to agree on, beside where the call was made.
    static constexpr bool has_type = true, has_comm = true;
    static Booking booking(const CallInHand& hand) { return {hand.type, hand.count}; }
    static Bytes bytes(const CallInHand&, const Booking& b, std::uint64_t type_size) {
        return static_cast<Bytes>(b.count) * type_size;
    }
    // What is booked, for the fast form, which reads what is in hand where it is used. False: it takes more than to
    // look at what the call has left, which is `seen` then.
    static bool look(const CallInHand&, std::int64_t&) { return true; }
    static Word quick_type(const CallInHand& hand) { return hand.type; }
    static std::int64_t quick_count(const CallInHand& hand, std::int64_t) { return hand.count; }
    static Bytes quick_bytes(const CallInHand& hand, std::int64_t, std::uint64_t type_size) {
        return static_cast<Bytes>(hand.count) * type_size;
    }
    // The partner that it exchanged messages with, if a look tells: then the fast form itself counts it.
    static constexpr bool has_partner = false;
    static std::true_type quick_partner(const Ledger&, std::size_t) { return {}; }
    static void add_partner(std::true_type, const CallInHand&, const Memo&, Bytes, Ticks) {}
    // What there is to do besides. False, and nothing done: after() does it, partners included. Where the
    // row has an order word (Size::order_word), the hottest functions hand that over, as a constant.
    static constexpr bool takes_order_word = false, is_never_quick = false;  // never: after() is handed that word, too
    static bool quick_after(Ledger&, const Memo&, Bytes, Ticks) { return true; }
    static void after(Ledger&, Memo&, Bytes, Ticks) {}
    static void after_failure(const Ledger&) {}  // of the real call
    // Writes the call into the trace that the user asked for; before after().
    static void trace(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        ledger.trace->call(ledger.hand, memo, bytes, ticks);
    }
    static constexpr bool has_after_untimed = false;  // of a poll whose clock was not read
    static void after_untimed(Ledger&) {}
};
struct Sizeless : AsStored {
    static constexpr bool has_type = false;
    static Booking booking(const CallInHand&) { return {no_handle, 0}; }
    static Bytes bytes(const CallInHand&, const Booking&, std::uint64_t) { return 0; }
    static Word quick_type(const CallInHand&) { return no_handle; }
    static std::int64_t quick_count(const CallInHand&, std::int64_t) { return 0; }
    static Bytes quick_bytes(const CallInHand&, std::int64_t, std::uint64_t) { return 0; }
};
// What the rows of a table add to their communicators' orders, by their places there.
template <std::size_t N>
constexpr std::array<std::uint64_t, N> order_words_of(const std::array<Call, N>& table) {
    std::array<std::uint64_t, N> words{};
    for (std::size_t i = 0; i < N; ++i) words[i] = format::order_word(table[i].name);
    return words;
}

template <class Booker>
struct WithoutComm : Booker {
    static constexpr bool has_comm = false;
};

}  // namespace mpiprof::wrap
