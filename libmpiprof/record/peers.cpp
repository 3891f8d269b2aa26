// The slow half: a peer's first message, and what is done when there is no room for it.
#include "libmpiprof/record/peers.h"

#include <string.h>

namespace mpiprof {
namespace {

using namespace format;

constexpr std::uint32_t records_per_table = 32;

std::uint32_t hash(Word key, int peer) {
    return static_cast<std::uint32_t>(mix(static_cast<std::uint64_t>(key) * 5 + static_cast<std::uint32_t>(peer)) >> 32);
}

}  // namespace

void Peers::remember(Word key, int peer, Peer* record) { const_cast<Place&>(place_of(key, peer)) = {key, peer, record}; }

Peers::Slot* Peers::find(Word key, int peer) {
    for (std::uint32_t i = hash(key, peer);; ++i) {
        Slot& slot = slots_[i & (capacity_ - 1)];
        if (slot.record == 0 || (slot.key == key && slot.peer == peer)) return &slot;
    }
}

void Peers::insert(Word key, int peer, std::uint32_t record) {
    *find(key, peer) = {key, peer, record};
    ++used_;
}

// Leaves out what is forgotten. False, and nothing changed, without memory.
bool Peers::rebuild(std::uint32_t capacity) {
    auto* slots = static_cast<Slot*>(private_pages(capacity * sizeof(Slot)));
    if (!slots) return false;
    Slot* old = slots_;
    const std::uint32_t old_capacity = capacity_;
    slots_ = slots;
    capacity_ = capacity;
    used_ = 0;
    for (std::uint32_t i = 0; i < old_capacity; ++i)
        if (old[i].record != 0 && old[i].key != gone) insert(old[i].key, old[i].peer, old[i].record);
    if (old) munmap(old, old_capacity * sizeof(Slot));
    return true;
}

bool Peers::make_room() {
    if (!slots_) return rebuild(first_slots);
    if (used_ * 2 < capacity_) return true;
    std::uint32_t live = 0;
    for (std::uint32_t i = 0; i < capacity_; ++i) live += slots_[i].record != 0 && slots_[i].key != gone;
    if (live * 4 < capacity_) return rebuild(capacity_);
    if (capacity_ < most_slots) return rebuild(capacity_ * 2);
    forget();
    return rebuild(capacity_) && used_ * 2 < capacity_;
}

void Peers::forget() {
    for (Place& place : places_)
        if (place.key != 0) place = {};
    for (std::uint32_t i = 0; i < capacity_; ++i)
        if (slots_[i].record != 0 && slots_[i].key != by_rank(PeerKind::messages) && slots_[i].key != by_rank(PeerKind::one_sided))
            slots_[i].key = gone;
}

Peer* Peers::known(Word key, int peer) {
    if (!slots_) return nullptr;
    const Slot* slot = find(key, peer);
    if (slot->record == 0) return nullptr;
    auto* record = reinterpret_cast<Peer*>(base_ + std::uint64_t{slot->record} * 64);
    remember(key, peer, record);
    return record;
}

Peer* Peers::new_record(Image& image, std::uint32_t thread, std::uint32_t rank, PeerKind kind) {
    auto* record = static_cast<Peer*>(image.next_record(table_, TableType::peers, sizeof(Peer), records_per_table, thread));
    if (!record) return nullptr;
    memset(record, 0, sizeof *record);
    record->rank = rank;
    record->kind = kind;
    Image::publish(table_);
    return record;
}

// The record of others is made first, so that there is always one to count in.
Peer* Peers::of_rank(Image& image, std::uint32_t thread, std::uint32_t& records, std::uint32_t rank, PeerKind kind) {
    base_ = image.at(0);
    nobody_.rank = peer_unknown;
    Peer*& other = others_[kind == PeerKind::one_sided];
    if (!other && !(other = new_record(image, thread, peer_other, kind))) return &nobody_;
    if (rank == peer_other || !make_room()) return other;
    const auto peer = static_cast<std::int32_t>(rank);
    const Slot* slot = find(by_rank(kind), peer);
    if (slot->record != 0) return reinterpret_cast<Peer*>(base_ + std::uint64_t{slot->record} * 64);
    const bool is_single = rank < peer_any;
    if (is_single && __atomic_fetch_add(&records, 1, __ATOMIC_RELAXED) >= most_records) {
        __atomic_fetch_sub(&records, 1, __ATOMIC_RELAXED);
        return other;
    }
    Peer* record = new_record(image, thread, rank, kind);
    if (!record) return other;
    insert(by_rank(kind), peer, static_cast<std::uint32_t>(image.offset_of(record) / 64));
    return record;
}

Peer* Peers::learn(Image& image, std::uint32_t thread, std::uint32_t& records, Word key, int peer, std::uint32_t rank, PeerKind kind) {
    Peer* record = of_rank(image, thread, records, rank, kind);
    if (record != &nobody_ && make_room() && find(key, peer)->record == 0)
        insert(key, peer, static_cast<std::uint32_t>(image.offset_of(record) / 64));
    remember(key, peer, record);
    return record;
}

Peer* Peers::learn_nobody(Word key, int peer) {
    nobody_.rank = peer_unknown;
    remember(key, peer, &nobody_);
    return &nobody_;
}

}  // namespace mpiprof
