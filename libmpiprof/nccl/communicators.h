// The NCCL communicators of this process: what a handle means, and an id on which all members agree although nobody
// asks anybody. Whoever calls ncclCommInitRank together has been given the same ncclUniqueId: its hash is the id. One
// that is made from another has a hash of that one's id, of how many were made from it before, and of the colour. Used
// by library.h after the real call, outside the timed interval.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/record/records.h"

namespace mpiprof::nccl {

std::uint64_t hash_of_bytes(const void* bytes, std::size_t n);

// A communicator as this rank sees it. size 0: not known yet.
struct CommInfo {
    Word handle;
    std::uint16_t index;  // into the profile's communicators; 0 = not told apart
    int rank, size;
    bool is_nonblocking;  // a thread of NCCL's launches what is enqueued on it
};

class Communicators {
  public:
    // How the library answers for a communicator; null until one is met.
    struct Questions {
        int (*count)(Word comm, int* count);
        int (*user_rank)(Word comm, int* rank);
    } questions{};
    // The communicator behind a valid handle, or none behind 0; in the profile from now on. Its size and rank are asked
    // of the library where no call has told them.
    CommInfo find(Records& records, Word handle);

    struct Made {
        std::uint16_t call;
        Word handle;
        std::uint64_t id, parent;  // 0: not known
        int rank, size;            // size 0: not known
        const char* name;          // null: none
        bool is_nonblocking;
    };
    // True: the handle had another meaning up to now, whose end passed us by.
    bool made(const Made& made);
    // The id of what is made from `parent` now by all its members, told apart by `salt`; 0 if the parent is not known.
    std::uint64_t id_of_child(Word parent, std::uint64_t salt);
    // The id of what some of its members make, whom `salt` tells; the others do not know of it. One that the
    // same members make again has the same id.
    std::uint64_t id_of_part(Word parent, std::uint64_t salt);
    std::uint64_t id_of(Word handle);
    bool is_nonblocking(Word handle);
    void forget(Word handle);
    // The index into the profile's communicators of a handle that is known; else 0.
    std::uint16_t known_index(Records& records, Word handle);
    // The index of the only one of this rank and size that is alive; 0: there are none, or several.
    std::uint16_t only_index(Records& records, int rank, int size);
    // By its index into the profile's communicators; with size 0 where that is not known.
    CommInfo at(std::uint16_t index);
    // How many members of a communicator this process is, one for each of its GPUs that are, and the lowest of their
    // ranks.
    struct Here {
        int members, lowest_rank;
    };
    Here members_here(std::uint64_t id);

  private:
    struct Known {
        CommInfo info;
        std::uint64_t id, parent;
        std::uint64_t children;  // made from it so far
        std::uint16_t made_by;   // call
        char name[64];
        format::Communicator* record;
    };
    std::uint16_t published(Records& records, Known& k);
    void ask(Known& k) const;
    void publish(Records& records, Known& k);

    Lock lock_;
    KnownCommunicators<Known> known_;
};

}  // namespace mpiprof::nccl
