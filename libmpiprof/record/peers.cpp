// The slow half: a peer's first message, and what is done when there is no room for it.
#include "libmpiprof/record/peers.h"

#include <string.h>

namespace mpiprof {
namespace {

using namespace format;

// Most threads talk to few others: the first table is small, and each further one twice as large.
constexpr std::uint32_t first_records = 8, most_per_table = 64;

std::uint32_t hash(Word key, int peer) {
    return static_cast<std::uint32_t>(mix(static_cast<std::uint64_t>(key) * 5 + static_cast<std::uint32_t>(peer)) >>
                                      32);
}

}  // namespace

void Peers::remember(Word key, int peer, Peer* record) {
    keys_ |= bit_of(key);
    const_cast<Place&>(place_of(key, peer)) = {key, peer, record};
}

// ---- records by rank ----

std::uint32_t* Peers::find_rank(std::uint32_t rank, PeerKind kind) {
    const std::uint32_t h = hash(static_cast<Word>(kind), static_cast<std::int32_t>(rank));
    for (std::uint32_t i = h;; ++i) {
        std::uint32_t& place = ranks_[i & (rank_capacity_ - 1)];
        if (place == 0) return &place;
        if (((place ^ h) & ~offset_bits) != 0) continue;
        const Peer& known = *record_at(place);
        if (known.rank == rank && known.kind == kind) return &place;
    }
}

bool Peers::make_room_for_rank() {
    if (ranks_ && rank_count_ * 4 < rank_capacity_ * 3) return true;
    if (!ranks_) {
        ranks_ = inner_ranks_;
        rank_capacity_ = inner_ranks;
        return true;
    }
    const std::uint32_t old_capacity = rank_capacity_,
                        capacity = ranks_ == inner_ranks_ ? first_outer_ranks : old_capacity * 2;
    auto* fresh = static_cast<std::uint32_t*>(private_pages(capacity * sizeof(std::uint32_t)));
    if (!fresh) return false;
    std::uint32_t* old = ranks_;
    ranks_ = fresh;
    rank_capacity_ = capacity;
    for (std::uint32_t i = 0; i < old_capacity; ++i)
        if (old[i] != 0) *find_rank(record_at(old[i])->rank, record_at(old[i])->kind) = old[i];
    if (old != inner_ranks_) munmap(old, old_capacity * sizeof(std::uint32_t));
    return true;
}

// ---- what communicators tell ----

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

// False, and nothing changed, without memory.
bool Peers::grow(std::uint32_t capacity) {
    auto* slots = static_cast<Slot*>(private_pages(capacity * sizeof(Slot)));
    if (!slots) return false;
    Slot* old = slots_;
    const std::uint32_t old_capacity = capacity_;
    slots_ = slots;
    capacity_ = capacity;
    used_ = 0;
    for (std::uint32_t i = 0; i < old_capacity; ++i)
        if (old[i].record != 0) insert(old[i].key, old[i].peer, old[i].record);
    if (old) munmap(old, old_capacity * sizeof(Slot));
    return true;
}

bool Peers::make_room() {
    if (slots_ && used_ * 4 < capacity_ * 3) return true;
    if (capacity_ < most_slots) return grow(capacity_ ? capacity_ * 2 : first_slots);
    forget_slots();
    return slots_ || grow(first_slots);
}

void Peers::forget_slots() {
    if (used_ == 0) return;
    used_ = 0;
    if (capacity_ == first_slots) {
        memset(slots_, 0, capacity_ * sizeof(Slot));
        return;
    }
    munmap(slots_, capacity_ * sizeof(Slot));
    slots_ = nullptr;
    capacity_ = 0;
}

void Peers::forget() {
    for (Place& place : places_)
        if (place.key != 0) place = {};
    for (Word& key : like_world_) key = 0;
    keys_ = 0;
    forget_slots();
}

void Peers::forget_known(Word key) {
    if (may_be_same_handle(like_world_place(key), key)) like_world_place(key) = 0;
    for (Place& place : places_)
        if (may_be_same_handle(place.key, key)) place = {};
    bool has_slots = false;
    for (std::uint32_t i = 0; i < capacity_ && used_ != 0 && !has_slots; ++i)
        has_slots = slots_[i].record != 0 && may_be_same_handle(slots_[i].key, key);
    if (has_slots) forget_slots();  // the others are asked for again
    if (used_ != 0) return;
    keys_ = 0;
    for (const Place& place : places_)
        if (place.key != 0) keys_ |= bit_of(place.key);
    for (const Word other : like_world_)
        if (other != 0) keys_ |= bit_of(other);
}

Peer* Peers::known(Word key, int peer) {
    std::uint32_t place = 0;
    if (peer >= 0 && is_like_world(key))
        place = ranks_ ? *find_rank(static_cast<std::uint32_t>(peer), PeerKind::messages) : 0;
    else if (slots_)
        place = find(key, peer)->record;
    if (place == 0) return nullptr;
    Peer* record = record_at(place);
    remember(key, peer, record);
    return record;
}

// ---- new ones ----

Peer* Peers::new_record(Image& image, std::uint32_t thread, std::uint32_t rank, PeerKind kind) {
    std::uint32_t at_once = first_records;
    if (table_) at_once = table_->capacity * 2 < most_per_table ? table_->capacity * 2 : most_per_table;
    auto* record = static_cast<Peer*>(image.next_record(table_, TableType::peers, sizeof(Peer), at_once, thread));
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
    if (rank == peer_other || !make_room_for_rank()) return other;
    std::uint32_t* place = find_rank(rank, kind);
    if (*place != 0) return record_at(*place);
    const bool is_single = rank < peer_any;
    if (is_single) {
        if (__atomic_load_n(&records, __ATOMIC_RELAXED) >= most_records) return other;
        if (__atomic_fetch_add(&records, 1, __ATOMIC_RELAXED) >= most_records) {
            __atomic_fetch_sub(&records, 1, __ATOMIC_RELAXED);
            return other;
        }
    }
    Peer* record = new_record(image, thread, rank, kind);
    if (!record) return other;
    *place = static_cast<std::uint32_t>(image.offset_of(record) / 64) |
             (hash(static_cast<Word>(kind), static_cast<std::int32_t>(rank)) & ~offset_bits);
    ++rank_count_;
    return record;
}

Peer* Peers::learn(Image& image, std::uint32_t thread, std::uint32_t& records, Word key, int peer, std::uint32_t rank,
                   PeerKind kind) {
    Peer* record = of_rank(image, thread, records, rank, kind);
    const bool is_by_rank = peer >= 0 && is_like_world(key);
    if (record != &nobody_ && !is_by_rank && make_room() && find(key, peer)->record == 0)
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
