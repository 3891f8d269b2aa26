// From a row to what its exported symbol does: take the token, read the clock, forward every register as it came, read
// the clock, describe, record. Templates, so that a row's knowledge is compiled into its symbol; one per treatment.
// Instantiated by mpi/ (and nccl/) with their Library; knows no MPI itself.
//
// Two forms of the same steps. call() and leave(), here, are the fast form: no function is called but the real one, so
// nothing is saved and restored around it; whatever is not the common case leaves them by a tail call for the plain
// form (plain_form.h).
//
// What a Library is, says library.h.
#pragma once

#include "libmpiprof/wrap/plain_form.h"

namespace mpiprof::wrap {

// Whether this memo of the same place is of the handles in hand.
template <class Booker>
[[gnu::always_inline]] inline bool is_alike(const Ledger& ledger, const Memo& memo) {
    if constexpr (Booker::has_type)
        if (memo.type != Booker::quick_type(ledger.hand)) [[unlikely]]
            return false;
    if constexpr (Booker::has_comm)
        if (memo.comm != ledger.hand.comm()) [[unlikely]]
            return false;
    return true;
}

// What is left to do of a call that is booked.
template <class Booker, std::uint64_t... word>
[[gnu::noinline]] Word leave_after(Word result, Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
    Booker::after(ledger, memo, bytes, ticks, word...);
    thread_state.token = nullptr;
    return result;
}

// Books the call in hand by this memo of its place, which may be of other handles and so of other partners.
template <class Library, class Language, class Booker, class... OrderWord>
[[gnu::always_inline]] inline Word book_again(Word result, Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks,
                                              OrderWord... word) {
    const auto partner = Booker::quick_partner(ledger, ledger.memos.no_offset());
    if (!partner || !ledger.books.add_of_bin(memo, bytes, ticks)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.hand.since() + ticks);
    if (!Booker::quick_after(ledger, memo, bytes, ticks, word...))
        return leave_after<Booker>(result, ledger, memo, bytes, ticks);
    if constexpr (requires { &Booker::add_partner_again; })
        Booker::add_partner_again(partner, ledger.hand, memo, bytes, ticks);
    else
        Booker::add_partner(partner, ledger.hand, memo, bytes, ticks);
    in_place<'D'>(result);
    thread_state.token = nullptr;
    return result;
}

// The second half of a call that has no memo, of which all else is known.
template <class Library, class Language, class Booker>
[[gnu::always_inline]] inline Word leave_new(Word result, Ledger& ledger, Ticks ticks, const Asked& asked) {
    // There are sizes that are not what they seem at a look.
    if (asked.bytes > Books::most_hot_bytes) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.hand.since() + ticks);
    return leave_learning<Library, Booker>(result, ledger, ticks, asked);
}

// The second half of a call whose handles the first memo of its place does not hold: what they mean is asked, its place
// in the program is known all the same.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_asking(Word result, Ledger& ledger, Ticks ticks) {
    const std::uint64_t key = ledger.hand.key();
    const Word* frame = MPIPROF_FRAME();
    std::int64_t seen = 0;
    if (!Booker::look(ledger.hand, seen)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.hand.since() + ticks);
    const Word type = Booker::quick_type(ledger.hand), comm = Booker::has_comm ? ledger.hand.comm() : no_handle;
    const Meaning meaning =
        Library::template meaning<Language>(ledger, type, comm, Booker::quick_count(ledger.hand, seen));
    const Bytes bytes = Booker::quick_bytes(ledger.hand, seen, meaning.type_size);
    Memo* memo = ledger.memos.known(key, type, comm, frame, meaning, bytes);
    if (!memo) [[unlikely]]
        return leave_new<Library, Language, Booker>(result, ledger, ticks, {type, comm, meaning, bytes});
    return book_again<Library, Language, Booker>(result, ledger, *memo, bytes, ticks);
}

