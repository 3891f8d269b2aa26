// From a row to what its exported symbol does: take the token, read the clock, forward every register as it came, read
// the clock, describe, record. Templates, so that a row's knowledge is compiled into its symbol; one per treatment.
// Instantiated by mpi/ (and nccl/) with their Library; knows no MPI itself.
//
// Two forms of the same steps. call() and leave() are the fast form: no function is called but the real one, so nothing
// is saved and restored around it; whatever is not the common case leaves them by a tail call. call_plainly() and
// leave_plainly() are the plain form for everything else: first calls, new threads, nested calls, other clocks, errors.
//
// A Library is a struct of static members: `calls`, `spellings` (how many symbols a row may have), `row(id)`,
// `real(name)` (its real function), `frees(id)` (the call ends a handle's life), `follows(id)` (a successful call
// has consequences beyond its cell: follow()),
// and the slow questions that are asked after a successful call: learn() and Size (what a row's message size is, and its
// Booker); prepare() may put something of ours in the place of an argument that the caller ignores.
#pragma once

#include "libmpiprof/process/runtime.h"
#include "libmpiprof/record/token.h"
#include "libmpiprof/wrap/real.h"

namespace mpiprof::wrap {

// The real functions, by spelling and row; filled at each one's first call. In .bss: no relocations, no pages until used.
template <class Library>
constinit inline void* reals[Library::spellings][Library::calls]{};

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

// A row's Booker says what its second half does. Booked is count x size of `type`; type no_handle: count is in bytes.
// This one books what the first half stored, and does nothing else.
struct AsStored {
    static bool is_at_hand(const CallInHand&) { return true; }
    static Booking booking(const CallInHand& hand) { return {hand.type, hand.count}; }
    static void after(Ledger&, Memo&, Ticks) {}
    static void after_untimed(Ledger&) {}  // of a poll whose clock was not read
};

// ---- the plain form ----

// The memo of the call in hand, learned if it is new.
template <class Library, class Language>
[[gnu::noinline]] Memo& memo_of(Ledger& ledger, std::uint64_t key, Booking b) {
    const CallInHand& hand = ledger.hand;
    Memo& memo = ledger.memo(key);
    if (!Ledger::hit(memo, key, b.type, hand.comm)) Library::template learn<Language>(ledger, memo, key, b.type, hand.comm, b.count);
    return memo;
}

// The second half of a call whose clock was read: anything that leave() does not do itself.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_plainly(Word result, Ledger& ledger, std::uint64_t key, Ticks ticks) {
    if (key == 0) return result;  // overtaken by a call on another stack of this thread (fibers): what is in hand is that one's
    if (Language::failed(result, ledger.hand)) {
        ledger.add_error(key, 0);
    } else {
        const Booking b = Booker::booking(ledger.hand);
        Memo& memo = memo_of<Library, Language>(ledger, key, b);
        ticks = ledger.sane(ticks);
        ledger.add(memo, static_cast<Bytes>(b.count) * memo.type_size, ticks);
        Booker::after(ledger, memo, ticks);
    }
    thread_state.token = nullptr;
    return result;
}

// The second half of a poll that is a sample: its time stands for `weight` polls.
template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave_poll(Word result, Ledger& ledger, std::uint64_t key, Ticks ticks, std::uint16_t counter, unsigned weight) {
    if (key == 0) return result;
    if (Language::failed(result, ledger.hand)) {
        ledger.count_error(counter);
    } else {
        ledger.count(counter);
        Memo& memo = memo_of<Library, Language>(ledger, key, Booker::booking(ledger.hand));
        ticks = ledger.sane(ticks);
        ledger.add_poll(memo, ticks, weight);
        Booker::after(ledger, memo, ticks);
    }
    thread_state.token = nullptr;
    return result;
}

