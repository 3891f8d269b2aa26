// From a row to what its exported symbol does: take the token, read the clock, forward every register as it came, read
// the clock, describe, record. Templates, so that a row's knowledge is compiled into its symbol; one per treatment.
// Instantiated by mpi/ (and nccl/) with their Library; knows no MPI itself.
//
// Two forms of the same steps. call() and leave() are the fast form: no function is called but the real one, so nothing
// is saved and restored around it; whatever is not the common case leaves them by a tail call. call_plainly() and
// leave_plainly() are the plain form for everything else: first calls, new threads, nested calls, other clocks, errors.
//
// A Library is a struct of static members: `first_id` and `calls` (its part of the ids), `spellings` (how many symbols a
// row may have), `row(id)`, `real(name)` (its real function; where there is none, missing()), `is_off()`, `begin_late()`,
// `frees(id)` (the call ends a handle's life), `follows(id)` (a successful call has consequences beyond its cell: follow(),
// and where `always_follows` these do not wait for recording: follow_unrecorded()), where it has one `may_wait_first(id)`
// (the user may put a barrier before it: wait_first()), where it has one `watches(id)` (something else is to be done around
// each call: before_real() and after_real(), or unrecorded() while nothing is recorded; these take the plain form),
// may_be_quick(id)` (false: its calls take the plain form),
// and the slow questions that are asked after a successful call: meaning() and Size (what a row's message size is, and
// its Booker). Size::store() may put something of ours in the place of an argument that the caller ignores.
#pragma once

#include "libmpiprof/process/runtime.h"
#include "libmpiprof/record/token.h"
#include "libmpiprof/wrap/real.h"

