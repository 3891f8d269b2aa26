// The second halves of calls that the fast form (wrap.h) leaves, by the shape of their row: what is new to the ledger,
// what failed, what is traced, polls that are samples. The plain form ends in them, and so does the fast form.
#pragma once

#include "libmpiprof/base/used_stack.h"
#include "libmpiprof/record/token.h"
#include "libmpiprof/wrap/booker.h"
#include "libmpiprof/wrap/functions.h"

namespace mpiprof::wrap {

// What it uses below its own frame, but for a walk, which clears its own.
inline constexpr unsigned stack_of_plain_form = 896;

// What the call in hand is about, as far as a memo goes by it: its handles as passed, and what they mean.
struct Asked {
    Word type, comm;
    Meaning meaning;
    Bytes bytes;  // that are to be booked
};

// The memo of the call in hand, which has none yet.
template <class Library, class Booker>
[[gnu::always_inline]] inline Memo& learn_memo(Ledger& ledger, std::uint64_t key, const Asked& asked) {
    Library::looks_again();
    Memo& memo = ledger.learn(key, asked.type, asked.comm, thread_state.token, asked.meaning, asked.bytes);
    if constexpr (Booker::has_partner) ledger.memos.forget_peer(memo);
    if (ledger.is_scripted() && !is_made_by_scripts<Library>(call_of(key)))
        learn_that_scripts_make<Library>(call_of(key));
    return memo;
}

// The memo of the call in hand, learned if it is new. `bytes`: what is to be booked.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Memo& memo_of(Ledger& ledger, std::uint64_t key, Bytes& bytes) {
    CallInHand& hand = ledger.hand;
    const Booking b = Booker::booking(hand);
    const Word comm = ledger.hand.comm();
    const Word* frame = thread_state.token;  // ours
    const Memo& first = ledger.memos.first(key);
    Meaning meaning{first.type_size, 0};
    if (Memos::hit(first, key, b.type, comm))
        meaning.communicator = first.cell->communicator, meaning.is_lasting = false;
    else
        meaning = Library::template meaning<Language>(ledger, b.type, comm, b.count);
    meaning.buffer = hand.buffer;
    hand.buffer = format::BufferKind::host;
    bytes = Booker::bytes(hand, b, meaning.type_size);
    if (Memo* memo = ledger.memos.known(key, b.type, comm, frame, meaning, bytes)) return *memo;
    return learn_memo<Library, Booker>(ledger, key, {b.type, comm, meaning, bytes});
}

// Books a call by its memo, as the last thing that its second half does.
template <class Library, class Booker>
[[gnu::always_inline]] inline Word leave_booked(Word result, Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks,
                                                Ticks end) {
    ledger.books.add(memo, bytes, ticks);
    if (ledger.turns_bin(end)) {
        ledger.turn_bin(bytes, ticks);
        Library::looks_again();
    }
    if (ledger.trace) [[unlikely]]
        Booker::trace(ledger, memo, bytes, ticks);
    Booker::after(ledger, memo, bytes, ticks);
    thread_state.token = nullptr;
    clear_used_stack<stack_of_plain_form>();
    return result;
}

// The second half of a call that ended then: anything that leave() does not do itself.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_plainly(Word result, Ledger& ledger, Ticks end) {
    const std::uint64_t key = ledger.hand.key();
    Ticks ticks = ledger.hand.ticks_until(end);
    if (Language::failed(result, ledger.hand)) {
        ledger.hand.buffer = format::BufferKind::host;
        ledger.add_error(key, 0, thread_state.token);
        if (ledger.trace) ledger.trace->error(ledger.hand, ticks);
        Booker::after_failure(ledger);
        thread_state.token = nullptr;
        return result;
    }
    Bytes bytes = 0;
    Memo& memo = memo_of<Library, Language, Booker>(ledger, key, bytes);
    return leave_booked<Library, Booker>(result, ledger, memo, bytes, ledger.sane(ticks), end);
}

// The second half of a call that has succeeded, whose place or communicator or size is new, and of which the fast form
// has asked the rest.
template <class Library, class Booker>
[[gnu::noinline]] Word leave_learning(Word result, Ledger& ledger, Ticks ticks, const Asked& asked) {
    Memo& memo = learn_memo<Library, Booker>(ledger, ledger.hand.key(), asked);
    return leave_booked<Library, Booker>(result, ledger, memo, asked.bytes, ledger.sane(ticks),
                                         ledger.hand.since() + ticks);
}

