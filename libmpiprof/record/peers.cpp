// The slow half: a peer's first message, and what is done when there is no room for it.
#include "libmpiprof/record/peers.h"

#include <string.h>

namespace mpiprof {
namespace {

using namespace format;

std::uint32_t hash(Word key, int peer) {
    return static_cast<std::uint32_t>(mix(static_cast<std::uint64_t>(key) * 5 + static_cast<std::uint32_t>(peer)) >>
                                      32);
}
std::uint32_t hash_of_rank(std::uint32_t rank, PeerKind kind) {
    return hash(static_cast<Word>(kind), static_cast<std::int32_t>(rank));
}

}  // namespace

void Peers::remember(Word key, int peer, Peer* record) {
    keys_ |= bit_of(key);
    const auto at = static_cast<unsigned>(&recent_of(key, peer) - recent_);
    used_[at / 64] |= std::uint64_t{1} << at % 64;
    recent_[at] = {key, peer, record};
}

// ---- records by rank ----

Peer* Peers::of_known_rank(std::uint32_t rank, PeerKind kind) const {
    const std::uint32_t h = hash_of_rank(rank, kind);
    const std::uint32_t* line = ranks_.find(h, [&](std::uint32_t known) {
        if (((known ^ h) & ~line_bits) != 0) return false;
        const Peer& record = *record_at(known);
        return record.rank == rank && record.kind == kind;
    });
    return line ? record_at(*line) : nullptr;
}

// ---- what communicators tell ----

const Peers::Slot* Peers::find(Word key, int peer) const {
    return slots_.find(hash(key, peer), [&](const Slot& slot) { return slot.key == key && slot.peer == peer; });
}

// What is known is asked for again when it has grown too large.
bool Peers::make_room_for_slot() {
    const auto hash_of = [](const Slot& slot) { return hash(slot.key, slot.peer); };
    if (slots_.make_room(hash_of)) return true;
    slots_.clear();
    return slots_.make_room(hash_of);
}

void Peers::forget() {
    each_recent([](Recent& recent) { recent = {}; });
    for (std::uint64_t& used : used_) used = 0;
    for (Word& key : like_world_) key = 0;
    keys_ = 0;
    slots_.clear();
}

void Peers::forget_known(Word key) {
    if (may_be_same_handle(like_world_slot(key), key)) like_world_slot(key) = 0;
    std::uint64_t keys = 0;
    each_recent([&](Recent& recent) {
        if (may_be_same_handle(recent.key, key)) recent = {};
        if (recent.key != 0) keys |= bit_of(recent.key);
    });
    if (slots_.any([&](const Slot& slot) { return may_be_same_handle(slot.key, key); }))
        slots_.clear();  // the others are asked for again
    if (slots_.count() != 0) return;
    for (const Word other : like_world_)
        if (other != 0) keys |= bit_of(other);
    keys_ = keys;
}

Peer* Peers::known(Word key, int peer) {
    Peer* record = nullptr;
    if (peer >= 0 && is_like_world(key))
        record = of_known_rank(static_cast<std::uint32_t>(peer), PeerKind::messages);
    else if (const Slot* slot = find(key, peer))
        record = record_at(slot->record);
    if (record) remember(key, peer, record);
    return record;
}

// ---- new ones ----

Peer* Peers::new_record(std::uint32_t rank, PeerKind kind) {
    std::uint32_t at_once = first_records;
    if (const Table* newest = rows_.newest())
        at_once = newest->capacity * 2 < most_per_table ? newest->capacity * 2 : most_per_table;
    Peer* record = rows_.next(*image_, thread_, at_once);
    if (!record) return nullptr;
    record->rank = rank;
    record->kind = kind;
    rows_.publish();
    return record;
}

// The record of others is made first, so that there is always one to count in.
Peer& Peers::of_rank(std::uint32_t rank, PeerKind kind) {
    nobody_.rank = peer_unknown;
    Peer*& other = others_[kind == PeerKind::one_sided];
    if (!other && !(other = new_record(peer_other, kind))) return nobody_;
    if (rank == peer_other) return *other;
    if (Peer* known = of_known_rank(rank, kind)) return *known;
    const auto hash_of = [&](std::uint32_t known) {
        return hash_of_rank(record_at(known)->rank, record_at(known)->kind);
    };
    if (!ranks_.make_room(hash_of)) return *other;
    const bool is_single = rank < peer_any;
    if (is_single) {
        if (__atomic_load_n(records_, __ATOMIC_RELAXED) >= most_records) return *other;
        if (__atomic_fetch_add(records_, 1, __ATOMIC_RELAXED) >= most_records) {
            __atomic_fetch_sub(records_, 1, __ATOMIC_RELAXED);
            return *other;
        }
    }
    Peer* record = new_record(rank, kind);
    if (!record) return *other;
    const std::uint32_t h = hash_of_rank(rank, kind);
    ranks_.insert(h, image_->line_of(record) | (h & ~line_bits));
    return *record;
}

Peer& Peers::learn(Word key, int peer, std::uint32_t rank, PeerKind kind) {
    Peer& record = of_rank(rank, kind);
    const bool is_by_rank = peer >= 0 && is_like_world(key);
    if (&record != &nobody_ && !is_by_rank && make_room_for_slot() && !find(key, peer))
        slots_.insert(hash(key, peer), {key, peer, image_->line_of(&record)});
    remember(key, peer, &record);
    return record;
}

// A flow is one of the two of a peer's record, and records lie in lines of their own.
Flow& Peers::own_flow(Flow& other_threads) {
    const auto line = reinterpret_cast<std::uintptr_t>(&other_threads) & ~std::uintptr_t{sizeof(Peer) - 1};
    const Peer& peer = *reinterpret_cast<const Peer*>(line);
    if (peer.rank == peer_unknown) return other_threads;  // it may be nobody's, who has no record
    Peer& own = of_rank(peer.rank, peer.kind);
    return &other_threads == &peer.sent ? own.sent : own.received;
}

Peer& Peers::learn_nobody(Word key, int peer) {
    nobody_.rank = peer_unknown;
    remember(key, peer, &nobody_);
    return nobody_;
}

}  // namespace mpiprof
