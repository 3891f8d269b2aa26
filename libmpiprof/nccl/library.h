// NCCL (and RCCL, which has its names) as wrap/ wants it: rows at compile time, the slow questions about communicators
// and types, and the few things that calls of NCCL have beside their cell: groups, communicators that are made. No
// header of NCCL or CUDA: handles are words, and types are the numbers that every version has given them. Used by
// symbols.cpp.
#pragma once

#include "libmpiprof/gpu/launches.h"
#include "libmpiprof/nccl/catalogue.h"
#include "libmpiprof/nccl/communicators.h"
#include "libmpiprof/nccl/types.h"
#include "libmpiprof/wrap/wrap.h"

namespace mpiprof::nccl {

inline constexpr Word success = 0, internal_error = 3, in_progress = 7;

// The real function of that name. Of the two landmarks no tool defines the first, and older libraries lack the second.
inline wrap::Real find_real(const char* name, Word return_address) {
    return wrap::find_real(name, return_address, "ncclGetErrorString\0pncclGetVersion\0");
}

// Whether what calls a function of NCCL's is NCCL, in a library that has nothing else in it.
bool is_of_its_own_library(const void* real, Word return_address);

// Groups nest, and belong to a thread. What is called inside one is launched by the end of the outermost.
struct Group {
    unsigned depth;
    std::uint64_t operations;  // enqueued by this thread so far
    std::uint64_t at_start;    // of these when the outermost group began
    std::uint64_t launched;    // by the end that is in hand
    Word stream;               // of the operation that is in hand
    int peer;                  // the same; -1: it has none
    bool is_watched;           // the end that is in hand launches something whose time on the GPU is taken
    unsigned bcasts;           // ncclBcast of the open group: NCCL will tell of them as Broadcast
    int broadcasts;            // calls of ncclBroadcast of which NCCL has not told yet
    // The communicator that an operation was watched on last, by its index, and the epoch in which it was looked up.
    struct Watched {
        std::uint64_t epoch;
        std::uint16_t index;
        bool is_alone, is_nonblocking;  // alone: of one rank
        int rank;
    } watched;
    const void* told;  // the context of the communicator that NCCL told of last, in this thread
    // Which of our events' handles those of a second plugin stand for, of the launch and the group that this thread has
    // begun last.
    struct StandingFor {
        void *theirs, *ours;
    } standing_for[2];
    void start() {
        if (depth++ != 0) return;
        at_start = operations;
        bcasts = 0;
    }
    void end() {
        launched = 0;
        if (depth > 0 && --depth == 0) launched = operations - at_start;
    }
};
[[gnu::visibility("hidden")]] extern constinit thread_local Group group __attribute__((tls_model("initial-exec")));

// A call of which nothing is known but that it was made.
void count_untimed(std::uint16_t call, std::uint16_t communicator, Bytes bytes);

// How this process takes part in a communicator that it initialises by ncclCommInitRank and its relatives.
struct Membership {
    int rank, size;
};

class Library {
  public:
    // Whether NCCL is left alone (MPIPROF_NCCL=off).
    bool is_off();
    // `real` is what a call that makes a communicator, or the id of one, would lead to. A second NCCL in the process
    // (of another Python package) passes through untouched: from now on every call is looked up by its caller.
    void meet(const void* real);
    // The same for the call that makes an id: it begins no profile, and is counted once there is one.
    void meet_for_id(const void* real);
    bool is_ours(const void* real) const;
    // Whether an address lies in the code of the one that was met.
    bool is_its_code(Word address) const { return static_cast<std::uintptr_t>(address - code_) < code_bytes_; }
    // NCCL was seen to call functions of its own, by the names that are ours, in no call that came through us: in a
    // thread of its own, or since the program fetched its functions by dlsym. `real` is one of them, null: none yet.
    void meet_itself(const void* real);
    bool calls_itself() const { return calls_itself_.load(std::memory_order_relaxed); }
    // Such a call. Where no call of the program's ever came, that is said: in the profile or, without one, at once.
    bool is_within_unseen(Word return_address);
    void note_by_dlsym();
    // Whether calls of this row may take the fast form, which does not ask who called.
    bool may_be_quick(std::uint16_t id, Traffic traffic) const;
    // Begins the profile if nothing else has. A job of its own, unless MPI is initialised later.
    void begin(const void* real, Membership membership);
    // Begins it with a communicator that is not made through us, as NCCL itself tells.
    void begin_unseen(Membership membership);
    // A communicator was initialised here: where no launcher says who we are, it does.
    void learn_world(Membership membership, std::uint64_t id);

    bool several = false;
    Communicators communicators{};