namespace mpiprof::wrap {

// The real functions, by spelling and row; filled at each one's first call. In .bss: no relocations, no pages until used.
template <class Library>
constinit inline void* reals[Library::spellings][Library::calls]{};
// The same for what is no matter of the fast form, which finds none above and leaves: functions that the user left out or
// put a barrier before, and all of a library that is off.
template <class Library>
constinit inline void* reals_aside[Library::spellings][Library::calls]{};
template <class Library, int Spelling>
void*& slot_of(std::uint16_t id) {
    return reals<Library>[Spelling][id - Library::first_id];
}

// Calls that scripts were seen to make, which take the plain form from then on: it tells the script's line before the real
// call, which a rank that hangs does not come back from.
template <class Library>
constinit inline std::atomic<bool> made_by_scripts[Library::calls]{};
template <class Library>
std::size_t row_index(std::uint16_t id) {  // the same for the barrier that is put before its calls
    return id % Catalogue::barrier_before - Library::first_id;
}
template <class Library>
bool is_made_by_scripts(std::uint16_t id) {
    return made_by_scripts<Library>[row_index<Library>(id)].load(std::memory_order_relaxed);
}
template <class Library>
[[gnu::noinline, gnu::cold]] void learn_that_scripts_make(std::uint16_t id) {
    made_by_scripts<Library>[row_index<Library>(id)].store(true, std::memory_order_relaxed);
    for (auto& spelling : reals<Library>) __atomic_store_n(&spelling[row_index<Library>(id)], static_cast<void*>(nullptr), __ATOMIC_RELAXED);
}

// The clock of the call in hand starts.
template <class Library>
[[gnu::always_inline]] inline void begin(Ledger& ledger, std::uint16_t id, Word return_address, bool is_first) {
    const std::uint64_t key = call_key(id, return_address);
    if (is_first || is_made_by_scripts<Library>(id)) [[unlikely]] ledger.begin_in_script(key);
    else ledger.begin(key, ledger.read_clock());
}

// How a language passes what the wrappers read. `large`: counts are 64 bits wide.
template <bool Large>
struct C {
    static constexpr bool fortran = false;
    static std::int64_t count(Word w) { return Large ? w : static_cast<int>(w); }  // the upper half is garbage
    static std::int64_t count_at(Word array, std::int64_t i) {
        return Large ? reinterpret_cast<const std::int64_t*>(array)[i] : reinterpret_cast<const int*>(array)[i];
    }
    static int integer(Word w) { return static_cast<int>(w); }
    static Word handle(Word w) { return w; }
    static bool failed(Word result, const CallInHand&) { return static_cast<int>(result) != 0; }
};
template <bool Large>
struct Fortran {
    static constexpr bool fortran = true;
    static std::int64_t count(Word w) { return count_at(w, 0); }
    static std::int64_t count_at(Word array, std::int64_t i) { return C<Large>::count_at(array, i); }
    static int integer(Word w) { return *reinterpret_cast<const int*>(w); }
    static Word handle(Word w) { return *reinterpret_cast<const int*>(w); }
    // Fortran 2008 may leave ierror out; then errors are fatal by default and never come back here.
    static bool failed(Word, const CallInHand& hand) { return hand.ierror && *hand.ierror != 0; }
};

// The word behind the C arguments.
template <int Arity, class... Words>
[[gnu::always_inline]] inline const int* ierror_of(Words... args) {
    const Word words[] = {args..., 0};
    return reinterpret_cast<const int*>(words[Arity]);
}

// A row's Booker says what its second half does, with what the first half stored. Booked is count x size of `type`; type
// no_handle: count is in bytes. This one books what was stored, and does nothing else.
struct AsStored {
    // What a memo has to agree on, beside where the call was made.
    static constexpr bool has_type = true, has_comm = true;
    static Booking booking(const CallInHand& hand) { return {hand.type, hand.count}; }
    static Bytes bytes(const CallInHand&, const Booking& b, std::uint64_t type_size) { return static_cast<Bytes>(b.count) * type_size; }
    // The same for the fast form, which reads what is in hand where it is used. False: it takes more than a look at what the
    // call has left, which is `seen` then.
    static bool look(const CallInHand&, std::int64_t&) { return true; }
    static Word quick_type(const CallInHand& hand) { return hand.type; }
    static std::int64_t quick_count(const CallInHand& hand, std::int64_t) { return hand.count; }
    static Bytes quick_bytes(const CallInHand& hand, std::int64_t, std::uint64_t type_size) { return static_cast<Bytes>(hand.count) * type_size; }
    // With whom it exchanged messages, if that takes but a look; it is then counted by the fast form itself.
    static constexpr bool has_partner = false;
    static std::true_type quick_partner(const Ledger&, std::size_t) { return {}; }
    static void add_partner(std::true_type, const CallInHand&, const Memo&, Bytes, Ticks) {}
    // What there is to do besides. False, and nothing done: after() does it, partners included.
    static bool quick_after(Ledger&, const Memo&, Bytes, Ticks) { return true; }
    static void after(Ledger&, Memo&, Bytes, Ticks) {}
    // Writes the call into the trace that the user asked for; before after().
    static void trace(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) { ledger.trace_call(memo, bytes, ticks); }
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
template <class Booker>
struct WithoutComm : Booker {
    static constexpr bool has_comm = false;
};

// ---- the plain form ----

// The memo of the call in hand, learned if it is new. `bytes`: what is to be booked.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Memo& memo_of(Ledger& ledger, std::uint64_t key, Bytes& bytes) {
    CallInHand& hand = ledger.hand;
    const Booking asked = Booker::booking(hand);
    // Of another kind of memory a place has memos of its own: the kind is part of what they call the type.
    const Booking b{asked.type ^ static_cast<Word>(hand.buffer) << 58, asked.count};
    const Word comm = ledger.comm();
    const format::BufferKind buffer = hand.buffer;
    hand.buffer = format::BufferKind::host;
    const Word* frame = thread_state.token;  // ours
    if (Memo* memo = ledger.known_memo(key, b, comm, frame, [&](std::uint64_t size) { return bytes = Booker::bytes(hand, b, size); })) return *memo;
    Meaning meaning = Library::template meaning<Language>(ledger, asked.type, comm, b.count);
    meaning.buffer = buffer;
    bytes = Booker::bytes(hand, b, meaning.type_size);
    Memo& memo = ledger.learn(key, b, comm, frame, meaning, bytes);
    if constexpr (Booker::has_partner) ledger.forget_peer(memo);
    if (ledger.is_scripted() && !is_made_by_scripts<Library>(call_of(key))) learn_that_scripts_make<Library>(call_of(key));
    return memo;
}

// What is left to do of a call that is booked.
template <class Booker>
[[gnu::noinline]] Word leave_after(Word result, Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
    Booker::after(ledger, memo, bytes, ticks);
    thread_state.token = nullptr;
    return result;
}

// The second half of a call that ended then: anything that leave() does not do itself.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_plainly(Word result, Ledger& ledger, Ticks end) {
    const std::uint64_t key = ledger.key();
    Ticks ticks = ledger.ticks_until(end);
    if (Language::failed(result, ledger.hand)) {
        ledger.hand.buffer = format::BufferKind::host;
        ledger.add_error(key, 0, thread_state.token);
        if (ledger.is_traced()) ledger.trace_error(ticks);
        thread_state.token = nullptr;
        return result;
    }
    Bytes bytes = 0;
    Memo& memo = memo_of<Library, Language, Booker>(ledger, key, bytes);
    ticks = ledger.sane(ticks);
    ledger.add(memo, bytes, ticks);
    if (ledger.turns_bin(end)) {
        ledger.turn_bin(bytes, ticks);
        if constexpr (requires { Library::looks_again(); }) Library::looks_again();
    }
    if (ledger.is_traced()) [[unlikely]] Booker::trace(ledger, memo, bytes, ticks);
    return leave_after<Booker>(result, ledger, memo, bytes, ticks);
}

