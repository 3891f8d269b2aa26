// What passes between a wrapper and the ledger: what the handles of a call stand for, and the memo of what one like it
// led to last time, which spares the next one every question. Plain structs; the ledger's thread alone uses them.
#pragma once

#include "libmpiprof/record/call_in_hand.h"

namespace mpiprof {

// What a row's Booker makes of the call in hand.
struct Booking {
    Word type;
    std::int64_t count;
};
// Stands for a handle in a memo that holds none: whose handle ended, or is not known to last. No register holds it.
inline constexpr Word no_such_handle = Word{0x5e} << 56;

// What one (return address, call, callers, size bin, communicator) led to last time, and in the first memo of a place
// the handles that it was then. A hit compares them all; a handle's end takes the handles away and leaves the rest.
struct alignas(64) Memo {
    std::uint64_t key;  // call_key; no_key = empty
    Word type;          // as passed, as is
    Word comm;
    format::Cell* cell;
    format::Histogram* histogram;
    const Word* frame;             // the wrapper's: the words below are valid stack only there
    std::uint32_t bin : 8;         // hot_bin() of the sizes that `cell` is of; no_bin: look again
    std::uint32_t type_size : 24;  // of `type`, where it holds one
    std::uint16_t at[2];           // where the return addresses of the next two callers lie, in words above the frame,
    std::uint32_t word[2];         // and the lower halves of these. at 0 is the call's own: always alike
    static constexpr std::uint64_t largest_type = 0xffffff;
    bool is_free() const { return key == 0; }
};
static_assert(sizeof(Memo) == 64);
// With whom a memo's calls were last seen to exchange messages by the plain form: as long as it is the same, nobody is
// looked up.
struct MemoPeer {
    Word peer;  // as passed; or no_rank
    format::Peer* record;
    static constexpr Word no_rank = Word{1} << 32;  // -1 and others stand for MPI_ANY_SOURCE and the like
};
static_assert(sizeof(Memo) % sizeof(MemoPeer) == 0);
constexpr std::uint32_t lower_half(Word word) { return static_cast<std::uint32_t>(word); }
inline std::uint32_t lower_half(const Word* frame) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(frame));
}
inline constexpr std::uint64_t no_key = 0;  // pages of memos that were never used stay untouched
inline constexpr std::uint8_t no_bin = 0xff;
// format::size_bin() without its branch: 63 stands for size 0, all others are the bins themselves.
inline std::uint8_t hot_bin(Bytes bytes) { return static_cast<std::uint8_t>(top_bit((bytes - 1) | 3)); }

// A communicator as this rank sees it; not for intercommunicators.
struct Group {
    Word handle;  // as Language::group_key has it; 0 = empty
    int rank, size;
    int in_degree, out_degree;  // of a topology's neighbourhood; -1 without one
};

// What the handles of a call stand for.
struct Meaning {
    std::uint64_t type_size;
    std::uint16_t communicator;  // index into the profile's communicators
    bool is_lasting = true;      // false: no memo is to hold its handles
    format::BufferKind buffer = format::BufferKind::host;
    std::uint8_t type_at = 0xff, comm_at = 0xff;  // where the ledger's Handles know them
};

}  // namespace mpiprof