  private:
    void find_questions(const void* real);
    void count_earlier(Id id, unsigned number);
    void count_earlier_ids();
    const void* first_ = nullptr;  // its ncclGetErrorString
    Word code_ = 0;                // and the code around that
    std::uintptr_t code_bytes_ = 0;
    bool is_apart_ = false;  // nothing but NCCL is there
    int (*get_version_)(int* version) = nullptr;
    Lock lock_;
    std::atomic<int> off_{0};                                   // 0: not asked yet, 1: off, 2: on
    std::atomic<bool> calls_itself_{false}, is_called_{false};  // the second by the program, through us
    std::atomic<bool> is_noted_{false}, is_said_{false};
    unsigned ids_before_ = 0;  // made before the profile began, in this process
    int ids_made_in_ = 0;
};
[[gnu::visibility("hidden")]] extern constinit Library library;

// A count is a size_t, an enumeration an int.
struct Binding : wrap::C<true> {
    // What a nonblocking communicator has begun is no error.
    static bool failed(Word result, const CallInHand&) {
        const Word code = static_cast<int>(result);
        return code != success && code != in_progress;
    }
};

// Enqueued on a stream, which is the argument behind the communicator.
constexpr bool is_operation(Traffic traffic) {
    return traffic == Traffic::collective || traffic == Traffic::send || traffic == Traffic::receive ||
           traffic == Traffic::one_sided || traffic == Traffic::sync;
}

// Where an operation between two ranks says which the other one is; -1: nowhere.
constexpr int peer_at(Id id) {
    const int dest = find(row_of(id).roles, Role::dest);
    return dest >= 0 ? dest : find(row_of(id).roles, Role::source);
}
// What has to meet one that fits on the other side.
constexpr bool is_message(Id id) {
    return row_of(id).traffic == Traffic::send || row_of(id).traffic == Traffic::receive;
}

// A set of rows in one word: what launches something stands among the first 64 of calls.def, however many there are.
constexpr std::uint64_t bit_of_row(Id id) {
    const unsigned row = static_cast<unsigned>(id) - first_id;
    if (row >= 64) __builtin_unreachable();  // no constant then: the row has to stand further up
    return std::uint64_t{1} << row;
}

constexpr bool launches(std::uint16_t id) {
    constexpr std::uint64_t mask = [] {
        std::uint64_t bits = bit_of_row(Id::GroupEnd);
        for (std::size_t i = 0; i < calls; ++i)
            if (is_operation(table[i].traffic)) bits |= bit_of_row(static_cast<Id>(first_id + i));
        return bits;
    }();
    const unsigned row = id - first_id;
    return row < 64 && (mask >> row & 1) != 0;
}

// What is read of a row below the symbols.
struct Facts : wrap::RowFacts {
    bool is_enqueued;  // on a stream
    bool ends_group, ends_communicator;
    std::int8_t peer;  // where it says with whom it talks; -1: nowhere

    constexpr explicit Facts(Id row)
        : RowFacts(static_cast<std::uint16_t>(row), row_of(row)),
          is_enqueued(is_operation(traffic)),
          ends_group(row == Id::GroupEnd),
          ends_communicator(row == Id::CommFinalize || row == Id::CommDestroy || row == Id::CommAbort),
          peer(static_cast<std::int8_t>(peer_at(row))) {
        frees = row == Id::CommDestroy || row == Id::CommAbort;
        follows = has(Role::newcomm);
        is_in_order = is_ordered(row_of(row)) || is_message(row);
        // How long the GPU is at what is enqueued (watch.cpp). The ends of communicators are a good moment to look.
        may_be_watched = is_watched(row);
        // What launches something is called often, all else ends a communicator.
        may_be_watched_quickly = launches(id);
        hears_of_unrecorded = may_be_watched;
        // Inside each operation NCCL asks itself for errors (ncclCommGetAsyncError), by the name that is ours.
        asks_itself = treatment == Treatment::counted && !frees && !follows;
    }
    // The argument behind the communicator.
    constexpr int stream() const { return at(Role::comm) + 1; }
    static constexpr bool is_watched(Id id) {
        return launches(static_cast<std::uint16_t>(id)) || id == Id::CommFinalize || id == Id::CommDestroy ||
               id == Id::CommAbort;
    }
};

// What wrap.h is instantiated with. Every row may take the fast form, none waits at a barrier of ours, and those that
// free are watched, so that unrecorded() hears of them.
struct Nccl : private wrap::LibraryDefaults {
    using Id = nccl::Id;
    using LibraryDefaults::free_unrecorded;
    using LibraryDefaults::looks_again;
    using LibraryDefaults::wait_first;
    static constexpr std::uint16_t first_id = nccl::first_id;
    static constexpr std::size_t calls = nccl::calls;
    static constexpr int spellings = 1;
    static constexpr Facts facts_of(Id id) { return Facts(id); }