// The second half of a call that is known by its place's first memo, but for its size or its caller, and has no second
// one. Reached by a tail call, for which all else is found anew.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_beside(Word result, Ledger& ledger, Ticks ticks) {
    const Memo& first = ledger.memos.first(ledger.hand.key());
    std::int64_t seen = 0;
    const bool is_seen = Booker::look(ledger.hand, seen);
    const Bytes bytes = Booker::quick_bytes(ledger.hand, seen, first.type_size);
    const bool is_first = first.bin == hot_bin(bytes) && Memos::is_called_alike(first, thread_state.token);
    if (!is_seen || is_first) [[unlikely]]  // else its histogram has to be seen to
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.hand.since() + ticks);
    const Word type = Booker::quick_type(ledger.hand), comm = Booker::has_comm ? ledger.hand.comm() : no_handle;
    return leave_new<Library, Language, Booker>(
        result, ledger, ticks, {type, comm, {first.type_size, first.cell->communicator, false}, bytes});
}

// The second half of a call that is not as its place's first memo knows it: of another size, or from another caller.
// `word`: that of the row, where its Booker takes one. Here and in leave() it is a constant: in a register, next to all
// else that is alive there, it takes three instructions of 113 (gcc 12).
template <class Library, class Language, class Booker, std::uint64_t... word>
[[gnu::noinline]] Word leave_again(Word result, Ledger& ledger, Ticks ticks, Memo& first) {
    const Word* frame = MPIPROF_FRAME();
    std::int64_t seen = 0;
    if (!Booker::look(ledger.hand, seen)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.hand.since() + ticks);
    if (!is_alike<Booker>(ledger, first)) [[unlikely]]
        return leave_asking<Library, Language, Booker>(result, ledger, ticks);
    const Bytes bytes = Booker::quick_bytes(ledger.hand, seen, first.type_size);
    Memo* memo = ledger.memos.second(first, frame, first.cell->communicator, hot_bin(bytes));
    if (!memo) [[unlikely]]
        return leave_beside<Library, Language, Booker>(result, ledger, ticks);
    return book_again<Library, Language, Booker>(result, ledger, *memo, bytes, ticks, word...);
}

// The second half of a call whose place holds the memo of another call.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_disputed(Word result, Ledger& ledger, Ticks ticks) {
    if (ledger.memos.takes_turn(ledger.hand.key())) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.hand.since() + ticks);
    return leave_asking<Library, Language, Booker>(result, ledger, ticks);
}

template <class Library, class Language, class Booker, std::uint64_t... word>
[[gnu::noinline]] Word leave(Word result) {
    ThreadState& state = thread_state;
    const Word* frame = MPIPROF_FRAME();
    if (state.token != frame) [[unlikely]]
        return result;      // overtaken: what is in hand is another's
    asm("" : "+r"(frame));  // else it is the token, which had to be loaded
    Ledger& ledger = *state.ledger;
    const std::uint64_t key = ledger.hand.key_in_call();
    // Read last: the loads above run ahead of it, and those that depend on them would wait for it.
    const Ticks end = counter();
    ledger.hand.leave();
    if constexpr (requires { &Booker::after_real; }) Booker::after_real(result);
    if (Language::failed(result, ledger.hand) || ledger.turns_bin(end)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, end);
    const Ticks ticks = ledger.hand.ticks_until(end);
    const std::size_t offset = ledger.memos.offset_of(key);
    Memo& memo = ledger.memos.at(offset);
    if (memo.key != key) [[unlikely]]
        return leave_disputed<Library, Language, Booker>(result, ledger, ticks);
    if (!Memos::is_called_alike(memo, frame)) [[unlikely]]
        return leave_again<Library, Language, Booker, word...>(result, ledger, ticks, memo);
    const auto partner = Booker::quick_partner(ledger, offset);
    if (!partner) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, end);
    std::int64_t seen = 0;
    if (!Booker::look(ledger.hand, seen)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, end);
    if (!is_alike<Booker>(ledger, memo)) [[unlikely]]
        return leave_asking<Library, Language, Booker>(result, ledger, ticks);
    const Bytes bytes = Booker::quick_bytes(ledger.hand, seen, memo.type_size);
    if (!ledger.books.add_fast(memo, bytes, ticks)) [[unlikely]]
        return leave_again<Library, Language, Booker, word...>(result, ledger, ticks, memo);
    if (!Booker::quick_after(ledger, memo, bytes, ticks, word...)) [[unlikely]] {
        if constexpr (Booker::is_never_quick)
            return leave_after<Booker, word...>(result, ledger, memo, bytes, ticks);
        else
            return leave_after<Booker>(result, ledger, memo, bytes, ticks);
    }
    Booker::add_partner(partner, ledger.hand, memo, bytes, ticks);
    if constexpr (!Booker::has_partner) in_place<'D'>(result);  // else it lies in another register by now
    state.token = nullptr;
    return result;
}