// The second half of a poll that is a sample: its time stands for `weight` polls.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_poll(Word result, Ledger& ledger, Ticks ticks, std::uint16_t counter, unsigned weight) {
    if (Language::failed(result, ledger.hand)) {
        ledger.count_error(counter);
    } else {
        ledger.count(counter);
        Bytes bytes = 0;
        Memo& memo = memo_of<Library, Language, Booker>(ledger, ledger.key(), bytes);
        ticks = ledger.sane(ticks);
        ledger.add_poll(memo, ticks, weight);
        if (ledger.turns_bin(ledger.since() + ticks)) ledger.turn_bin(bytes, ticks);
        if constexpr (Booker::has_after_untimed)
            if (ledger.is_traced()) Booker::trace(ledger, memo, bytes, ticks);
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
        if (state.token != untimed(MPIPROF_FRAME())) [[unlikely]] return result;
    Ledger& ledger = *state.ledger;
    if (Language::failed(result, ledger.hand)) [[unlikely]] {
        ledger.count_error(counter);
    } else {
        ledger.count(counter);
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
    const Memo* known = ledger.known_memo(ledger.key(), b, ledger.comm(), frame, [&](std::uint64_t size) { return Booker::bytes(ledger.hand, b, size); });
    const format::Cell nowhere{};
    Memo unknown{};
    unknown.cell = const_cast<format::Cell*>(&nowhere);
    Booker::trace(ledger, known ? *known : unknown, 0, ledger.sane(ticks));
}

struct Found {
    void* function; // null: nobody defines it
    bool foreign;   // of a second MPI: pass through, unrecorded
    bool is_first;  // this process had not called it before
};

// Of a library that is off: passed through, unrecorded, and looked for but once.
template <class Library, int Spelling>
Found find_while_off(std::uint16_t id, const char* name, Word return_address) {
    void*& slot = reals_aside<Library>[Spelling][id - Library::first_id];
    void* known = __atomic_load_n(&slot, __ATOMIC_RELAXED);
    if (!known) {
        known = Library::template real<Spelling>(name, return_address).function;
        if (!Library::several()) __atomic_store_n(&slot, known, __ATOMIC_RELAXED);
    }
    return {known, true, false};
}

// Not every library has calls that it wants to do more around than the clock and the cell.
template <class Library, auto Id>
inline constexpr bool may_be_watched = [] {
    if constexpr (requires { Library::may_be_watched(Id); }) return Library::may_be_watched(Id);
    else return false;
}();
template <class Library>
bool is_watched(std::uint16_t id) {
    if constexpr (requires { Library::watches(id); }) return Library::watches(id);
    else return false;
}

// Nor does every library have some that are the plain form's.
template <class Library>
bool may_be_quick(std::uint16_t id) {
    if constexpr (requires { Library::may_be_quick(id); }) return Library::may_be_quick(id);
    else return true;
}

// First call of a function, and every call once a second MPI was met: then each caller gets its own MPI's function.
template <class Library, int Spelling>
[[gnu::noinline]] Found find_function(std::uint16_t id, const char* name, Word return_address) {
    void*& slot = slot_of<Library, Spelling>(id);
    if (void* known = __atomic_load_n(&slot, __ATOMIC_RELAXED)) return {known, false, false};
    if (Library::is_off()) return find_while_off<Library, Spelling>(id, name, return_address);
    void*& aside = reals_aside<Library>[Spelling][id - Library::first_id];
    if (void* known = __atomic_load_n(&aside, __ATOMIC_RELAXED); known && !Library::several()) return {known, false, false};
    const Real real = Library::template real<Spelling>(name, return_address);
    if (!real.function) return {nullptr, true, true};
    if (runtime.has_not_begun()) Library::begin_late(id, real.function);
    // The dictionary learns here which calls there are, so that counting one never has to ask.
    if (runtime.knows_call(id) && !Library::several())
        __atomic_store_n(runtime.records_call(id) && !runtime.puts_barrier_before(id) && !is_watched<Library>(id) &&
                                 !is_made_by_scripts<Library>(id) && may_be_quick<Library>(id)
                             ? &slot
                             : &aside,
                         real.function, __ATOMIC_RELAXED);
    return {real.function, Library::is_foreign(real), true};
}

// Null if this call is not ours to record: not started, nested, a forked child, a second MPI.
[[gnu::noinline]] inline Ledger* enter_plainly(ThreadState& state, const Word* frame, Word return_address, bool foreign) {
    const bool is_current = state.epoch == gate_epoch();
    if (is_current && (state.token == frame || state.token == untimed(frame))) {  // the fast form took it, and thought better of it
        state.token = nullptr;
        state.ledger->leave_call();
    }
    if (foreign) return nullptr;
    if (!is_current && !runtime.open(state)) return nullptr;
    if (may_be_nested(state, frame, address_of(state.ledger->key())) && is_nested(return_address)) {
        state.ledger->count_nested();
        return nullptr;
    }
    return state.ledger;
}

// What is watched from now on leaves the fast form: its next call finds no function there.
template <class Library>
void look_at_all_again() {
    for (int spelling = 0; spelling < Library::spellings; ++spelling)
        for (std::size_t i = 0; i < Library::calls; ++i)
            if (is_watched<Library>(static_cast<std::uint16_t>(Library::first_id + i)))
                __atomic_store_n(&reals<Library>[spelling][i], static_cast<void*>(nullptr), __ATOMIC_RELAXED);
}

// Not every library has calls before which ranks could wait for each other.
template <class Library, auto Id>
inline constexpr bool may_wait_first = [] {
    if constexpr (requires { Library::may_wait_first(Id); }) return Library::may_wait_first(Id);
    else return false;
}();

// A call that the user left out: what it calls in turn is not recorded either.
template <class... Words>
Word call_unrecorded(Word (*real)(Words...), const Word* frame, Words... args) {
    thread_state.token = untimed(frame);
    const Word result = real(args...);
    if (thread_state.token == untimed(frame)) thread_state.token = nullptr;
    return result;
}

template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline, gnu::cold]] Word call_plainly(Words... args) {
    // Reached by a tail call: the frame and the return address are those of the exported symbol.
    const auto return_address = reinterpret_cast<Word>(__builtin_return_address(0));
    const Word* frame = MPIPROF_FRAME();
    constexpr Call row = Library::row(Id);
    constexpr auto id = static_cast<std::uint16_t>(Id);
    const Found found = find_function<Library, Spelling>(id, Name::text(), return_address);
    const auto real = reinterpret_cast<Word (*)(Words...)>(found.function);
    Ledger* ledger = enter_plainly(thread_state, frame, return_address, found.foreign);
    if (!real) return Library::missing(Name::text());
    if constexpr (may_wait_first<Library, Id>)
        if (runtime.puts_barrier_before(id) && !found.foreign && (ledger || !is_nested(return_address))) {
            const Word words[] = {args..., 0};
            Library::template wait_first<Id, Language>(ledger, frame, return_address, words);
        }
    if (!ledger) {
        if constexpr (may_be_watched<Library, Id>) {
            const Word result = real(args...);
            const Word words[] = {args..., 0};
            if (!found.foreign && is_watched<Library>(id) && gate_epoch() == 0 && !is_nested(return_address)) Library::template unrecorded<Id>(words, result);
            return result;
        }
        if constexpr (Library::always_follows && Library::follows(Id)) {
            const Word result = real(args...);
            const Word words[] = {args..., 0};
            if (!found.foreign && !Language::failed(result, {})) Library::template follow_unrecorded<Id>(words);
            return result;
        }
        return real(args...);
    }
    if constexpr (!Library::frees(Id) && !Library::follows(Id))
        if (!runtime.records_call(id)) return call_unrecorded(real, frame, args...);
    thread_state.token = row.treatment == Treatment::timed ? frame : untimed(frame);
    if constexpr (Library::frees(Id)) {
        const Word words[] = {args...};
        Library::template before_free<Id, Language>(*ledger, words);
    }
    if constexpr (Language::fortran) ledger->hand.ierror = ierror_of<row.arity>(args...);

    if constexpr (row.treatment == Treatment::counted) {
        const Word result = real(args...);
        if (thread_state.token != untimed(frame)) return result;  // overtaken: what is in hand is another's
        const Word words[] = {args..., 0};
        if (Language::failed(result, ledger->hand)) {
            ledger->count_error(row.counter);
        } else {
            ledger->count(row.counter);
            if constexpr (Library::follows(Id)) Library::template follow<Id, Language>(*ledger, words);
        }
        thread_state.token = nullptr;
        return result;
    } else {
        using Size = typename Library::template Size<Id, Language>;
        using Booker = typename Size::Booker;
        Size::make_room(*ledger, args...);
        const bool is_sized = Size::store(*ledger, args...);
        if constexpr (row.treatment == Treatment::polled)
            if (!ledger->is_sample(row.counter)) {
                if (!Booker::has_after_untimed || !ledger->is_traced()) return leave_untimed_poll<Language, Booker>(real(args...), row.counter);
                begin<Library>(*ledger, id, return_address, found.is_first);
                const Word result = real(args...);
                const Ticks end = ledger->read_clock();
                ledger->leave_call();
                if (thread_state.token != untimed(frame)) return result;
                trace_poll<Library, Language, Booker>(*ledger, result, ledger->ticks_until(end), frame);
                return leave_untimed_poll<Language, Booker>(result, row.counter);
            }
        thread_state.token = frame;
        // A site is learned when its call has returned; the first one may never do so.
        if (found.is_first) ledger->know_site(return_address);
        if constexpr (may_be_watched<Library, Id>)
            if (is_watched<Library>(id)) {
                const Word words[] = {args..., 0};
                Library::template before_real<Id, Language>(*ledger, words);
            }
        begin<Library>(*ledger, id, return_address, found.is_first);
        const Word result = real(args...);
        const Ticks end = ledger->read_clock();
        if constexpr (may_be_watched<Library, Id>)
            if (is_watched<Library>(id)) Library::template after_real<Id>(result);
        if (thread_state.token != frame) return result;
        ledger->leave_call();
        if (!is_sized) {  // found out outside the timed interval
            const Word words[] = {args..., 0};
            if (!Language::failed(result, ledger->hand)) Size::measure(*ledger, words);
        }
        if constexpr (Library::follows(Id)) {
            const Word words[] = {args..., 0};
            if (!Language::failed(result, ledger->hand)) Library::template follow<Id, Language>(*ledger, words);
        }
        if constexpr (row.treatment == Treatment::polled)
            return leave_poll<Library, Language, Booker>(result, *ledger, ledger->ticks_until(end), row.counter, ledger->sample_weight(row.counter));
        else
            return leave_plainly<Library, Language, Booker>(result, *ledger, end);
    }
}

