// The plain form of a wrapper: everything that the fast form (wrap.h) leaves. First calls, new threads, nested calls,
// other clocks, errors, traces, whatever is new to the ledger; and always for calls of which more is to be done than
// the clock and the cell. One function for all symbols of a language: a symbol enters it with its arguments as an
// array. Its second half is in plain_second_half.h.
#pragma once

#include "libmpiprof/wrap/plain_second_half.h"
#include "libmpiprof/wrap/unrecorded_form.h"

namespace mpiprof::wrap {

// The clock of the call in hand starts.
template <class Library>
[[gnu::always_inline]] inline void begin(Ledger& ledger, std::uint16_t id, Word return_address, bool is_first) {
    const std::uint64_t key = call_key(id, return_address);
    if (is_first || is_made_by_scripts<Library>(id)) [[unlikely]]
        ledger.begin_in_script(key);
    else
        ledger.hand.begin(key, ledger.read_clock());
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
template <class Library, class Language, class Call>
[[gnu::always_inline]] inline void wait_for_others(const Call& call, Ledger* ledger) {
    if (!runtime.puts_barrier_before(call.row.facts.id) || call.is_foreign) return;
    if (!ledger && call.is_part) return;
    Library::template wait_first<Language>(call.row, ledger, call.frame, call.return_address, call.words);
}

template <class Library, class Language, class Call>
[[gnu::always_inline]] inline Word call_counted(const Call& call, Ledger& ledger) {
    const auto& facts = call.row.facts;
    const Word result = call.real();
    if (thread_state.token != untimed(call.frame)) return result;  // overtaken: what is in hand is another's
    if (Language::failed(result, ledger.hand)) {
        ledger.counters.count_error(facts.counter);
    } else {
        ledger.counters.count(facts.counter);
        if (facts.follows)
            Library::template follow<Language>(call.row, ledger, call_key(facts.id, call.return_address), call.words);
    }
    thread_state.token = nullptr;
    return result;
}

// A poll that is no sample.
template <class Library, class Call>
[[gnu::always_inline]] inline Word call_untimed_poll(const Call& call, Ledger& ledger, void* second) {
    const auto& facts = call.row.facts;
    const auto leave = reinterpret_cast<Word (*)(Word, Ledger&, Ticks, std::uint16_t)>(second);
    const bool is_traced = ledger.trace;
    if (is_traced) begin<Library>(ledger, facts.id, call.return_address, call.is_first);
    const Word result = call.real();
    const Ticks end = is_traced ? ledger.read_clock() : 0;
    if (is_traced) ledger.hand.leave();
    if (thread_state.token != untimed(call.frame)) return result;
    return leave(result, ledger, end, facts.counter);
}

// A call whose clock is read. What is asked about it once it has succeeded is asked outside the timed interval.
template <class Library, class Language, class Call>
[[gnu::always_inline]] inline Word call_timed(const Call& call, Ledger& ledger, bool is_sized, void* second) {
    const auto& facts = call.row.facts;
    thread_state.token = call.frame;
    // A site is learned when its call has returned; the first one may never do so.
    if (call.is_first) ledger.know_site(call.return_address);
    if (facts.may_be_watched && Library::watches(facts.id))
        Library::template before_real<Language>(call.row, ledger, call.words);
    ledger.before_call();
    begin<Library>(ledger, facts.id, call.return_address, call.is_first);
    const Word result = call.real();
    const Ticks end = ledger.read_clock();
    if (facts.may_be_watched && Library::watches(facts.id)) Library::after_real(call.row, result);
    if (thread_state.token != call.frame) return result;
    ledger.hand.leave();
    if (!is_sized && !Language::failed(result, ledger.hand))
        Library::template measure<Language>(call.row, ledger, call.words);
    if (facts.follows && !Language::failed(result, ledger.hand))
        Library::template follow<Language>(call.row, ledger, ledger.hand.made_from(), call.words);
    if (facts.treatment == Treatment::polled)
        return reinterpret_cast<Word (*)(Word, Ledger&, Ticks, std::uint16_t)>(second)(result, ledger, end,
                                                                                       facts.counter);
    return reinterpret_cast<Word (*)(Word, Ledger&, Ticks)>(second)(result, ledger, end);
}

template <class Library, class Language, class Call>
[[gnu::always_inline]] inline Word call_recorded(const Call& call, Ledger& ledger, void* second) {
    const auto& facts = call.row.facts;
    thread_state.token = facts.treatment == Treatment::timed ? call.frame : untimed(call.frame);
    if (facts.frees) Library::template before_free<Language>(call.row, ledger, call.words);
    if constexpr (Language::fortran) ledger.hand.ierror = ierror_in(call.words, facts);
    if (facts.treatment == Treatment::counted) return call_counted<Library, Language>(call, ledger);
    const bool is_sized = Library::template store<Language>(call.row, ledger, call.words);
    if (facts.treatment == Treatment::polled && !ledger.counters.is_sample(facts.counter))
        return call_untimed_poll<Library>(call, ledger, second);
    return call_timed<Library, Language>(call, ledger, is_sized, second);
}

// ---- of any symbol ----

// What a symbol is to its plain form, in one register.
struct Door {
    std::uint16_t id;
    std::uint8_t spelling : 7;
    bool rests : 1;          // its row's rests()
    std::uint8_t words : 7;  // how many its calls have
    bool is_first : 1;       // the process had not called this function before
};

// Recording is off, and the call is the user's: all that is done is to count it in its order and to follow the lives of
// handles.
template <class Library, class Language>
[[gnu::noinline]] Word rest_form(Word* words, const Word* frame, Door door, void* real) {
    const PlainCall<AnyRow<Library>, AnyReal> call{
        AnyRow<Library>(door.id), {real, words, door.words}, words, frame, 0};
    return call_without_ledger<Library, Language>(call);
}

// A call that is this thread's to record.
template <class Library, class Language>
[[gnu::noinline]] Word recorded_form(Word* words, const Word* frame, Word return_address, Door door, void* real,
                                     void* second) {
    const PlainCall<AnyRow<Library>, AnyReal> call{
        AnyRow<Library>(door.id), {real, words, door.words}, words, frame, return_address, door.is_first};
    return call_recorded<Library, Language>(call, *thread_state.ledger, second);
}

// A call of which it has to be found out what it is.
template <class Library, class Language>
[[gnu::noinline, gnu::cold]] Word unknown_form(Word* words, const Word* frame, Word return_address, Door door,
                                               const char* name, void* second) {
    const AnyRow<Library> row(door.id);
    const Found found = find_function<Library>(door.spelling, door.id, name, return_address);
    const auto [ledger, is_part] = enter_plainly(thread_state, frame, return_address, found.foreign);
    const PlainCall<AnyRow<Library>, AnyReal> call{
        row, {found.function, words, door.words}, words, frame, return_address, found.is_first, found.foreign, is_part};
    if (!found.function) return Library::missing(name);
    if (!is_part && !found.foreign &&
        Library::is_within_unseen(return_address, found.is_first ? found.function : nullptr)) [[unlikely]]
        return call.real();
    if (row.facts.may_wait_first) wait_for_others<Library, Language>(call, ledger);
    if (!ledger) return call_without_ledger<Library, Language>(call);
    if (!row.facts.frees && !row.facts.follows && !runtime.records_call(door.id)) {
        const Word result = call_unrecorded(found.function, words, door.words, frame);
        if (row.facts.is_in_order) Library::template count_unrecorded<Language>(row, words, result);
        return result;
    }
    door.is_first = found.is_first;
    return recorded_form<Library, Language>(words, frame, return_address, door, found.function, second);
}

// One function for all symbols of a language: the row is read as it goes. `frame` and `return_address` are the exported
// symbol's, whose arguments lie in `words`, which the real function gets; `second` is second_half().
template <class Library, class Language>
[[gnu::noinline]] Word plain_form(Word* words, const Word* frame, Word return_address, Door door, const char* name,
                                  void* second) {
    ThreadState& state = thread_state;
    // Where it lies here, the row's calls are recorded, and nothing is put before them (place_of_real).
    void* const known = __atomic_load_n(&slot_of<Library>(door.spelling, door.id), __ATOMIC_RELAXED);
    const std::uint64_t epoch = gate_epoch();
    if (known && epoch == 0 && frame >= state.token)
        return door.rests ? call_unrecorded(known, words, door.words, frame)
                          : rest_form<Library, Language>(words, frame, door, known);
    if (!known || state.epoch != epoch || untimed(frame) < state.token)
        return unknown_form<Library, Language>(words, frame, return_address, door, name, second);
    // The fast form took the token before it left, or its call was left by a longjmp.
    if (state.token >= frame) state.ledger->hand.leave();
    return recorded_form<Library, Language>(words, frame, return_address, door, known, second);
}

// From a symbol to there, with its arguments as an array. Reached by a tail call: the frame and the return address are
// those of the exported symbol.
template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline, gnu::cold]] Word call_plainly(Words... args) {
    constexpr unsigned n = sizeof...(Words);
    static_assert(n <= most_words || n == words_with_a_value, "forward() has a case for each");
    Word words[n + 1] = {args...};
    return plain_form<Library, Language>(
        words, MPIPROF_FRAME(), reinterpret_cast<Word>(__builtin_return_address(0)),
        {static_cast<std::uint16_t>(Id), Spelling, FixedRow<Library, Id>::facts.rests(), n, false}, Name::text(),
        second_half<Library, Id, Language>());
}

