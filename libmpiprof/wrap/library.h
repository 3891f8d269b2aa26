// The contract between wrap/ and the room of a library (mpi/, nccl/): what a library says of its rows, and what it is
// asked around their calls. wrap::call() takes a library that has every hook, and no other. Those that it has no use
// for it takes from LibraryDefaults, by name; so whoever misspells a hook, or forgets one, is told by the compiler.
// docs/adding-a-library.md says the same for people.
#pragma once

#include <concepts>

#include "libmpiprof/record/ledger.h"
#include "libmpiprof/wrap/real.h"
#include "libmpiprof/wrap/row.h"

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
    // Of rows that ask (RowFacts::asks_itself; counted ones that free and make nothing): whether the call that returns
    // to this address is one of them.
    static bool is_own_code(Word) { return false; }
    // A call of any row that is no part of one that came through us: whether the library makes it itself all the same,
    // within a call that passed us by. It is handed on, and nothing else. `found`: its function, where it was looked
    // for just now; else null.
    static bool is_within_unseen(Word, const void*) { return false; }

    // ---- what is done around the calls of rows whose facts say so (row.h) ----
    // `row`: a FixedRow or an AnyRow of the library, `words`: the arguments as they came.
    // frees. Before the real call: what the handle meant is forgotten. The second where the call is not recorded.
    template <class Language, class Row>
    static void before_free(Row, Ledger&, const Word*) {}
    template <class Language, class Row>
    static void free_unrecorded(Row, const Word*, bool) {}
    // follows. After success, from that place in the program.
    template <class Language, class Row>
    static void follow(Row, Ledger&, std::uint64_t, const Word*) {}
    template <class Language, class Row>
    static void follow_unrecorded(Row, const Word*, bool) {}
    // is_in_order. After the real call, where it is not recorded; recorded ones are their Booker's.
    template <class Language, class Row>
    static void count_unrecorded(Row, const Word*, Word) {}
    // may_wait_first.
    template <class Language, class Row>
    static void wait_first(Row, Ledger*, const Word*, Word, const Word*) {}
    // may_be_watched. Such calls take the plain form while this says that it is to be done now. What is watched quickly
    // has a fast form of its own: Size has a Booker `Watched`, which does in after_real() and after() what is to be
    // done behind the real call; and is_begun_at_once(row, words) does what is to be done before it, or says that this
    // takes before_real().
    static bool watches(std::uint16_t) { return false; }
    template <class Language, class Row>
    static void before_real(Row, Ledger&, const Word*) {}
    template <class Row>
    static void after_real(Row, Word) {}
    // hears_of_unrecorded. Instead of both where the call is not recorded.
    template <class Row>
    static void unrecorded(Row, const Word*, Word) {}
    // Something new was met: a good moment to look whether anything is to be watched from now on.
    static void looks_again() {}

    // ---- sizes (HasSize, below), for the plain form ----
    // As Size::store(), of any row; besides, it does before what that may not do on the fast path. It may put something
    // of ours in the place of an argument that the caller ignores.
    template <class Language, class Row>
    static bool store(Row, Ledger&, Word*) {
        return true;
    }
    // Asked where store() said false, after the real call has returned with success.
    template <class Language, class Row>
    static void measure(Row, Ledger&, const Word*) {}
};

// ---- the contract ----

template <class L>
concept NamesRows = requires(typename L::Id id) {
    { L::first_id } -> std::convertible_to<std::uint16_t>;  // where its ids begin among those of all libraries
    { L::calls } -> std::convertible_to<std::size_t>;       // how many rows it has
    { L::spellings } -> std::convertible_to<int>;           // how many symbols a row may have
    { L::facts_of(id) } -> std::derived_from<RowFacts>;     // at compile time
};

template <class L>
concept FindsFunctions = requires(const char* name, Word return_address, const Real& real, std::uint16_t id) {
    { L::real(0, name, return_address) } -> std::same_as<Real>;  // of this spelling of the name
    { L::several() } -> std::same_as<bool>;
    { L::is_foreign(real) } -> std::same_as<bool>;
    { L::is_off() } -> std::same_as<bool>;
    { L::missing(name) } -> std::same_as<Word>;
    { L::begin_late(id, real.function) } -> std::same_as<void>;
    { L::may_be_quick(id) } -> std::same_as<bool>;
    { L::is_own_code(return_address) } -> std::same_as<bool>;
    { L::is_within_unseen(return_address, real.function) } -> std::same_as<bool>;
};

template <class L, class Language>
concept FollowsHandles = requires(AnyRow<L> row, Ledger& ledger, const Word* words, Word word) {
    { L::template before_free<Language>(row, ledger, words) } -> std::same_as<void>;
    { L::template free_unrecorded<Language>(row, words, bool{}) } -> std::same_as<void>;
    { L::template follow<Language>(row, ledger, std::uint64_t{}, words) } -> std::same_as<void>;
    { L::template follow_unrecorded<Language>(row, words, bool{}) } -> std::same_as<void>;
    { L::template count_unrecorded<Language>(row, words, word) } -> std::same_as<void>;
    // What a valid type and communicator mean: asked after success, where no memo knows them.
    { L::template meaning<Language>(ledger, word, word, std::int64_t{}) } -> std::same_as<Meaning>;
};

template <class L, class Language>
concept WatchesCalls = requires(AnyRow<L> row, Ledger& ledger, const Word* words, Word word, std::uint16_t id) {
    { L::template wait_first<Language>(row, &ledger, words, word, words) } -> std::same_as<void>;
    { L::watches(id) } -> std::same_as<bool>;
    { L::template before_real<Language>(row, ledger, words) } -> std::same_as<void>;
    { L::after_real(row, word) } -> std::same_as<void>;
    { L::unrecorded(row, words, word) } -> std::same_as<void>;
    { L::looks_again() } -> std::same_as<void>;
};

template <class L, class Language>
concept FindsSizes = requires(AnyRow<L> row, Ledger& ledger, Word* words) {
    { L::template store<Language>(row, ledger, words) } -> std::same_as<bool>;
    { L::template measure<Language>(row, ledger, words) } -> std::same_as<void>;
};

// Beside these it has, for its timed and polled rows, a template Size<Id, Language> (HasSize, below).
template <class L, class Language>
concept WrappedLibrary = NamesRows<L> && FindsFunctions<L> && FollowsHandles<L, Language> &&
    WatchesCalls<L, Language> && FindsSizes<L, Language>;

// How the fast form finds the message size of a row. Besides, with the words of the call as they came:
//     bool store(Ledger&, Words&...)  before the call, into ledger.hand; false: measure() finds it afterwards. It may
//                                     put something of ours in the place of an argument that the caller ignores
template <class S>
concept HasSize = requires {
    { S::can_be_quick } -> std::convertible_to<bool>;  // whether store() ever says true
    { S::completes } -> std::convertible_to<bool>;     // of a poll: whether it may complete something
    typename S::Booker;                                // what the second half does with it: booker.h
};

}  // namespace mpiprof::wrap