// ---- the fast form ----

// Whether this memo of the same place is of the handles in hand.
template <class Booker>
[[gnu::always_inline]] inline bool is_alike(const Ledger& ledger, const Memo& memo) {
    if constexpr (Booker::has_type)
        if (memo.type != Booker::quick_type(ledger.hand)) [[unlikely]] return false;
    if constexpr (Booker::has_comm)
        if (memo.comm != ledger.comm()) [[unlikely]] return false;
    return true;
}

// The second half of a call that did not find its memo in the first place.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_again(Word result, Ledger& ledger, Ticks ticks) {
    const std::uint64_t key = ledger.key();
    std::int64_t seen = 0;
    if (!Booker::look(ledger.hand, seen)) [[unlikely]] return leave_plainly<Library, Language, Booker>(result, ledger, ledger.since() + ticks);
    const Booking b{Booker::quick_type(ledger.hand), Booker::quick_count(ledger.hand, seen)};
    Memo& memo = ledger.second_memo(key, b, Booker::has_comm ? ledger.comm() : no_handle, MPIPROF_FRAME());
    if (memo.key != key || !Ledger::is_called_alike(memo, MPIPROF_FRAME()) || !is_alike<Booker>(ledger, memo)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.since() + ticks);
    const auto partner = Booker::quick_partner(ledger, ledger.place_of(memo));
    const Bytes bytes = Booker::quick_bytes(ledger.hand, seen, memo.type_size);
    if (!partner || !ledger.add_fast(memo, bytes, ticks)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, ledger.since() + ticks);
    if (!Booker::quick_after(ledger, memo, bytes, ticks)) return leave_after<Booker>(result, ledger, memo, bytes, ticks);
    Booker::add_partner(partner, ledger.hand, memo, bytes, ticks);
    thread_state.token = nullptr;
    return result;
}