// The second half of a poll that is no sample.
template <class Language, class Booker>
[[gnu::always_inline]] inline Word leave_untimed_poll(Word result, std::uint16_t counter) {
    ThreadState& state = thread_state;
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

struct Found {
    void* function;
    bool foreign;   // of a second MPI: pass through, unrecorded
    bool is_first;  // this process had not called it before
};

// First call of a function, and every call once a second MPI was met: then each caller gets its own MPI's function.
template <class Library, int Spelling>
[[gnu::noinline]] Found find_function(void*& slot, std::uint16_t id, const char* name, Word return_address) {
    if (void* known = __atomic_load_n(&slot, __ATOMIC_RELAXED)) return {known, false, false};
    const Real real = Library::template real<Spelling>(name, return_address);
    if (!real.function) no_such_function(name);
    if (runtime.has_not_begun()) Library::begin_late(real.function);
    // The dictionary learns here which calls there are, so that counting one never has to ask.
    if (runtime.knows_call(id) && !Library::several()) __atomic_store_n(&slot, real.function, __ATOMIC_RELAXED);
    return {real.function, Library::is_foreign(real), true};
}

// Null if this call is not ours to record: not started, nested, a forked child, a second MPI.
[[gnu::noinline]] inline Ledger* enter_plainly(ThreadState& state, const Word* frame, Word return_address, bool foreign) {
    if (foreign) return nullptr;
    if (state.epoch != gate.epoch && !runtime.open(state)) return nullptr;
    if (may_be_nested(state, frame) && is_nested(return_address)) {
        state.ledger->count_nested();
        return nullptr;
    }
    state.token = frame;
    state.token_return = return_address;
    return state.ledger;
}

template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::noinline, gnu::cold]] Word call_plainly(Words... args) {
    // Reached by a tail call: the frame and the return address are those of the exported symbol.
    const auto return_address = reinterpret_cast<Word>(__builtin_return_address(0));
    constexpr Call row = Library::row(Id);
    constexpr auto id = static_cast<std::uint16_t>(Id);
    const Found found = find_function<Library, Spelling>(reals<Library>[Spelling][id], id, Name::text(), return_address);
    const auto real = reinterpret_cast<Word (*)(Words...)>(found.function);
    Ledger* ledger = enter_plainly(thread_state, MPIPROF_RETURN_SLOT(), return_address, found.foreign);
    if (!ledger) return real(args...);
    if constexpr (Library::frees(Id)) {
        const Word words[] = {args...};
        Library::template before_free<Id, Language>(*ledger, words);
    }
    if constexpr (Language::fortran) ledger->hand.ierror = ierror_of<row.arity>(args...);

    if constexpr (row.treatment == Treatment::counted) {
        const Word result = real(args...);
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
        typename Library::Scratch scratch;
        if constexpr (Library::template prepares<Id, Language>()) Library::template prepare<Id>(scratch, args...);
        using Size = typename Library::template Size<Id, Language>;
        Size::store(*ledger, args...);
        if constexpr (row.treatment == Treatment::polled)
            if (!ledger->is_sample(row.counter)) return leave_untimed_poll<Language, typename Size::Booker>(real(args...), row.counter);
        // A site is learned when its call has returned; the first one may never do so.
        if (found.is_first) ledger->know_site(return_address);
        ledger->begin(call_key(id, return_address), ledger->read_clock());
        const Word result = real(args...);
        const std::uint64_t key = ledger->key();
        const Ticks ticks = ledger->end(ledger->read_clock());
        if constexpr (Size::needs_arguments) {  // the size is computed outside the timed interval
            const Word words[] = {args..., 0};
            if (!Language::failed(result, ledger->hand)) Size::measure(*ledger, words);
        }
        if constexpr (Library::follows(Id)) {
            const Word words[] = {args..., 0};
            if (!Language::failed(result, ledger->hand)) Library::template follow<Id, Language>(*ledger, words);
        }
        if constexpr (row.treatment == Treatment::polled)
            return leave_poll<Library, Language, typename Size::Booker>(result, *ledger, key, ticks, row.counter, ledger->sample_weight(row.counter));
        else
            return leave_plainly<Library, Language, typename Size::Booker>(result, *ledger, key, ticks);
    }
}