// By what its language and its row have behind the real call.
template <class Library, class Language, class Size, class Booker>
[[gnu::always_inline]] inline Word leave_row(Word result) {
    if constexpr (Booker::takes_order_word)
        return leave<Library, Behind<Language>, Booker, Size::order_word>(result);
    else
        return leave<Library, Behind<Language>, Booker>(result);
}

// A question that the library asks itself inside of a call of the program's: handed on, and counted as nested alone.
// Whether its caller is the library tells the return address: no other code of the process lies there, so nothing has
// to be walked.
template <class Library>
[[gnu::always_inline]] inline bool is_own_question(ThreadState& state, Word return_address) {
    if (!Library::is_own_code(return_address)) [[unlikely]]
        return false;
    state.ledger->hand.count_nested();
    return true;
}

// The three kinds of calls. `plainly`: the plain form, which takes over whatever is not the common case; the gate is
// open and the call is not nested.
template <class Library, auto Id, class Language, class... Words>
[[gnu::always_inline]] inline Word call_counted_fast(ThreadState& state, void*& slot, const Word* frame,
                                                     Word (*plainly)(Words...), Words... args) {
    constexpr FixedRow<Library, Id> row;
    const auto real = reinterpret_cast<Word (*)(Words...)>(__atomic_load_n(&slot, __ATOMIC_RELAXED));
    if (!real) [[unlikely]]
        return plainly(args...);
    state.token = untimed(frame);
    if constexpr (Language::fortran) state.ledger->hand.ierror = ierror_of<row.facts.arity>(args...);
    if constexpr (row.facts.frees) {
        const Word words[] = {args..., 0};
        Library::template before_free<Language>(row, *state.ledger, words);
    }
    const Word result = real(args...);
    ThreadState& after = thread_state;
    Ledger& same = *after.ledger;
    if (Language::failed(result, same.hand)) [[unlikely]] {
        same.counters.count_error(row.facts.counter);
    } else {
        same.counters.count(row.facts.counter);
        if constexpr (row.facts.follows) {
            const Word words[] = {args..., 0};
            const auto return_address = reinterpret_cast<Word>(__builtin_return_address(0));
            Library::template follow<Language>(row, same, call_key(row.facts.id, return_address), words);
        }
    }
    after.token = nullptr;
    return result;
}

template <class Library, auto Id, int Spelling, class Language, class... Words>
[[gnu::always_inline]] inline Word call_polled_fast(ThreadState& state, void*& slot, const Word* frame,
                                                    Word (*plainly)(Words...), Words... args) {
    constexpr FixedRow<Library, Id> row;
    using Size = typename Library::template Size<Id, Language>;
    const auto real = reinterpret_cast<Word (*)(Words...)>(__atomic_load_n(&slot, __ATOMIC_RELAXED));
    if (!real) [[unlikely]]
        return plainly(args...);
    if (state.ledger->counters.is_sample(row.facts.counter)) [[unlikely]]
        return call_sampled<Library, Id, Spelling, Language>(args...);
    state.token = untimed(frame);
    Ledger& ledger = *state.ledger;
    if constexpr (Language::fortran) ledger.hand.ierror = ierror_of<row.facts.arity>(args...);
    if constexpr (Size::completes)
        if (!Size::store(ledger, args...)) [[unlikely]]
            return plainly(args...);
    return leave_untimed_poll<Behind<Language>, typename Size::Booker>(real(args...), row.facts.counter);
}

// A call around which more is done than the clock and the cell, with what is in hand stored: its clock starts behind
// what is done before the real call. Reached by a tail call, as call_plainly() is.
template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline]] Word call_watched(Words... args) {
    constexpr auto id = static_cast<std::uint16_t>(Id);
    using Size = typename Library::template Size<Id, Language>;
    const auto real = reinterpret_cast<Word (*)(Words...)>(
        __atomic_load_n(&watched_slot_of<Library>(Spelling, id), __ATOMIC_RELAXED));
    if (!real || !Library::watches(id)) [[unlikely]]
        return call_plainly<Library, Id, Spelling, Language, Name>(args...);
    Ledger& ledger = *thread_state.ledger;
    const Word words[] = {args..., 0};
    Library::template before_real<Language>(FixedRow<Library, Id>(), ledger, words);
    ledger.hand.begin_at(counter());
    return leave_row<Library, Language, Size, typename Size::Watched>(real(args...));
}

