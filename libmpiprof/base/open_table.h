// The one table with open addressing: entries are found by a hash and a question, and leave it all together or never.
// Used on slow paths by whatever is to be found again: cells, sites, peers, channels, times. It begins inside its owner
// or with the first entry, grows in pages of its own, and never asks libc for memory. One thread at a time. It has no
// constructor: its owner lies in zero pages or is zero-initialised.
#pragma once

#include <string.h>

#include "libmpiprof/base/basics.h"

namespace mpiprof {

// Powers of two, but for the quarters.
struct OpenTableSize {
    std::uint32_t inside;        // entries that lie in the table itself; 0: none
    std::uint32_t outside;       // of its first own pages
    std::uint32_t most;          // entries that it grows to
    std::uint32_t quarters = 2;  // how full it may be
};

template <class Entry, std::uint32_t Count>
struct EntriesInside {
    Entry entries[Count];
    Entry* begin() { return entries; }
};
template <class Entry>
struct EntriesInside<Entry, 0> {
    Entry* begin() { return nullptr; }
};

// For make_room() of a table that does not grow.
inline constexpr auto never_moves = [](const auto&) { return std::uint64_t{0}; };

// An Entry is a number or an address, or says is_free() of itself; what is free is zero.
template <class Entry, OpenTableSize Size>
class OpenTable {
  public:
    // The entry of this hash that `is` the wanted one; null: there is none.
    template <class Is>
    Entry* find(std::uint64_t hash, Is is) const {
        if (capacity_ == 0) return nullptr;
        for (std::uint64_t i = hash;; ++i) {
            Entry& entry = entries_[i & (capacity_ - 1)];
            if (is_free(entry)) return nullptr;
            if (is(entry)) return &entry;
        }
    }
    // Before insert(). False, and nothing changed: it is full, or there is no memory. `hash_of` an entry that moves.
    template <class HashOf>
    bool make_room(HashOf hash_of) {
        if (has_room()) return true;
        if (capacity_ == Size.most) return false;
        const std::uint32_t capacity = capacity_ == 0 ? first : capacity_ == Size.inside ? Size.outside : capacity_ * 2;
        auto* larger =
            capacity == Size.inside ? inside_.begin() : static_cast<Entry*>(private_pages(capacity * sizeof(Entry)));
        if (!larger) return false;
        Entry* old = entries_;
        const std::uint32_t old_capacity = capacity_;
        entries_ = larger;
        capacity_ = capacity;
        for (std::uint32_t i = 0; i < old_capacity; ++i)
            if (!is_free(old[i])) put(hash_of(old[i]), old[i]);
        unmap(old, old_capacity);
        return true;
    }
    bool has_room() const { return count_ * 4 < capacity_ * Size.quarters; }
    Entry* insert(std::uint64_t hash, const Entry& entry) {
        ++count_;
        return put(hash, entry);
    }
    template <class Is>
    bool any(Is is) const {
        for (std::uint32_t i = 0; i < capacity_ && count_ != 0; ++i)
            if (!is_free(entries_[i]) && is(entries_[i])) return true;
        return false;
    }
    std::uint32_t count() const { return count_; }
    // Nothing is in it any more; memory that it grew by is given back.
    void clear() {
        if (count_ == 0) return;
        if (capacity_ == first)
            memset(static_cast<void*>(entries_), 0, capacity_ * sizeof(Entry));
        else
            give_back();
        count_ = 0;
    }
    void give_back() {
        unmap(entries_, capacity_);
        entries_ = nullptr;
        capacity_ = count_ = 0;
    }

  private:
    static constexpr std::uint32_t first = Size.inside != 0 ? Size.inside : Size.outside;
    static bool is_free(const Entry& entry) {
        if constexpr (requires { entry.is_free(); })
            return entry.is_free();
        else
            return !entry;
    }
    Entry* put(std::uint64_t hash, const Entry& entry) {
        for (std::uint64_t i = hash;; ++i) {
            Entry& place = entries_[i & (capacity_ - 1)];
            if (!is_free(place)) continue;
            place = entry;
            return &place;
        }
    }
    void unmap(Entry* entries, std::uint32_t capacity) {
        if (entries && entries != inside_.begin()) munmap(static_cast<void*>(entries), capacity * sizeof(Entry));
    }

    Entry* entries_;
    std::uint32_t capacity_, count_;
    [[no_unique_address]] EntriesInside<Entry, Size.inside> inside_;
};

}  // namespace mpiprof