// The same where the first place is another call's.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_disputed(Word result, Ledger& ledger, Ticks ticks) {
    if (ledger.takes_turn(ledger.key())) [[unlikely]] return leave_plainly<Library, Language, Booker>(result, ledger, ledger.since() + ticks);
    return leave_again<Library, Language, Booker>(result, ledger, ticks);
}

template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave(Word result) {
    ThreadState& state = thread_state;
    const Word* frame = MPIPROF_FRAME();
    if (state.token != frame) [[unlikely]] return result;  // overtaken: what is in hand is another's
    asm("" : "+r"(frame));  // else it is the token, which had to be loaded
    Ledger& ledger = *state.ledger;
    const std::uint64_t key = ledger.key_in_call();
    // Read last: the loads above run ahead of it, and those that depend on them would wait for it.
    const Ticks end = counter();
    ledger.leave_call();
    if (Language::failed(result, ledger.hand) || ledger.turns_bin(end)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, end);
    const Ticks ticks = ledger.ticks_until(end);
    const std::size_t place = ledger.place(key);
    Memo& memo = ledger.memo_at(place);
    if (memo.key != key) [[unlikely]] return leave_disputed<Library, Language, Booker>(result, ledger, ticks);
    if (!Ledger::is_called_alike(memo, frame)) [[unlikely]]
        return leave_again<Library, Language, Booker>(result, ledger, ticks);
    const auto partner = Booker::quick_partner(ledger, place);
    if (!partner) [[unlikely]] return leave_again<Library, Language, Booker>(result, ledger, ticks);
    std::int64_t seen = 0;
    if (!Booker::look(ledger.hand, seen)) [[unlikely]] return leave_plainly<Library, Language, Booker>(result, ledger, end);
    if (!is_alike<Booker>(ledger, memo)) [[unlikely]]
        return leave_again<Library, Language, Booker>(result, ledger, ticks);
    const Bytes bytes = Booker::quick_bytes(ledger.hand, seen, memo.type_size);
    if (!ledger.add_fast(memo, bytes, ticks)) [[unlikely]]
        return leave_again<Library, Language, Booker>(result, ledger, ticks);
    if (!Booker::quick_after(ledger, memo, bytes, ticks)) [[unlikely]] return leave_after<Booker>(result, ledger, memo, bytes, ticks);
    Booker::add_partner(partner, ledger.hand, memo, bytes, ticks);
    in_place<'D'>(result);
    state.token = nullptr;
    return result;
}

