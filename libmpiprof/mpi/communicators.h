// The communicators of this rank: what a handle means, and an id on which all members agree although nobody asks
// anybody. The id of a communicator is a hash of its parent's id, of how many communicators were made from the parent
// before, and of the world rank of its rank 0: creation is collective, so all members count alike, and siblings differ
// in their rank 0. Used by library.h, after the real call, outside the timed interval. A handle is remembered until its
// life ends, which the library tells us of all that are used more than once; the others are looked at again each time.
#pragma once

#include "libmpiprof/mpi/family.h"
#include "libmpiprof/mpi/told_ends.h"
#include "libmpiprof/record/communicator_table.h"
#include "libmpiprof/record/records.h"

namespace mpiprof::mpi {

// A communicator as this rank sees it.
struct CommInfo {
    Word handle;          // C
    std::uint16_t index;  // into the profile's communicators; 0 = not told apart
    bool inter;
    int rank, size,
        members;  // of this rank; of the group it talks to; of its own, which is the same but for intercommunicators
    int in_degree, out_degree;  // of a topology's neighbourhood; -1 without one
    bool is_told;               // its end will be: all this holds until then, and may be remembered elsewhere
    bool was_stale;             // the handle meant another one before, whose end passed us by
};

class Communicators {
  public:
    // From now on communicators, types and windows can tell of their end, and these are called then; and no longer,
    // since MPI is about to end.
    void begin_to_watch(Questions::Delete* communicator_ended, Questions::Delete* window_ended,
                        Questions::Delete* type_ended);
    void end_watching();
    // The communicator whose attribute had this value has ended; by any thread, out of the library.
    ToldEnds::Handles ended(void* slot) {
        return told_.end(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(slot)));
    }

    // The communicator behind a valid C handle; in the profile from now on.
    CommInfo find(Records& records, Word handle);
    // As find(), but for its rank and its neighbourhood.
    CommInfo find_index(Records& records, Word handle);
    // As find(), of one that is asked about later, when it may be gone: its end is told from the first time on.
    CommInfo find_for_later(Records& records, Word handle);

    // In the profile from now on, for whoever hangs in the first call on it.
    void know(Records& records, Word handle);
    // A call on it that was not recorded has returned, and was one that all members make in one order. The second of
    // one that failed: of a handle that may mean nothing, nothing is asked.
    // True: the handle meant another one before, whose end passed us by.
    bool count(Records& records, Word handle, std::uint64_t word);
    void count_known(Word handle, std::uint64_t word);
    // The same of one of which all is known; false, and nothing done: count().
    bool count_told(Word handle, std::uint64_t word) {
        const Guard guard(lock_);
        const Known* k = told_.has_ended() ? nullptr : known_.find(handle);
        if (!k || !k->info.is_told || !k->record) [[unlikely]]
            return false;
        static_cast<CommunicatorTable::Counted*>(k->record)->count_untimed(word);
        return true;
    }