// ---- of one symbol ----

// A poll that is a sample, and that the fast form could have recorded but for its clock: nothing has to be found out
// about it. Every sixteenth is one, which is too often to read the row.
template <class Library, auto Id, int Spelling, class Language, class... Words>
[[gnu::noinline]] Word call_sampled(Words... args) {
    void* const real = __atomic_load_n(&slot_of<Library>(Spelling, static_cast<std::uint16_t>(Id)), __ATOMIC_RELAXED);
    Word words[sizeof...(Words) + 1] = {args...};
    const PlainCall<FixedRow<Library, Id>, decltype(fixed_real(std::index_sequence_for<Words...>()))> call{
        {}, {real, words}, words, MPIPROF_FRAME(), reinterpret_cast<Word>(__builtin_return_address(0))};
    return call_recorded<Library, Language>(call, *thread_state.ledger, second_half<Library, Id, Language>());
}

// A call that finds another epoch than it knows. What is handed on and nothing else goes by no more than this.
template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline, gnu::cold]] Word call_in_new_epoch(Words... args) {
    if (void* real = passed_on<Library>(Spelling, static_cast<std::uint16_t>(Id)))
        return reinterpret_cast<Word (*)(Words...)>(real)(args...);
    return call_plainly<Library, Id, Spelling, Language, Name>(args...);
}

}  // namespace mpiprof::wrap
