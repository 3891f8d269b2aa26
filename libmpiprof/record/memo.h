// What passes between a wrapper and the ledger: the call in hand, what it stands for, and the memo of what one like it
// led to last time, which spares the next one every question. Plain structs; the ledger's thread alone uses them.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof {

// A call's identity on the hot path: where it returns to, and which call it is. User addresses
// have at most 48 bits unless a program asks for more.
constexpr std::uint64_t call_key(std::uint16_t call, Word return_address) {
    return (std::uint64_t{call} << 48) + static_cast<std::uint64_t>(return_address);
}
constexpr std::uint16_t call_of(std::uint64_t key) { return static_cast<std::uint16_t>(key >> 48); }
constexpr Word address_of(std::uint64_t key) { return static_cast<Word>(key & 0xffffffffffffull); }

// The call in hand of a thread, as its first half leaves it for its second half. Only what the row's Booker reads is
// set.
struct CallInHand {
    Word type;  // datatype handle as passed; no_handle: count is in bytes
    std::int64_t count;
    const int* ierror;          // Fortran only
    format::BufferKind buffer;  // of the call in hand; the host's unless its library says otherwise
    Word words[5];              // arguments that are read again afterwards, as the row's Size stores them
    std::int64_t members;       // what the bytes are a mean over
    std::int64_t requests;      // completion: how many were given (0: none of interest),
    const Word* handles;        // and a copy of their handles, since the library overwrites them
    Word handle;                // the copy's place if it is only one
    Word scratch[8];            // for a status that the caller does not want
    int source;                 // of an exchange
    Bytes sent;                 // of an exchange whose size was asked for
};
struct Booking {
    Word type;
    std::int64_t count;
};
// A word that is no handle in any MPI: the place of a communicator or type in calls that have none.
inline constexpr Word no_handle = -1;

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
    std::uint32_t type_size;  // of `type`, where it holds one
    // Lower half of the address of the wrapper's frame: the words below are valid stack only there.
    std::uint32_t frame;
    std::uint16_t at[2];   // where the return addresses of the next two callers lie, in words above the frame,
    std::uint8_t bin;      // hot_bin() of the sizes that `cell` is of; no_bin: look again
    std::uint8_t type_at;  // what the ledger's Handles know of `type` and `comm`; Handles::none: nothing
    std::uint8_t comm_at;
    std::uint32_t word[2];  // and the lower halves of these. at 0 is the call's own: always alike
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