    // How a communicator was made, as far as its id depends on it.
    enum class Making {
        by_parent,   // collectively over `parent`, by all its members
        alike,       // the same, and each rank is the same rank of the parent (a topology that was not to be reordered)
        copied,      // as alike, and all else is as in the parent, so that nothing has to be asked (a dup)
        by_members,  // by those alone who are in it (Comm_create_group, Intercomm_create): `salt` tells twins apart
        later,       // as copied, by Comm_idup: nothing may be asked of it before its request completes
        unknown,     // with processes of other worlds, or without a world
    };
    // The call `made_from`, as the profile says it (address 0: from where is not known), made `handle` from `parent`;
    // either may be null (MPI_COMM_NULL: this rank is not a member, but it counted). True: the handle may have had
    // another meaning up to now, whose end passed us by; nothing that was remembered of it holds. Who remembers
    // something of a handle has asked here before. The same of the parent's.
    struct WereStale {
        bool handle, parent;
    };
    WereStale made(Records& records, Making making, std::uint64_t made_from, Word parent, Word handle,
                   std::uint64_t salt);
    void forget(Records& records, Word handle);
    // Freed inside another call, or by a callback while MPI ends, where nobody waits for our lock: it is not said to be
    // left over.
    void may_have_ended(Word handle);
    // The rank in MPI_COMM_WORLD of a rank of a communicator, of the other group if there are two; -1: it has none, or
    // the communicator is not known (any more). `is_in_hand`: a call has just accepted it; else nothing is asked about
    // a handle whose life may have ended.
    struct WorldRank {
        int rank;
        bool is_told;     // as in CommInfo
        bool like_world;  // each of its ranks is the same rank of MPI_COMM_WORLD, as far as this is known
    };
    WorldRank world_rank(Word handle, int rank, bool is_in_hand);
    int world_rank_in_window(Word window, int rank) const;  // of a window that a call has just accepted
    // Whether the end of this window, or type, that a call has just accepted will be told: now at the latest.
    bool tells_of_window(Word window) const;
    bool tells_of_type(Word type) const;
    // Its index in the profile, without a question; 0: it is not known (any more).
    std::uint16_t index_of_known(Word handle);
    // The program named it (MPI_Comm_set_name).
    void renamed(Word handle);
    // Whether MPI_COMM_WORLD may be asked after: not with sessions alone, nor once MPI_Finalize has begun.
    std::atomic<bool> has_world{false};

  private:
    struct Known {
        CommInfo info;
        std::uint64_t id, parent;
        std::uint64_t children;   // made from it so far
        std::uint64_t made_from;  // 0: not by a call that was seen
        bool by_members;
        bool like_world;
        std::int8_t uses;    // up to `used_again`, when it is to tell of its end
        std::uint32_t slot;  // of ToldEnds, whether or not the attribute is set yet; none
        int first;           // its rank 0 in MPI_COMM_WORLD, of two groups the lower; not_asked
        format::Communicator* record;
    };

    static constexpr int not_asked = -2;
    // An attribute costs an MPI more than what is done otherwise about a communicator that is used once: one that was
    // seen being made gets it at its second use. What was not was made by a way that may end it, too. And a handle
    // whose end was told may be used by other callbacks while that end goes on, when it is too late for an attribute.
    static constexpr std::int8_t used_again = 2, used_once = 1, has_just_ended = -16, cannot_tell = -128;
    class Entered;
    Known& learn(Word handle);
    Known& known_now(Word handle, bool& was_stale, bool is_whole = true);
    Known& known_to_profile(Records& records, Word handle, bool& was_stale, bool is_whole = true);
    CommInfo find(Records& records, Word handle, std::int8_t uses, bool is_whole);
    bool let_it_tell(Word handle, std::uint32_t slot);
    std::uint32_t slot_to_tell(Known& k);
    void collect_ended();
    bool forget_known(Records& records, Word handle);
    CommInfo describe(Word handle, bool is_whole = true) const;
    int world_rank_of_first(Known& k) const;
    int world_rank_in_group(Word group, int rank) const;
    bool can_translate() const;
    std::uint64_t hash_of_members(Word handle, bool inter, std::uint64_t salt) const;
    std::uint64_t hash_of_group(Word group) const;
    void publish(Records& records, Known& k);
    void name(const Known& k) const;

    Lock lock_;
    KnownCommunicators<Known> known_;
    ToldEnds told_;
    // What the attributes are set by; 0: there is none.
    struct Keyval {
        int number;
        bool is_there;
    };
    Keyval of_communicators_{}, of_windows_{}, of_types_{};
    int named_ = 0;  // MPI_COMBINER_NAMED, where types tell of their end; 0 keeps the library in .bss
    std::atomic<bool> has_missed_an_end_{false};
    Word ended_lately_[64] = {};
};

// What every question begins with: whose end was told is not known any more.
class Communicators::Entered {
  public:
    explicit Entered(Communicators& of) : guard_(of.lock_) {
        if (of.told_.has_ended()) [[unlikely]]
            of.collect_ended();
    }

  private:
    Guard guard_;
};

}  // namespace mpiprof::mpi
