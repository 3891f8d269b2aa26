// The communicators of which NCCL tells its profiler: each has a context, the pointer of ours that NCCL keeps, and from
// it the place in the profile where its operations are counted. Used by profiler.cpp alone.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/nccl/told.h"
#include "libmpiprof/record/records.h"

namespace mpiprof::nccl {

// An operation as the profile has it.
struct Recorded {
    std::uint16_t call, index;  // index: of its communicator
    std::uint8_t bin;
    Bytes bytes;
};

// One that a communicator made before. Its texts are known by their addresses, since NCCL's are constants. NCCL may
// tell of a graph's operations in a thread of CUDA's meanwhile: the lock of the operations' table guards this, too.
struct Kind {
    const char *function, *type, *algorithm, *protocol;
    std::size_t count;
    unsigned channels;
    Recorded recorded;
    format::NcclOperation* operation;  // null: this is none
    bool is(const Told& told) const {
        return operation && function == told.function && count == told.count && type == told.type &&
               algorithm == told.algorithm && protocol == told.protocol && channels == told.channels &&
               (!told.has_tag || operation->tag == told.tag);
    }
};

struct Context {
    Word address;        // where NCCL keeps our pointer; 0: free
    std::uint64_t hash;  // NCCL's, the same for all members; 0: not told
    unsigned earlier;    // of the same hash and rank, made by this process before
    int rank, size;      // size 0: not told
    bool is_through_us;  // its operations are counted where they are called
    char name[64];
    std::uint16_t index;  // into the profile's communicators; 0: not known yet
    static constexpr unsigned kinds = 4;
    Kind known[kinds];
};

// What NCCL gets for the handle of an event: the address of one of these. Some versions tell of nothing inside of what
// got no handle, so all gets one.
struct OwnHandles {
    char nothing, group, kernel;
    bool have(const void* handle) const { return handle == &nothing || handle == &group || handle == &kernel; }
};
[[gnu::visibility("hidden")]] extern constinit OwnHandles own_handles;

// Contexts lie in a table of fixed size; what finds no place there is counted on no communicator.
class Contexts {
  public:
    // Of a communicator that NCCL makes, which keeps our pointer at `address`; the nameless one where there is no room.
    struct Seat {
        Word address;
        const char* name;    // null: none
        std::uint64_t hash;  // 0: not told
        int rank, size;
        bool is_through_us;
    };
    Context& begin(const Seat& seat);
    void end(Context& context);
    // Of those without a place, and of a plugin that keeps quiet.
    Context& nowhere() { return nowhere_; }
    bool is_nowhere(const Context& context) const { return &context == &nowhere_; }

    // The communicator, where it is told of with its operations alone.
    void learn(Context& context, const Told& told);
    // Which communicator of the profile it is; a handle that is in the caller's hand says it best. 0: not known yet.
    std::uint16_t index_of(Records& records, Context& context, Word handle_in_hand);
    // This is the handle of what NCCL told of.
    void learn_offset(const Context& context, Word handle);

    // So many are about to be made through us; and whether one that NCCL tells of now is one of them.
    void expect(int n);
    bool is_expected();

  private:
    static constexpr unsigned most = 1024;
    Context& take(Word address);
    void number(Context& context);
    void tell_world(const Context& context) const;
    std::uint16_t known_index(Records& records, const Context& context, Word handle_in_hand) const;

    Lock lock_;
    Context contexts_[most]{};
    Context nowhere_{};
    unsigned highest_ = 0;         // so many places were ever used
    std::atomic<int> expected_{};  // communicators that are being made through us
    std::atomic<Word> offset_{};   // from handle to context address; 0: not known
};
[[gnu::visibility("hidden")]] extern constinit Contexts contexts;

}  // namespace mpiprof::nccl
