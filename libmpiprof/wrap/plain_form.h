// The plain form of a wrapper: everything that the fast form (wrap.h) leaves. First calls, new threads, nested calls,
// other clocks, errors, traces, whatever is new to the ledger; and always for calls of which more is to be done than
// the clock and the cell.
#pragma once

#include "libmpiprof/base/used_stack.h"
#include "libmpiprof/record/token.h"
#include "libmpiprof/wrap/booker.h"
#include "libmpiprof/wrap/unrecorded_form.h"

namespace mpiprof::wrap {

// What it uses below its own frame, but for a walk, which clears its own.
inline constexpr unsigned stack_of_plain_form = 896;

// The clock of the call in hand starts.
template <class Library>
[[gnu::always_inline]] inline void begin(Ledger& ledger, std::uint16_t id, Word return_address, bool is_first) {
    const std::uint64_t key = call_key(id, return_address);
    if (is_first || is_made_by_scripts<Library>(id)) [[unlikely]]
        ledger.begin_in_script(key);
    else
        ledger.hand.begin(key, ledger.read_clock());
}

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
[[gnu::noinline]] Word leave_poll(Word result, Ledger& ledger, Ticks end, std::uint16_t counter) {
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

// The second half of a poll that is no sample.
template <class Language, class Booker>
[[gnu::always_inline]] inline Word leave_untimed_poll(Word result, std::uint16_t counter) {
    ThreadState& state = thread_state;
    if constexpr (Booker::has_after_untimed)
        if (state.token != untimed(MPIPROF_FRAME())) [[unlikely]]
            return result;
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

struct Entered {
    // Null if the call is not ours to record: not started, paused, nested, a forked child, a second MPI.
    Ledger* ledger;
    bool is_part;  // of another call, recorded or not
};
// A call below a frame that holds the token, which may be a part of that one's call, or the frame is gone.
[[gnu::noinline]] inline Entered enter_below_token(ThreadState& state, const Word* frame, Word return_address) {
    Ledger& ledger = *state.ledger;
    if (!may_be_nested(state, frame, address_of(ledger.hand.key()), ledger.stack)) return {&ledger, false};
    const Nesting nesting = find_nesting(frame, state.token, return_address, ledger.stack);
    if (!nesting.is_certain) ledger.hand.count_unplaced();
    if (!nesting.is_nested) return {&ledger, false};
    ledger.hand.count_nested();
    return {nullptr, true};
}
[[gnu::noinline]] inline Entered enter_plainly(ThreadState& state, const Word* frame, Word return_address,
                                               bool foreign) {
    const bool is_current = state.epoch == gate_epoch();
    if (state.token == frame || state.token == untimed(frame)) {
        state.token = nullptr;  // the fast form took it before it left, or its call was left by a longjmp
        if (is_current) state.ledger->hand.leave();
    }
    if (foreign) return {nullptr, false};
    // Without a look at the ledger, which a forked child does not have.
    if (!is_current && !runtime.open(state))
        return {nullptr, frame < state.token && find_nesting(frame, state.token, return_address, {}).is_nested};
    if (frame < state.token) [[unlikely]]
        return enter_below_token(state, frame, return_address);
    return {state.ledger, false};
}

// The barrier that the user wants before calls of this row: all ranks come to it, also those that record nothing.
template <class Library, auto Id, class Language, class... Words>
[[gnu::always_inline]] inline void wait_for_others(const PlainCall& call, Ledger* ledger, Words... args) {
    if (!runtime.puts_barrier_before(static_cast<std::uint16_t>(Id)) || call.found.foreign) return;
    if (!ledger && call.is_part) return;
    const Word words[] = {args..., 0};
    Library::template wait_first<Id, Language>(ledger, call.frame, call.return_address, words);
}

template <class Library, auto Id, class Language, class... Words>
[[gnu::always_inline]] inline Word call_counted(const PlainCall& call, Ledger& ledger, Words... args) {
    constexpr std::uint16_t counter = Library::row(Id).counter;
    const Word result = call.real(args...);
    if (thread_state.token != untimed(call.frame)) return result;  // overtaken: what is in hand is another's
    const Word words[] = {args..., 0};
    if (Language::failed(result, ledger.hand)) {
        ledger.counters.count_error(counter);
    } else {
        ledger.counters.count(counter);
        if constexpr (Library::follows(Id))
            Library::template follow<Id, Language>(
                ledger, call_key(static_cast<std::uint16_t>(Id), call.return_address), words);
    }
    thread_state.token = nullptr;
    return result;
}

// A poll that is no sample.
template <class Library, auto Id, class Language, class Booker, class... Words>
[[gnu::always_inline]] inline Word call_untimed_poll(const PlainCall& call, Ledger& ledger, Words... args) {
    constexpr std::uint16_t counter = Library::row(Id).counter;
    if (!Booker::has_after_untimed || !ledger.trace)
        return leave_untimed_poll<Behind<Language>, Booker>(call.real(args...), counter);
    begin<Library>(ledger, static_cast<std::uint16_t>(Id), call.return_address, call.found.is_first);
    const Word result = call.real(args...);
    const Ticks end = ledger.read_clock();
    ledger.hand.leave();
    if (thread_state.token != untimed(call.frame)) return result;
    trace_poll<Library, Behind<Language>, Booker>(ledger, result, ledger.hand.ticks_until(end), call.frame);
    return leave_untimed_poll<Behind<Language>, Booker>(result, counter);
}

// A call whose clock is read. What is asked about it once it has succeeded is asked outside the timed interval.
template <class Library, auto Id, class Language, class Size, class... Words>
[[gnu::always_inline]] inline Word call_timed(const PlainCall& call, Ledger& ledger, bool is_sized, Words... args) {
    using Booker = typename Size::Booker;
    constexpr Call row = Library::row(Id);
    constexpr auto id = static_cast<std::uint16_t>(Id);
    thread_state.token = call.frame;
    // A site is learned when its call has returned; the first one may never do so.
    if (call.found.is_first) ledger.know_site(call.return_address);
    if constexpr (Library::may_be_watched(Id))
        if (Library::watches(id)) {
            const Word words[] = {args..., 0};
            Library::template before_real<Id, Language>(ledger, words);
        }
    ledger.before_call();
    begin<Library>(ledger, id, call.return_address, call.found.is_first);
    const Word result = call.real(args...);
    const Ticks end = ledger.read_clock();
    if constexpr (Library::may_be_watched(Id))
        if (Library::watches(id)) Library::template after_real<Id>(result);
    if (thread_state.token != call.frame) return result;
    ledger.hand.leave();
    if (!is_sized) {
        const Word words[] = {args..., 0};
        if (!Language::failed(result, ledger.hand)) Size::measure(ledger, words);
    }
    if constexpr (Library::follows(Id)) {
        const Word words[] = {args..., 0};
        if (!Language::failed(result, ledger.hand))
            Library::template follow<Id, Language>(ledger, ledger.hand.made_from(), words);
    }
    if constexpr (row.treatment == Treatment::polled)
        return leave_poll<Library, Behind<Language>, Booker>(result, ledger, end, row.counter);
    else
        return leave_plainly<Library, Behind<Language>, Booker>(result, ledger, end);
}

template <class Library, auto Id, class Language, class... Words>
[[gnu::always_inline]] inline Word call_recorded(const PlainCall& call, Ledger& ledger, Words... args) {
    constexpr Call row = Library::row(Id);
    thread_state.token = row.treatment == Treatment::timed ? call.frame : untimed(call.frame);
    if constexpr (Library::frees(Id)) {
        const Word words[] = {args...};
        Library::template before_free<Id, Language>(ledger, words);
    }
    if constexpr (Language::fortran) ledger.hand.ierror = ierror_of<row.arity>(args...);
    if constexpr (row.treatment == Treatment::counted) {
        return call_counted<Library, Id, Language>(call, ledger, args...);
    } else {
        using Size = typename Library::template Size<Id, Language>;
        static_assert(HasSize<Size>);
        Size::make_room(ledger, args...);
        const bool is_sized = Size::store(ledger, args...);
        if constexpr (row.treatment == Treatment::polled)
            if (!ledger.counters.is_sample(row.counter))
                return call_untimed_poll<Library, Id, Language, typename Size::Booker>(call, ledger, args...);
        return call_timed<Library, Id, Language, Size>(call, ledger, is_sized, args...);
    }
}

// A poll that is a sample, and that the fast form could have recorded but for its clock: nothing has to be found out
// about it. Reached by a tail call, as call_plainly() is.
template <class Library, auto Id, int Spelling, class Language, class... Words>
[[gnu::noinline]] Word call_sampled(Words... args) {
    void* const real = __atomic_load_n(&slot_of<Library, Spelling>(static_cast<std::uint16_t>(Id)), __ATOMIC_RELAXED);
    const Found found{real, false, false};
    const PlainCall call{found, MPIPROF_FRAME(), reinterpret_cast<Word>(__builtin_return_address(0)), false};
    return call_recorded<Library, Id, Language>(call, *thread_state.ledger, args...);
}

// Reached by a tail call: the frame and the return address are those of the exported symbol.
template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline, gnu::cold]] Word call_plainly(Words... args) {
    const auto return_address = reinterpret_cast<Word>(__builtin_return_address(0));
    const Word* frame = MPIPROF_FRAME();
    constexpr auto id = static_cast<std::uint16_t>(Id);
    const Found found = find_function<Library, Spelling>(id, Name::text(), return_address);
    const auto [ledger, is_part] = enter_plainly(thread_state, frame, return_address, found.foreign);
    const PlainCall call{found, frame, return_address, is_part};
    if (!found.function) return Library::missing(Name::text());
    if (!is_part && !found.foreign &&
        Library::is_within_unseen(return_address, found.is_first ? found.function : nullptr)) [[unlikely]]
        return call.real(args...);
    if constexpr (Library::may_wait_first(Id)) wait_for_others<Library, Id, Language>(call, ledger, args...);
    if (!ledger) return call_without_ledger<Library, Id, Language>(call, args...);
    if constexpr (!Library::frees(Id) && !Library::follows(Id))
        if (!runtime.records_call(id)) {
            const Word result = call_unrecorded(call.real_as<Words...>(), frame, args...);
            if constexpr (Library::is_in_order(Id)) {
                const Word words[] = {args..., 0};
                Library::template count_unrecorded<Id, Language>(words, result);
            }
            return result;
        }
    return call_recorded<Library, Id, Language>(call, *ledger, args...);
}

// A call that may find recording off: if it is the user's, all that is done is to count it in its order and to follow
// the lives of handles.
template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline, gnu::cold]] Word call_at_rest(Words... args) {
    if constexpr (!Library::hears_of_unrecorded(Id)) {
        void* real = __atomic_load_n(&slot_of<Library, Spelling>(static_cast<std::uint16_t>(Id)), __ATOMIC_RELAXED);
        const Found found{real, false, false};
        const Word* frame = MPIPROF_FRAME();
        if (real && gate_epoch() == 0 && frame >= thread_state.token)
            return call_without_ledger<Library, Id, Language>({found, frame, 0, false}, args...);
    }
    return call_plainly<Library, Id, Spelling, Language, Name>(args...);
}

// A call that finds another epoch than it knows. What is handed on and nothing else goes by no more than this.
template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline, gnu::cold]] Word call_in_new_epoch(Words... args) {
    if (void* real = passed_on<Library, Spelling>(static_cast<std::uint16_t>(Id)))
        return reinterpret_cast<Word (*)(Words...)>(real)(args...);
    return call_at_rest<Library, Id, Spelling, Language, Name>(args...);
}

}  // namespace mpiprof::wrap