// The second half of a poll that is a sample: its time stands for those since the sample before, too.
template <class Library, class Language, class Booker>
[[gnu::always_inline]] inline Word leave_poll(Word result, Ledger& ledger, Ticks end, std::uint16_t counter) {
    if (Language::failed(result, ledger.hand)) {
        ledger.counters.count_error(counter);
    } else {
        Bytes bytes = 0;
        Memo& memo = memo_of<Library, Language, Booker>(ledger, ledger.hand.key(), bytes);
        const Ticks ticks = ledger.sane(ledger.hand.ticks_until(end));
        ledger.add_poll(memo, ticks, end, counter);
        ledger.counters.count(counter);
        if (ledger.turns_bin(end)) ledger.turn_bin(bytes, ticks);
        if constexpr (Booker::has_after_untimed)
            if (ledger.trace) Booker::trace(ledger, memo, bytes, ticks);
        Booker::after(ledger, memo, bytes, ticks);
    }
    thread_state.token = nullptr;
    return result;
}

// What is booked of a poll that is no sample.
template <class Language, class Booker>
[[gnu::always_inline]] inline Word book_untimed_poll(ThreadState& state, Word result, std::uint16_t counter) {
    Ledger& ledger = *state.ledger;
    if (Language::failed(result, ledger.hand)) [[unlikely]] {
        ledger.counters.count_error(counter);
    } else {
        ledger.counters.count(counter);
        Booker::after_untimed(ledger);
    }
    state.token = nullptr;
    return result;
}

// The second half of such a poll.
template <class Language, class Booker>
[[gnu::always_inline]] inline Word leave_untimed_poll(Word result, std::uint16_t counter) {
    ThreadState& state = thread_state;
    if constexpr (Booker::has_after_untimed)
        if (state.token != untimed(MPIPROF_FRAME())) [[unlikely]]
            return result;
    return book_untimed_poll<Language, Booker>(state, result, counter);
}

// A poll that is no sample, where there is a trace: it is timed, since it may complete something, but not booked.
template <class Library, class Language, class Booker>
[[gnu::noinline]] void trace_poll(Ledger& ledger, Word result, Ticks ticks, const Word* frame) {
    if (Language::failed(result, ledger.hand)) return;
    const Booking b = Booker::booking(ledger.hand);
    const Meaning meaning = Library::template meaning<Language>(ledger, b.type, ledger.hand.comm(), b.count);
    const Memo* known = ledger.memos.known(ledger.hand.key(), b.type, ledger.hand.comm(), frame, meaning,
                                           Booker::bytes(ledger.hand, b, meaning.type_size));
    const format::Cell nowhere{};
    Memo unknown{};
    unknown.cell = const_cast<format::Cell*>(&nowhere);
    Booker::trace(ledger, known ? *known : unknown, 0, ledger.sane(ticks));
}

// The second half of any poll, for the plain form: a sample, or one whose clock was read for the trace, or neither (no
// `end`). The token is the call's.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_any_poll(Word result, Ledger& ledger, Ticks end, std::uint16_t counter) {
    ThreadState& state = thread_state;
    if (is_timed(state.token)) return leave_poll<Library, Language, Booker>(result, ledger, end, counter);
    if constexpr (Booker::has_after_untimed)
        if (end != 0) {
            const auto* frame = reinterpret_cast<const Word*>(reinterpret_cast<const char*>(state.token) - 1);
            trace_poll<Library, Language, Booker>(ledger, result, ledger.hand.ticks_until(end), frame);
        }
    return book_untimed_poll<Language, Booker>(state, result, counter);
}

// The second half of a row's calls, as the plain form is handed it; null where it needs none of its own.
template <class Library, auto Id, class Language>
[[gnu::always_inline]] inline void* second_half() {
    constexpr Treatment treatment = FixedRow<Library, Id>::facts.treatment;
    if constexpr (treatment == Treatment::counted) {
        return nullptr;
    } else {
        using Size = typename Library::template Size<Id, Language>;
        static_assert(HasSize<Size>);
        if constexpr (treatment == Treatment::polled)
            return reinterpret_cast<void*>(&leave_any_poll<Library, Behind<Language>, typename Size::Booker>);
        else
            return reinterpret_cast<void*>(&leave_plainly<Library, Behind<Language>, typename Size::Booker>);
    }
}

}  // namespace mpiprof::wrap
