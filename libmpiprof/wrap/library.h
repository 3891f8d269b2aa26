// The contract between wrap/ and the room of a library (mpi/, nccl/): what a library says of its rows, and what it is
// asked around their calls. wrap::call() takes a library that has every hook, and no other. Those that it has no use
// for it takes from LibraryDefaults, by name; so whoever misspells a hook, or forgets one, is told by the compiler.
// docs/adding-a-library.md says the same for people.
#pragma once

#include <concepts>

#include "libmpiprof/calls/call.h"
#include "libmpiprof/record/ledger.h"
#include "libmpiprof/wrap/real.h"

namespace mpiprof::wrap {

// What a library answers that has nothing to say. It is inherited privately, and each answer that is to hold is let out
// by a using-declaration:
//     struct Mine : private wrap::LibraryDefaults {
//         using LibraryDefaults::may_wait_first, LibraryDefaults::wait_first;
struct LibraryDefaults {
    // ---- its functions ----
    // Whether a second such library was met in the process, and whether this function is that one's.
    static bool several() { return false; }
    static bool is_foreign(const Real&) { return false; }
    // Whether its calls are handed on, and nothing else.
    static bool is_off() { return false; }
    // What a call returns that no real function is there for; if it does return.
    static Word missing(const char* name) { no_such_function(name); }
    // A call was made and nothing has begun the profile: the library may, with what it finds beside the real function.
    static void begin_late(std::uint16_t, const void*) {}
    // False: the calls of this row are the plain form's, whatever they are.
    static bool may_be_quick(std::uint16_t) { return true; }

    // ---- questions that the library asks itself inside of its calls, through us ----
    // Counted rows that free and make nothing; and whether the call that returns to this address is one of them.
    static constexpr bool asks_itself(auto) { return false; }
    static bool is_own_code(Word) { return false; }
    // A call of any row that is no part of one that came through us: whether the library makes it itself all the same,
    // within a call that passed us by. It is handed on, and nothing else. `found`: its function, where it was looked
    // for just now; else null.
    static bool is_within_unseen(Word, const void*) { return false; }

    // ---- rows that end the life of a handle ----
    static constexpr bool frees(auto) { return false; }
    // Before the real call: what the handle meant is forgotten. The second where the call is not recorded.
    template <auto Id, class Language>
    static void before_free(Ledger&, const Word*) {}
    template <auto Id, class Language>
    static void free_unrecorded(const Word*, bool) {}

    // ---- rows whose success has consequences beyond their cell ----
    static constexpr bool follows(auto) { return false; }
    template <auto Id, class Language>
    static void follow(Ledger&, std::uint64_t, const Word*) {}
    template <auto Id, class Language>
    static void follow_unrecorded(const Word*, bool) {}

    // ---- rows that all who take part make in one order, and are counted ----
    static constexpr bool is_in_order(auto) { return false; }
    // After the real call, where it is not recorded; recorded ones are their Booker's.
    template <auto Id, class Language>
    static void count_unrecorded(const Word*, Word) {}

    // ---- rows before which the user may put a barrier ----
    static constexpr bool may_wait_first(auto) { return false; }
    template <auto Id, class Language>
    static void wait_first(Ledger*, const Word*, Word, const Word*) {}

