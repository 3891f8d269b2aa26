// The real functions of a library's rows, found at each one's first call, and which form its calls take: those that the
// fast form may forward to are where it looks, all others lie aside, where it finds nothing and leaves. Used by both
// forms.
#pragma once

#include "libmpiprof/process/runtime.h"
#include "libmpiprof/wrap/library.h"

namespace mpiprof::wrap {

// The real functions, by spelling and row; filled at each one's first call. In .bss: no relocations, no pages until
// used.
template <class Library>
constinit inline void* reals[Library::spellings][Library::calls]{};
// Real functions whose calls are not the fast form's: those that the user left out or put a barrier before, and all of
// a library that is off. The fast form finds nothing in `reals`, and leaves.
template <class Library>
constinit inline void* reals_aside[Library::spellings][Library::calls]{};
// Real functions around whose calls more is done than the clock and the cell: the fast form finds nothing in `reals`,
// and looks here.
template <class Library>
constinit inline void* reals_watched[Library::spellings][Library::calls]{};
// Whether functions of a spelling were found; the tables of all others are untouched pages.
template <class Library>
constinit inline std::atomic<bool> has_found[Library::spellings]{};
template <class Library>
void*& slot_of(int spelling, std::uint16_t id) {
    return reals<Library>[spelling][id - Library::first_id];
}

template <class Library>
void*& watched_slot_of(int spelling, std::uint16_t id) {
    return reals_watched<Library>[spelling][id - Library::first_id];
}

// Calls that scripts were seen to make, which take the plain form from then on: it tells the script's line before the
// real call, which a rank that hangs does not come back from.
template <class Library>
constinit inline std::atomic<bool> made_by_scripts[Library::calls]{};
// The barrier that is put before a row's calls has the index of the row.
template <class Library>
std::size_t row_index(std::uint16_t id) {
    return id % Catalogue::barrier_before - Library::first_id;
}
template <class Library>
bool is_made_by_scripts(std::uint16_t id) {
    return made_by_scripts<Library>[row_index<Library>(id)].load(std::memory_order_relaxed);
}
template <class Library>
[[gnu::noinline, gnu::cold]] void learn_that_scripts_make(std::uint16_t id) {
    made_by_scripts<Library>[row_index<Library>(id)].store(true, std::memory_order_relaxed);
    for (auto& spelling : reals<Library>)
        __atomic_store_n(&spelling[row_index<Library>(id)], static_cast<void*>(nullptr), __ATOMIC_RELAXED);
    for (auto& spelling : reals_watched<Library>)
        __atomic_store_n(&spelling[row_index<Library>(id)], static_cast<void*>(nullptr), __ATOMIC_RELAXED);
}

struct Found {
    void* function;  // null: nobody defines it
    bool foreign;    // of a second MPI, or passed on: nothing else is done
    bool is_first;   // this process had not called it before
};

// Whether calls of this row are handed on and nothing else: the library is off, or nothing is recorded in this process.
template <class Library>
[[gnu::always_inline]] inline bool is_passed_on(std::uint16_t id) {
    return Library::is_off() || (runtime.is_off() && !runtime.puts_barrier_before(id));
}
// The function of such a row, once it was looked for; null: look on.
template <class Library>
[[gnu::always_inline]] inline void* passed_on(int spelling, std::uint16_t id) {
    void* known = __atomic_load_n(&reals_aside<Library>[spelling][id - Library::first_id], __ATOMIC_RELAXED);
    return known && is_passed_on<Library>(id) ? known : nullptr;
}

// It is looked for but once, unless there are several such libraries.
template <class Library>
Found find_passed_on(int spelling, std::uint16_t id, const char* name, Word return_address) {
    void*& slot = reals_aside<Library>[spelling][id - Library::first_id];
    void* known = __atomic_load_n(&slot, __ATOMIC_RELAXED);
    if (!known) {
        has_found<Library>[spelling].store(true, std::memory_order_relaxed);
        known = Library::real(spelling, name, return_address).function;
        if (!Library::several()) __atomic_store_n(&slot, known, __ATOMIC_RELAXED);
    }
    return {known, true, false};
}

// Where the function of a row belongs by now.
template <class Library>
void*& place_of_real(int spelling, std::uint16_t id) {
    void*& aside = reals_aside<Library>[spelling][id - Library::first_id];
    if (!runtime.records_call(id) || runtime.puts_barrier_before(id) || is_made_by_scripts<Library>(id) ||
        !Library::may_be_quick(id))
        return aside;
    if (!Library::watches(id)) return slot_of<Library>(spelling, id);
    return AnyRow<Library>(id).facts.may_be_watched_quickly ? watched_slot_of<Library>(spelling, id) : aside;
}

// First call of a function, and every call once a second MPI was met: then each caller gets its own MPI's function.
template <class Library>
[[gnu::noinline]] Found find_function(int spelling, std::uint16_t id, const char* name, Word return_address) {
    void*& slot = slot_of<Library>(spelling, id);
    if (void* known = __atomic_load_n(&slot, __ATOMIC_RELAXED)) return {known, false, false};
    if (void* known = __atomic_load_n(&watched_slot_of<Library>(spelling, id), __ATOMIC_RELAXED))
        return {known, false, false};
    if (is_passed_on<Library>(id)) return find_passed_on<Library>(spelling, id, name, return_address);
    void*& aside = reals_aside<Library>[spelling][id - Library::first_id];
    if (void* known = __atomic_load_n(&aside, __ATOMIC_RELAXED); known && !Library::several())
        return {known, false, false};
    const Real real = Library::real(spelling, name, return_address);
    if (!real.function) return {nullptr, true, true};
    if (runtime.has_not_begun() && (thread_state.token || !Library::is_within_unseen(return_address, real.function)))
        Library::begin_late(id, real.function);
    has_found<Library>[spelling].store(true, std::memory_order_relaxed);
    // The dictionary learns here which calls there are, so that counting one never has to ask.
    if (runtime.knows_call(id) && !Library::several())
        __atomic_store_n(&place_of_real<Library>(spelling, id), real.function, __ATOMIC_RELAXED);
    return {real.function, Library::is_foreign(real), true};
}

// Each function is looked up anew at its next call.
template <class Library>
void forget_functions() {
    const auto forget = [](void*(&table)[Library::calls]) {
        for (void*& slot : table) __atomic_store_n(&slot, static_cast<void*>(nullptr), __ATOMIC_RELAXED);
    };
    for (int spelling = 0; spelling < Library::spellings; ++spelling) {
        if (!has_found<Library>[spelling].load(std::memory_order_relaxed)) continue;
        forget(reals<Library>[spelling]);
        forget(reals_aside<Library>[spelling]);
        forget(reals_watched<Library>[spelling]);
    }
}

// What is watched from now on leaves the fast form: its next call finds no function there.
template <class Library>
void look_at_all_again() {
    for (int spelling = 0; spelling < Library::spellings; ++spelling)
        for (std::size_t i = 0; i < Library::calls; ++i)
            if (Library::watches(static_cast<std::uint16_t>(Library::first_id + i)))
                __atomic_store_n(&reals<Library>[spelling][i], static_cast<void*>(nullptr), __ATOMIC_RELAXED);
}

}  // namespace mpiprof::wrap
