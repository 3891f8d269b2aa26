// Whom a thread exchanges messages with: one record for each rank of MPI_COMM_WORLD, and what leads to it from what a
// call says, a communicator (or window) and a rank in it. Part of the ledger, whose thread alone uses it. What such a
// rank is in MPI_COMM_WORLD is asked above, once; what is remembered of it ends with the communicator.
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
    // Where messages to and from this peer are counted, if it was among the last that were; null: known(), then
    // learn(). `key` stands for the communicator, and is not 0.
    format::Peer* quick(Word key, int peer) const {
        const Place& place = place_of(key, peer);
        if (place.key != key || place.peer != peer) [[unlikely]]
            return nullptr;
        if (!place.record) __builtin_unreachable();  // no key is 0
        return place.record;
    }
    format::Peer* known(Word key, int peer);
    // Each rank of this communicator is the same rank of MPI_COMM_WORLD: nothing needs to be remembered of each one.
    void learn_like_world(Word key) {
        keys_ |= bit_of(key);
        like_world_place(key) = key;
    }
    // The peer is this rank of MPI_COMM_WORLD, or a NoSinglePeer. `records`: how many there are in the process.
    format::Peer* learn(Image& image, std::uint32_t thread, std::uint32_t& records, Word key, int peer,
                        std::uint32_t rank, format::PeerKind kind);
    // It is nobody (MPI_PROC_NULL): counted where nobody looks.
    format::Peer* learn_nobody(Word key, int peer);
    // The record of a rank, or of a NoSinglePeer.
    format::Peer* of_rank(Image& image, std::uint32_t thread, std::uint32_t& records, std::uint32_t rank,
                          format::PeerKind kind);
    // Communicators ended: their keys may mean something else now.
    void forget();
    void forget(Word key) {  // and what may be the same
        if ((keys_ & bit_of(key)) != 0) [[unlikely]]
            forget_known(key);
    }

  private:
    static constexpr unsigned bits = 7;
    struct alignas(32) Place {
        Word key;
        Word peer;
        format::Peer* record;
    };
    // Behind the places, with open addressing, at most three quarters full: the records by their ranks ...
    static constexpr std::uint32_t inner_ranks = 64, first_outer_ranks = 1024;  // a page
    std::uint32_t* find_rank(std::uint32_t rank, format::PeerKind kind);        // or where it belongs
    bool make_room_for_rank();
    format::Peer* record_at(std::uint32_t place) const {
        return reinterpret_cast<format::Peer*>(base_ + std::uint64_t{place & offset_bits} * 64);
    }
    // ... and what is known of the ranks of communicators that are not like MPI_COMM_WORLD.
    struct Slot {
        Word key;
        std::int32_t peer;
        std::uint32_t record;  // file offset / 64; 0 = empty
    };
    static constexpr std::uint32_t first_slots = 256, most_slots = 16384;
    Slot* find(Word key, int peer);  // or where it belongs
    void insert(Word key, int peer, std::uint32_t record);
    bool make_room();
    bool grow(std::uint32_t capacity);
    void forget_slots();
    // Those that are: of two that have one place, the later.
    static constexpr unsigned like_world_bits = 4;
    Word& like_world_place(Word key) {
        return like_world_[short_hash<like_world_bits>(static_cast<std::uint64_t>(key))];
    }
    bool is_like_world(Word key) { return like_world_place(key) == key; }

    const Place& place_of(Word key, int peer) const {
        return places_[short_hash<bits>(static_cast<std::uint64_t>(key + Word{peer} * 8))];
    }
    void remember(Word key, int peer, format::Peer* record);
    format::Peer* new_record(Image& image, std::uint32_t thread, std::uint32_t rank, format::PeerKind kind);

    void forget_known(Word key);

    Place places_[1u << bits];
    char* base_;  // of the image
    // File offset / 64 in the lower bits, some of the rank's hash above them; 0 = empty.
    static constexpr std::uint32_t offset_bits = largest_image / 64 - 1;
    std::uint32_t inner_ranks_[inner_ranks];
    std::uint32_t* ranks_;  // null: not yet
    std::uint32_t rank_capacity_, rank_count_;
    Slot* slots_;
    std::uint32_t capacity_, used_;
    Word like_world_[1u << like_world_bits];
    std::uint64_t keys_;  // a bit for each key of which something is remembered, and for others
    static std::uint64_t bit_of(Word key) { return std::uint64_t{1} << (mix(static_cast<std::uint32_t>(key)) >> 58); }
    format::Table* table_;
    format::Peer* others_[2];  // by kind
    alignas(64) format::Peer nobody_;
};

}  // namespace mpiprof