// ---- the fast form ----

template <class Library, class Language, class Booker>
[[gnu::noinline]] Word leave(Word result) {
    ThreadState& state = thread_state;
    Ledger& ledger = *state.ledger;
    const std::uint64_t key = ledger.key();
    const Ticks ticks = ledger.end(counter());
    if (Language::failed(result, ledger.hand) || !Booker::is_at_hand(ledger.hand)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, key, ticks);
    const Booking b = Booker::booking(ledger.hand);
    Memo& memo = ledger.memo(key);
    if (!Ledger::hit(memo, key, b.type, ledger.hand.comm) || !ledger.add_fast(memo, static_cast<Bytes>(b.count) * memo.type_size, ticks)) [[unlikely]]
        return leave_plainly<Library, Language, Booker>(result, ledger, key, ticks);
    Booker::after(ledger, memo, ticks);
    state.token = nullptr;
    return result;
}

template <class Library, auto Id, int Spelling, class Language, class Name, class... Words>
[[gnu::always_inline]] inline Word call(Words... args) {
    constexpr Call row = Library::row(Id);
    constexpr auto id = static_cast<std::uint16_t>(Id);
    constexpr auto plainly = &call_plainly<Library, Id, Spelling, Language, Name, Words...>;
    const auto real = reinterpret_cast<Word (*)(Words...)>(__atomic_load_n(&reals<Library>[Spelling][id], __ATOMIC_RELAXED));
    ThreadState& state = thread_state;
    if constexpr (Library::frees(Id) || Library::follows(Id)) return plainly(args...);
    if (!real || state.epoch != gate.epoch) [[unlikely]] return plainly(args...);
    const Word* frame = MPIPROF_RETURN_SLOT();
    if (frame < state.token) [[unlikely]] return plainly(args...);
    if constexpr (row.treatment == Treatment::polled)
        if (state.ledger->is_sample(row.counter)) [[unlikely]] return plainly(args...);
    const Word return_address = *frame;
    state.token = frame;
    state.token_return = return_address;
    Ledger& ledger = *state.ledger;
    if constexpr (Language::fortran) ledger.hand.ierror = ierror_of<row.arity>(args...);

    if constexpr (row.treatment == Treatment::counted) {
        const Word result = real(args...);
        ThreadState& after = thread_state;
        Ledger& same = *after.ledger;
        if (Language::failed(result, same.hand)) [[unlikely]] same.count_error(row.counter);
        else same.count(row.counter);
        after.token = nullptr;
        return result;
    } else if constexpr (row.treatment == Treatment::polled) {
        using Size = typename Library::template Size<Id, Language>;
        Size::store(ledger, args...);
        return leave_untimed_poll<Language, typename Size::Booker>(real(args...), row.counter);
    } else {
        using Size = typename Library::template Size<Id, Language>;
        [[maybe_unused]] typename Library::Scratch scratch;
        if constexpr (Library::template prepares<Id, Language>()) Library::template prepare<Id>(scratch, args...);
        Size::store(ledger, args...);
        ledger.begin(call_key(id, return_address), counter());
        if constexpr (Size::needs_arguments) {
            const Word result = real(args...);
            Ledger& same = *thread_state.ledger;
            const std::uint64_t key = same.key();
            const Ticks ticks = same.end(counter());
            const Word words[] = {args..., 0};
            if (!Language::failed(result, same.hand)) [[likely]] Size::measure(same, words);
            return leave_plainly<Library, Language, typename Size::Booker>(result, same, key, ticks);
        } else {
            return leave<Library, Language, typename Size::Booker>(real(args...));
        }
    }
}

}  // namespace mpiprof::wrap