// The same, where what is to be done before takes no function of its own; nothing is saved and restored around it.
template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline]] Word call_watched_at_once(Words... args) {
    using Size = typename Library::template Size<Id, Language>;
    constexpr auto id = static_cast<std::uint16_t>(Id);
    const Word words[] = {args..., 0};
    const auto real = reinterpret_cast<Word (*)(Words...)>(
        __atomic_load_n(&watched_slot_of<Library>(Spelling, id), __ATOMIC_RELAXED));
    if (!real || !Library::is_begun_at_once(FixedRow<Library, Id>(), words)) [[unlikely]]
        return call_watched<Library, Id, Spelling, Language, Name>(args...);
    thread_state.ledger->hand.begin_at(counter_among(args...));
    return leave_row<Library, Language, Size, typename Size::Watched>(real(args...));
}

// `elsewhere`: the plain form, or the fast form of what is watched, which goes on from here.
template <class Library, auto Id, class Language, class... Words>
[[gnu::always_inline]] inline Word call_timed_fast(ThreadState& state, void*& slot, const Word* frame,
                                                   Word (*plainly)(Words...), Word (*elsewhere)(Words...),
                                                   Words... args) {
    constexpr FixedRow<Library, Id> row;
    using Size = typename Library::template Size<Id, Language>;
    if constexpr (!Size::can_be_quick) return plainly(args...);
    state.token = frame;
    Ledger& ledger = *state.ledger;
    if constexpr (Language::fortran) ledger.hand.ierror = ierror_of<row.facts.arity>(args...);
    if (!Size::store(ledger, args...)) [[unlikely]]
        return plainly(args...);
    const auto return_address = reinterpret_cast<Word>(__builtin_return_address(0));
    ledger.hand.begin(call_key(row.facts.id, return_address));
    ledger.hand.begin_at(counter_among(args...));
    // Read last: it needs no register before, and where it is missing another form takes all of this over.
    const auto real = reinterpret_cast<Word (*)(Words...)>(__atomic_load_n(&slot, __ATOMIC_RELAXED));
    if (!real) [[unlikely]]
        return elsewhere(args...);
    return leave_row<Library, Language, Size, typename Size::Booker>(real(args...));
}

template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
requires WrappedLibrary<Library, Language>
[[gnu::always_inline]] inline Word call(Words... args) {
    constexpr auto facts = FixedRow<Library, Id>::facts;
    constexpr Treatment treatment = facts.treatment;
    constexpr auto plainly = &call_plainly<Library, Id, Spelling, Language, Name, Words...>;
    void*& slot = slot_of<Library>(Spelling, facts.id);
    ThreadState& state = thread_state;
    if constexpr ((facts.frees || facts.follows) && treatment != Treatment::counted) return plainly(args...);
    if (state.epoch != gate_epoch()) [[unlikely]]
        return call_in_new_epoch<Library, Id, Spelling, Language, Name>(args...);
    const Word* frame = MPIPROF_FRAME();
    if (frame < state.token) [[unlikely]] {
        if constexpr (facts.asks_itself) {
            const auto real = reinterpret_cast<Word (*)(Words...)>(__atomic_load_n(&slot, __ATOMIC_RELAXED));
            if (real && is_own_question<Library>(state, reinterpret_cast<Word>(__builtin_return_address(0))))
                return real(args...);
        }
        return plainly(args...);
    }

    if constexpr (treatment == Treatment::counted)
        return call_counted_fast<Library, Id, Language>(state, slot, frame, plainly, args...);
    else if constexpr (treatment == Treatment::polled)
        return call_polled_fast<Library, Id, Spelling, Language>(state, slot, frame, plainly, args...);
    else if constexpr (facts.may_be_watched_quickly)
        return call_timed_fast<Library, Id, Language>(
            state, slot, frame, plainly, &call_watched_at_once<Library, Id, Spelling, Language, Name, Words...>,
            args...);
    else
        return call_timed_fast<Library, Id, Language>(state, slot, frame, plainly, plainly, args...);
}

}  // namespace mpiprof::wrap
