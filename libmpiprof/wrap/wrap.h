// From a row to what its exported symbol does: take the token, read the clock, forward every register as it came, read
// the clock, describe, record. Templates, so that a row's knowledge is compiled into its symbol; one per treatment.
// Instantiated by mpi/ (and nccl/) with their Library; knows no MPI itself.
//
// A Library is a struct of static members: `calls`, `spellings` (how many symbols a row may have), `row(id)`,
// `real(name)` (its real function), `frees(id)` (the call ends a handle's life), and the slow questions that are asked after a successful call:
// learn() and describe(); prepare() may put something of ours in the place of an argument that the caller ignores.
#pragma once

#include "libmpiprof/process/runtime.h"
#include "libmpiprof/record/token.h"
#include "libmpiprof/wrap/real.h"

namespace mpiprof::wrap {

// The real functions, by spelling and row; filled at each one's first call. In .bss: no relocations, no pages until used.
template <class Library>
constinit inline void* reals[Library::spellings][Library::calls]{};

struct Found {
    void* function;
    bool foreign;  // of a second MPI: pass through, unrecorded
};

// First call of a function, and every call once a second MPI was met: then each caller gets its own MPI's function.
template <class Library, int Spelling>
[[gnu::noinline, gnu::cold]] Found find_function(void*& slot, const char* name, Word return_address) {
    const Real real = Library::template real<Spelling>(name, return_address);
    if (!real.function) no_such_function(name);
    if (!Library::several()) __atomic_store_n(&slot, real.function, __ATOMIC_RELAXED);
    return {real.function, Library::is_foreign(real)};
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
    static bool failed(Word result, Word) { return static_cast<int>(result) != 0; }
};
template <bool Large>
struct Fortran {
    static constexpr bool fortran = true;
    static std::int64_t count(Word w) { return count_at(w, 0); }
    static std::int64_t count_at(Word array, std::int64_t i) { return C<Large>::count_at(array, i); }
    static int integer(Word w) { return *reinterpret_cast<const int*>(w); }
    static Word handle(Word w) { return *reinterpret_cast<const int*>(w); }
    // Fortran 2008 may leave ierror out; then errors are fatal by default and never come back here.
    static bool failed(Word, Word ierror) { return ierror != 0 && *reinterpret_cast<const int*>(ierror) != 0; }
};

// Books a finished call whose size is count x size of `type` (type 0: count is in bytes).
template <class Library, class Language>
[[gnu::noinline]] void leave(Ledger& ledger, std::uint64_t key, Word type, Word comm, std::int64_t count, Ticks ticks) {
    ThreadState& state = thread_state;
    const std::uint64_t hashed = key ^ mix(state.epoch);
    Memo& memo = ledger.memo(hashed);
    if (!Ledger::hit(memo, hashed, type, comm)) [[unlikely]]
        Library::template learn<Language>(ledger, memo, hashed, key, type, comm, count);
    ledger.add(memo, static_cast<Bytes>(count) * memo.type_size, ticks);
    state.token = nullptr;
}

template <class Library, class Language>
[[gnu::noinline, gnu::cold]] void leave_with_error(Ledger& ledger, std::uint64_t key) {
    ledger.add_error(key, 0);
    thread_state.token = nullptr;
}

// The three steps that every wrapper begins with. Null: not ours to record (not started, nested, a child, a second MPI).
[[gnu::always_inline]] inline Ledger* enter(ThreadState& state, const Word* frame, Word return_address) {
    if (state.epoch != gate.epoch) [[unlikely]]
        if (!runtime.open(state)) return nullptr;
    if (is_nested(state, frame)) [[unlikely]] {
        state.ledger->count_nested();
        return nullptr;
    }
    state.token = frame;
    state.token_return = return_address;
    return state.ledger;
}

template <class Library, auto Id, int Spelling, class Language, class... Words>
[[gnu::always_inline]] inline Word call(const char* name, Word return_address, const Word* frame, Words... args) {
    constexpr Call row = Library::row(Id);
    using Function = Word (*)(Words...);
    void*& slot = reals<Library>[Spelling][static_cast<int>(Id)];
    Found found{__atomic_load_n(&slot, __ATOMIC_RELAXED), false};
    if (!found.function) [[unlikely]] found = find_function<Library, Spelling>(slot, name, return_address);
    const auto real = reinterpret_cast<Function>(found.function);
    ThreadState& state = thread_state;
    Ledger* ledger = found.foreign ? nullptr : enter(state, frame, return_address);
    if (!ledger) [[unlikely]] return real(args...);
    if constexpr (Library::frees(Id)) {
        const Word before[] = {args...};
        Library::template before_free<Id, Language>(before);
        runtime.forget_handles();
    }
    [[maybe_unused]] typename Library::Scratch scratch;
    if constexpr (Library::template prepares<Id, Language>()) Library::template prepare<Id>(scratch, args...);

    const Word words[sizeof...(Words) + 1] = {args..., 0};
    constexpr auto id = static_cast<std::uint16_t>(Id);
    // The last word that the standard gives Fortran is ierror, behind the C arguments.
    const auto failed = [&](Word result) { return Language::failed(result, Language::fortran ? words[row.arity] : 0); };

    if constexpr (row.treatment == Treatment::counted) {
        const Word result = real(args...);
        if (failed(result)) [[unlikely]] ledger->count_error(id, row.counter);
        else ledger->count(id, row.counter);
        state.token = nullptr;
        return result;
    } else {
        const std::uint64_t key = call_key(id, return_address);
        ledger->begin(key);
        const Word result = real(args...);
        const Ticks ticks = ledger->elapsed();
        if (failed(result)) [[unlikely]] leave_with_error<Library, Language>(*ledger, key);
        else Library::template describe<Id, Language>(*ledger, key, words, ticks);
        return result;
    }
}

}  // namespace mpiprof::wrap