    static bool is_own_code(Word return_address) { return library.is_its_code(return_address); }
    static bool is_within_unseen(Word return_address, const void* found) {
        if (found && is_of_its_own_library(found, return_address)) library.meet_itself(found);
        return library.calls_itself() && library.is_within_unseen(return_address);
    }
    static bool may_be_quick(std::uint16_t id) {
        return !library.calls_itself() || library.may_be_quick(id, whole_catalogue.calls[id].traffic);
    }

    // A communicator is made.
    template <class Language, class Row>
    static void follow(Row row, Ledger&, std::uint64_t, const Word* words) {
        if (follow_made(static_cast<Id>(row.facts.id), words)) runtime.forget_handles();
    }
    template <class Language, class Row>
    static void follow_unrecorded(Row row, const Word* words, bool) {
        if (runtime.is_recording()) follow_made(static_cast<Id>(row.facts.id), words);
    }
    template <class Language, class Row>
    static void count_unrecorded(Row row, const Word* words, Word result);

    static bool watches(std::uint16_t id) { return Facts::is_watched(static_cast<Id>(id)) && gpu::launches.is_on(); }
    template <class Language, class Row>
    [[gnu::always_inline]] static void before_real(Row row, Ledger&, const Word* words) {
        if (row.facts.is_enqueued)
            watch_operation(words[row.facts.stream()], row.facts.id,
                            row.facts.peer >= 0 ? static_cast<int>(words[row.facts.peer]) : -1);
        else if (row.facts.ends_group)
            watch_group();
    }
    template <class Row>
    [[gnu::always_inline]] static bool is_begun_at_once(Row row, const Word* words) {
        return row.facts.is_enqueued && group.depth == 0 &&
               gpu::launches.is_begun_at_once(words[row.facts.stream()], row.facts.id);
    }
    template <class Row>
    static void after_real(Row row, Word result) {
        if (row.facts.is_enqueued || row.facts.ends_group)
            watch_launched(result);
        else
            gpu::launches.settle();
    }
    template <class Row>
    static void unrecorded(Row row, const Word* words, Word result) {
        if (row.facts.is_enqueued) pass_unwatched_operation(words[row.facts.stream()]);
        if (row.facts.traffic == Traffic::collective)
            pass_unwatched(words[row.facts.at(Role::comm)], result);
        else if (row.facts.ends_communicator)
            gpu::launches.settle();
    }

    static wrap::Real real(int, const char* name, Word return_address) { return find_real(name, return_address); }
    // What the loader would have ended the process for, a caller who asked whether the function exists should survive.
    static Word missing(const char*) { return internal_error; }
    static bool is_off() { return library.is_off(); }
    static bool several() { return library.several; }
    static bool is_foreign(const wrap::Real& real) { return library.several && !library.is_ours(real.function); }
    // A communicator whose initialisation passed us by is used.
    static void begin_late(std::uint16_t id, const void* real);

    template <class Language, class Row>
    static void before_free(Row, Ledger&, const Word* words) {
        library.communicators.forget(words[0]);
        runtime.forget_handles();
    }

    template <class Language>
    [[gnu::noinline]] static Meaning meaning(Ledger&, Word type, Word comm, std::int64_t) {
        Meaning meaning{type == no_handle ? 1 : size_of_type(type), 0};
        if (comm != no_handle) meaning.communicator = library.communicators.find(runtime.records(), comm).index;
        return meaning;
    }

    // bookers.h
    template <class Language, class Row>
    static bool store(Row row, Ledger& ledger, Word* words);
    template <class Language, class Row>
    static void measure(Row row, Ledger& ledger, const Word* words);
    template <Id I, class Language>
    struct Size;

    static void watch_launched(Word result);

  private:
    static bool follow_made(Id id, const Word* words);
    [[gnu::always_inline]] static void watch_operation(Word stream, std::uint16_t call, int peer) {
        group.stream = stream;
        group.peer = peer;
        if (group.depth == 0) gpu::launches.begin_alone(stream, call);
    }
    static void watch_group();
    static void pass_unwatched_operation(Word stream);
    static void pass_unwatched(Word comm, Word result);
};

// What the GPU is at is told what it is (watch.cpp).
gpu::Operation on_the_gpu(std::uint16_t call, std::uint8_t bin, std::uint16_t communicator, Bytes bytes,
                          bool has_kernel);
void watch_enqueued(const Memo& memo, Bytes bytes);
void watch_ended(const Memo& memo);

}  // namespace mpiprof::nccl
