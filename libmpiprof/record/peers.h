// Whom a thread exchanges messages with: one record for each rank of MPI_COMM_WORLD, and the two tables that lead to it
// from what a call says, a communicator (or window) and a rank in it. Part of the ledger, whose thread alone uses it. What
// such a rank is in MPI_COMM_WORLD is asked above, once; what is remembered of it ends with the communicator.
#pragma once

#include "libmpiprof/format/layout.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

class Peers {
  public:
    // Of one process, all threads together; what finds none is counted in its thread's record of others.
    static constexpr std::uint32_t most_records = 4096;

    static void add(format::Flow& flow, Bytes bytes, Ticks ticks) {
        flow.messages += 1;
        flow.bytes += bytes;
        flow.ticks += ticks;
    }
    // Where messages to and from this peer are counted, if it was among the last that were; null: known(), then learn(). `key`
    // stands for the communicator, and is not 0.
    format::Peer* quick(Word key, int peer) const {
        const Place& place = place_of(key, peer);
        if (place.key != key || place.peer != peer) [[unlikely]] return nullptr;
        if (!place.record) __builtin_unreachable();  // no key is 0
        return place.record;
    }
    format::Peer* known(Word key, int peer);
    // The peer is this rank of MPI_COMM_WORLD, or a NoSinglePeer. `records`: how many there are in the process.
    format::Peer* learn(Image& image, std::uint32_t thread, std::uint32_t& records, Word key, int peer, std::uint32_t rank,
                        format::PeerKind kind);
    // It is nobody (MPI_PROC_NULL): counted where nobody looks.
    format::Peer* learn_nobody(Word key, int peer);
    // The record of a rank, or of a NoSinglePeer.
    format::Peer* of_rank(Image& image, std::uint32_t thread, std::uint32_t& records, std::uint32_t rank, format::PeerKind kind);
    // Communicators ended: their keys may mean something else now.
    void forget();

  private:
    static constexpr unsigned bits = 7;
    struct alignas(32) Place {
        Word key;
        Word peer;
        format::Peer* record;
    };
    // Behind the places, open addressing, at most half full: everything known, and the records by rank.
    struct Slot {
        Word key;  // of a rank: by_rank() of its kind; `gone` of what is forgotten
        std::int32_t peer;
        std::uint32_t record;  // file offset / 64; 0 = empty
    };
    static constexpr std::uint32_t first_slots = 256, most_slots = 32768;
    static constexpr Word gone = -2;
    static Word by_rank(format::PeerKind kind) { return 1 + static_cast<Word>(kind); }  // no communicator's key

    const Place& place_of(Word key, int peer) const { return places_[short_hash<bits>(static_cast<std::uint64_t>(key + Word{peer} * 8))]; }
    void remember(Word key, int peer, format::Peer* record);
    Slot* find(Word key, int peer);  // or where it belongs
    void insert(Word key, int peer, std::uint32_t record);
    bool make_room();
    bool rebuild(std::uint32_t capacity);
    format::Peer* new_record(Image& image, std::uint32_t thread, std::uint32_t rank, format::PeerKind kind);

    Place places_[1u << bits];
    char* base_;  // of the image
    Slot* slots_;
    std::uint32_t capacity_, used_;
    format::Table* table_;
    format::Peer* others_[2];  // by kind
    alignas(64) format::Peer nobody_;
};

}  // namespace mpiprof