    // ---- rows around which more is to be done than the clock and the cell; their calls take the plain form ----
    static constexpr bool may_be_watched(auto) { return false; }
    // Whether it is to be done now.
    static bool watches(std::uint16_t) { return false; }
    // Rows of these whose calls take a fast form of their own: Size has a Booker `Watched`, which does in after_real()
    // and after() what is to be done behind the real call; and is_begun_at_once<id>(words) does what is to be done
    // before it, or says that this takes before_real().
    static constexpr bool may_be_watched_quickly(auto) { return false; }
    template <auto Id, class Language>
    static void before_real(Ledger&, const Word*) {}
    template <auto Id>
    static void after_real(Word) {}
    // Instead of both where the call is not recorded, in rows that want to hear of it.
    static constexpr bool hears_of_unrecorded(auto) { return false; }
    template <auto Id>
    static void unrecorded(const Word*, Word) {}
    // Something new was met: a good moment to look whether anything is to be watched from now on.
    static void looks_again() {}
};

// ---- the contract ----

template <class L>
concept NamesRows = requires(typename L::Id id) {
    { L::first_id } -> std::convertible_to<std::uint16_t>;  // where its ids begin among those of all libraries
    { L::calls } -> std::convertible_to<std::size_t>;       // how many rows it has
    { L::spellings } -> std::convertible_to<int>;           // how many symbols a row may have
    { L::row(id) } -> std::same_as<Call>;
};

// A row to ask about in the contract; none is called.
template <class L>
inline constexpr auto any_row = static_cast<typename L::Id>(L::first_id);

template <class L>
concept FindsFunctions = requires(const char* name, Word return_address, const Real& real, std::uint16_t id) {
    { L::template real<0>(name, return_address) } -> std::same_as<Real>;  // of this spelling of the name
    { L::several() } -> std::same_as<bool>;
    { L::is_foreign(real) } -> std::same_as<bool>;
    { L::is_off() } -> std::same_as<bool>;
    { L::missing(name) } -> std::same_as<Word>;
    { L::begin_late(id, real.function) } -> std::same_as<void>;
    { L::may_be_quick(id) } -> std::same_as<bool>;
    { L::asks_itself(any_row<L>) } -> std::same_as<bool>;
    { L::is_own_code(return_address) } -> std::same_as<bool>;
    { L::is_within_unseen(return_address, real.function) } -> std::same_as<bool>;
};

template <class L, class Language>
concept FollowsHandles = requires(Ledger& ledger, const Word* words, Word word) {
    { L::frees(any_row<L>) } -> std::same_as<bool>;
    { L::template before_free<any_row<L>, Language>(ledger, words) } -> std::same_as<void>;
    { L::template free_unrecorded<any_row<L>, Language>(words, bool{}) } -> std::same_as<void>;
    { L::follows(any_row<L>) } -> std::same_as<bool>;
    { L::template follow<any_row<L>, Language>(ledger, std::uint64_t{}, words) } -> std::same_as<void>;
    { L::template follow_unrecorded<any_row<L>, Language>(words, bool{}) } -> std::same_as<void>;
    // What a valid type and communicator mean: asked after success, where no memo knows them.
    { L::template meaning<Language>(ledger, word, word, std::int64_t{}) } -> std::same_as<Meaning>;
};

template <class L, class Language>
concept CountsInOrder = requires(const Word* words, Word word) {
    { L::is_in_order(any_row<L>) } -> std::same_as<bool>;
    { L::template count_unrecorded<any_row<L>, Language>(words, word) } -> std::same_as<void>;
};

template <class L, class Language>
concept WatchesCalls = requires(Ledger& ledger, const Word* words, Word word, std::uint16_t id) {
    { L::may_wait_first(any_row<L>) } -> std::same_as<bool>;
    { L::template wait_first<any_row<L>, Language>(&ledger, words, word, words) } -> std::same_as<void>;
    { L::may_be_watched(any_row<L>) } -> std::same_as<bool>;
    { L::watches(id) } -> std::same_as<bool>;
    { L::may_be_watched_quickly(id) } -> std::same_as<bool>;
    { L::template before_real<any_row<L>, Language>(ledger, words) } -> std::same_as<void>;
    { L::template after_real<any_row<L>>(word) } -> std::same_as<void>;
    { L::hears_of_unrecorded(any_row<L>) } -> std::same_as<bool>;
    { L::template unrecorded<any_row<L>>(words, word) } -> std::same_as<void>;
    { L::looks_again() } -> std::same_as<void>;
};

// Beside these it has, for its timed rows, a template Size<Id, Language> (HasSize, below).
template <class L, class Language>
concept WrappedLibrary = NamesRows<L> && FindsFunctions<L> && FollowsHandles<L, Language> &&
    CountsInOrder<L, Language> && WatchesCalls<L, Language>;

// How the message size of a row is found. Besides, with the words of the call as they came:
//     bool store(Ledger&, Words&...)     before the call, into ledger.hand; false: measure() finds it afterwards. It
//     may
//                                        put something of ours in the place of an argument that the caller ignores
//     void make_room(Ledger&, Words...)  in the plain form before store(): what that may not do on the fast path
template <class S>
concept HasSize = requires(Ledger& ledger, const Word* words) {
    { S::can_be_quick } -> std::convertible_to<bool>;  // whether store() ever says true
    { S::completes } -> std::convertible_to<bool>;     // of a poll: whether it may complete something
    { S::measure(ledger, words) } -> std::same_as<void>;
    typename S::Booker;  // what the second half does with it: booker.h
};

}  // namespace mpiprof::wrap
