// Whom a thread exchanges messages with: one record for each rank of MPI_COMM_WORLD, and what leads to it from what a
// call says, a communicator (or window) and a rank in it. Part of the ledger, whose thread alone uses it. What such a
// rank is in MPI_COMM_WORLD is asked above, once; what is remembered of it ends with the communicator.
#pragma once

#include "libmpiprof/base/open_table.h"
#include "libmpiprof/record/rows.h"

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
        const Recent& recent = recent_of(key, peer);
        if (recent.key != key || recent.peer != peer) [[unlikely]]
            return nullptr;
        if (!recent.record) __builtin_unreachable();  // no key is 0
        return recent.record;
    }
    // Its image and thread, and how many records there are in the process.
    void open(Image& image, std::uint32_t thread, std::uint32_t& records) {
        image_ = &image;
        thread_ = thread;
        records_ = &records;
    }
    format::Peer* known(Word key, int peer);
    // Each rank of this communicator is the same rank of MPI_COMM_WORLD: nothing needs to be remembered of each one.
    void learn_like_world(Word key) {
        keys_ |= bit_of(key);
        like_world_slot(key) = key;
    }
    // The peer is this rank of MPI_COMM_WORLD, or a NoSinglePeer.
    format::Peer& learn(Word key, int peer, std::uint32_t rank, format::PeerKind kind);
    // It is nobody (MPI_PROC_NULL): counted where nobody looks.
    format::Peer& learn_nobody(Word key, int peer);
    // The record of a rank, or of a NoSinglePeer.
    format::Peer& of_rank(std::uint32_t rank, format::PeerKind kind);
    // What counts here the messages that another thread has counted there.
    format::Flow& own_flow(format::Flow& other_threads);
    // Communicators ended: their keys may mean something else now.
    void forget();
    void forget(Word key) {  // and what may be the same
        if ((keys_ & bit_of(key)) != 0) [[unlikely]]
            forget_known(key);
    }

  private:
    static constexpr unsigned bits = 7;
    struct alignas(32) Recent {
        Word key;
        Word peer;
        format::Peer* record;
    };
    // Behind those that were asked for last: the records by their ranks ...
    format::Peer* of_known_rank(std::uint32_t rank, format::PeerKind kind) const;  // null: it has none
    format::Peer* record_at(std::uint32_t line) const { return &image_->at_line<format::Peer>(line & line_bits); }
    // ... and what is known of the ranks of communicators that are not like MPI_COMM_WORLD.
    struct Slot {
        Word key;
        std::int32_t peer;
        std::uint32_t record;  // line of the file
        bool is_free() const { return record == 0; }
    };
    const Slot* find(Word key, int peer) const;
    bool make_room_for_slot();
    // Those that are: of two that share a slot, the later.
    static constexpr unsigned like_world_bits = 4;
    Word& like_world_slot(Word key) {
        return like_world_[short_hash<like_world_bits>(static_cast<std::uint64_t>(key))];
    }
    bool is_like_world(Word key) { return like_world_slot(key) == key; }

    const Recent& recent_of(Word key, int peer) const {
        return recent_[short_hash<bits>(static_cast<std::uint64_t>(key + Word{peer} * 8))];
    }
    void remember(Word key, int peer, format::Peer* record);
    // For each of the recent ones that are in use; most threads talk to few.
    template <class Use>
    void each_recent(Use use) {
        for (unsigned part = 0; part < parts; ++part)
            for (std::uint64_t left = used_[part]; left != 0; left &= left - 1)
                use(recent_[part * 64 + static_cast<unsigned>(__builtin_ctzll(left))]);
    }
    format::Peer* new_record(std::uint32_t rank, format::PeerKind kind);

    void forget_known(Word key);

    Recent recent_[1u << bits];
    static constexpr unsigned parts = (1u << bits) / 64;
    std::uint64_t used_[parts];  // which of them
    Image* image_;
    std::uint32_t* records_;
    std::uint32_t thread_;
    // A line of the file in the lower bits, some of the rank's hash above them.
    static constexpr std::uint32_t line_bits = largest_image / 64 - 1;
    OpenTable<std::uint32_t, OpenTableSize{.inside = 64, .outside = 1024, .most = 16384, .quarters = 3}> ranks_;
    OpenTable<Slot, OpenTableSize{.inside = 0, .outside = 256, .most = 16384, .quarters = 3}> slots_;
    Word like_world_[1u << like_world_bits];
    std::uint64_t keys_;  // a bit for each key of which something is remembered, and for others
    static std::uint64_t bit_of(Word key) { return std::uint64_t{1} << (mix(static_cast<std::uint32_t>(key)) >> 58); }
    // Most threads talk to few others: the first table is small, and each further one twice as large.
    static constexpr std::uint32_t first_records = 8, most_per_table = 64;
    Rows<format::Peer, first_records> rows_;
    format::Peer* others_[2];  // by kind
    alignas(64) format::Peer nobody_;
};

}  // namespace mpiprof