template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::always_inline]] inline Word call(Words... args) {
    constexpr Call row = Library::row(Id);
    constexpr auto id = static_cast<std::uint16_t>(Id);
    constexpr auto plainly = &call_plainly<Library, Id, Spelling, Language, Name, Words...>;
    void*& slot = slot_of<Library, Spelling>(id);
    using Function = Word (*)(Words...);
    ThreadState& state = thread_state;
    if constexpr (Library::frees(Id) || Library::follows(Id)) return plainly(args...);
    if (state.epoch != gate_epoch()) [[unlikely]] return plainly(args...);
    const Word* frame = MPIPROF_FRAME();
    if (frame < state.token) [[unlikely]] return plainly(args...);

    if constexpr (row.treatment == Treatment::counted) {
        const auto real = reinterpret_cast<Function>(__atomic_load_n(&slot, __ATOMIC_RELAXED));
        if (!real) [[unlikely]] return plainly(args...);
        state.token = untimed(frame);
        if constexpr (Language::fortran) state.ledger->hand.ierror = ierror_of<row.arity>(args...);
        const Word result = real(args...);
        ThreadState& after = thread_state;
        Ledger& same = *after.ledger;
        if (Language::failed(result, same.hand)) [[unlikely]] same.count_error(row.counter);
        else same.count(row.counter);
        after.token = nullptr;
        return result;
    } else if constexpr (row.treatment == Treatment::polled) {
        using Size = typename Library::template Size<Id, Language>;
        const auto real = reinterpret_cast<Function>(__atomic_load_n(&slot, __ATOMIC_RELAXED));
        if (!real || state.ledger->is_sample(row.counter)) [[unlikely]] return plainly(args...);
        state.token = untimed(frame);
        Ledger& ledger = *state.ledger;
        if constexpr (Language::fortran) ledger.hand.ierror = ierror_of<row.arity>(args...);
        if constexpr (Size::completes)
            if (!Size::store(ledger, args...)) [[unlikely]] return plainly(args...);
        return leave_untimed_poll<Language, typename Size::Booker>(real(args...), row.counter);
    } else {
        using Size = typename Library::template Size<Id, Language>;
        if constexpr (!Size::can_be_quick) return plainly(args...);
        state.token = frame;
        Ledger& ledger = *state.ledger;
        if constexpr (Language::fortran) ledger.hand.ierror = ierror_of<row.arity>(args...);
        if (!Size::store(ledger, args...)) [[unlikely]] return plainly(args...);
        const auto return_address = reinterpret_cast<Word>(__builtin_return_address(0));
        ledger.begin(call_key(id, return_address));
        ledger.begin_at(counter_among(args...));
        // Read last: it needs no register before, and where it is missing the plain form takes all of this over.
        const auto real = reinterpret_cast<Function>(__atomic_load_n(&slot, __ATOMIC_RELAXED));
        if (!real) [[unlikely]] return plainly(args...);
        return leave<Library, Language, typename Size::Booker>(real(args...));
    }
}

}  // namespace mpiprof::wrap
