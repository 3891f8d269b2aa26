// The communicators of this rank: what a handle means, and an id on which all members agree although nobody asks
// anybody. The id of a communicator is a hash of its parent's id, of how many communicators were made from the parent
// before, and of the world rank of its rank 0: creation is collective, so all members count alike, and siblings differ
// in their rank 0. Used by library.h, after the real call, outside the timed interval. A handle is remembered until its
// life ends.
#pragma once

#include "libmpiprof/mpi/family.h"
#include "libmpiprof/record/ledger.h"

namespace mpiprof::mpi {

// A communicator as this rank sees it.
struct CommInfo {
    Word handle;          // C
    std::uint16_t index;  // into the profile's communicators; 0 = not told apart
    bool inter;
    int rank, size,
        members;  // of this rank; of the group it talks to; of its own, which is the same but for intercommunicators
    int in_degree, out_degree;  // of a topology's neighbourhood; -1 without one
};

class Communicators {
  public:
    // The communicator behind a valid C handle; in the profile from now on.
    CommInfo find(Records& records, Word handle);

    // In the profile from now on, for whoever hangs in the first call on it.
    void know(Records& records, Word handle);
    // A call on it that was not recorded has returned, and was one that all members make in one order. The second of
    // one that failed: of a handle that may mean nothing, nothing is asked.
    void count(Records& records, Word handle, std::uint64_t word);
    void count_known(Word handle, std::uint64_t word);

    // How a communicator was made, as far as its id depends on it.
    enum class Making {
        by_parent,   // collectively over `parent`, by all its members
        alike,       // the same, and each rank is the same rank of the parent (a topology that was not to be reordered)
        copied,      // as alike, and all else is as in the parent, so that nothing has to be asked (a dup)
        by_members,  // by those alone who are in it (Comm_create_group, Intercomm_create): `salt` tells twins apart
        later,       // as copied, by Comm_idup: nothing may be asked of it before its request completes
        unknown,     // with processes of other worlds, or without a world
    };
    // `call` made `handle` from `parent`; either may be null (MPI_COMM_NULL: this rank is not a member, but it
    // counted). True: the handle may have had another meaning up to now, whose end passed us by; nothing that was
    // remembered of it holds. Who remembers something of a handle has asked here before.
    bool made(Records& records, Making making, std::uint16_t call, Word parent, Word handle, std::uint64_t salt);
    void forget(Records& records, Word handle);
    // The rank in MPI_COMM_WORLD of a rank of a communicator, of the other group if there are two; -1: it has none, or
    // the communicator is not known (any more). Asks about no handle whose life may have ended.
    int world_rank(Word handle, int rank);
    // Whether each of its ranks is the same rank of MPI_COMM_WORLD, as far as this is known without a question.
    bool is_like_world(Word handle);
    int world_rank_in_window(Word window, int rank) const;  // of a window that a call has just accepted
    // The program named it (MPI_Comm_set_name).
    void renamed(Word handle);
    // Whether MPI_COMM_WORLD may be asked after: not with sessions alone, nor once MPI_Finalize has begun.
    std::atomic<bool> has_world{false};

  private:
    struct Known {
        CommInfo info;
        std::uint64_t id, parent;
        std::uint64_t children;  // made from it so far
        std::uint16_t made_by;   // call
        bool by_members;
        bool like_world;
        int first;  // its rank 0 in MPI_COMM_WORLD, of two groups the lower; not_asked
        format::Communicator* record;
    };

    static constexpr int not_asked = -2;
    Known& learn(Word handle);
    Known& known_to_profile(Records& records, Word handle);
    bool forget_known(Records& records, Word handle);
    CommInfo describe(Word handle) const;
    int world_rank_of_first(Known& k) const;
    int world_rank_in_group(Word group, int rank) const;
    bool can_translate() const;
    std::uint64_t hash_of_members(Word handle, bool inter, std::uint64_t salt) const;
    std::uint64_t hash_of_group(Word group) const;
    void publish(Records& records, Known& k);
    void name(const Known& k) const;

    Lock lock_;
    KnownCommunicators<Known> known_;
};

}  // namespace mpiprof::mpi
