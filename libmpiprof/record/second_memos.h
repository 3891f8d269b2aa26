// The memos of calls that have another size, communicator, caller or depth of recursion than the first memo of their
// place in the program. They hold no handle, so that no handle's end concerns them. Each has two places in a table,
// which grows where calls take each other's: a thread that has few of them keeps the small one in its ledger.
#pragma once

#include "libmpiprof/record/memo.h"

namespace mpiprof {

class SecondMemos {
  public:
    // The two places of whatever has this hash.
    Memo* places(std::uint64_t hash) {
        constexpr unsigned step = 2 * sizeof(Memo);
        constexpr std::int64_t multiplier = -0x61c8864f;
        const std::uint64_t at = (hash * static_cast<std::uint64_t>(multiplier) >> 14) & mask_;
        static_assert(step == 128 && (most / 2 - 1) * step < (1u << 18));  // the product's lower half is enough
        return reinterpret_cast<Memo*>(reinterpret_cast<char*>(table_) + at);
    }
    bool has_room(std::uint64_t hash) { return places(hash)[0].key == no_key || places(hash)[1].key == no_key; }
    // One of them for a new memo: of two that are taken, each in its turn.
    Memo& take(std::uint64_t hash) {
        Memo* places = this->places(hash);
        for (unsigned i = 0; i < 2; ++i)
            if (places[i].key == no_key) return places[i];
        ++turns_;
        if (++taken_away_ > count_ / 4 && count_ < most && grow()) return take(hash);
        return places[turns_ % 2];
    }
    void open() {
        table_ = first_;
        set_count(first_count);
    }
    void forget() {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (table_[i].key != no_key) table_[i].key = no_key;
    }

  private:
    static constexpr std::uint32_t first_count = 128, most = 4096, growth = 8;
    void set_count(std::uint32_t count) {
        count_ = count;
        mask_ = (count / 2 - 1) * 2 * sizeof(Memo);
    }
    // What was known is learned again: each takes its place when it is called.
    bool grow() {
        taken_away_ = 0;
        const std::uint32_t count = count_ * growth < most ? count_ * growth : most;
        auto* larger = static_cast<Memo*>(private_pages(count * sizeof(Memo)));
        if (!larger) return false;
        if (table_ != first_) munmap(table_, count_ * sizeof(Memo));
        table_ = larger;
        set_count(count);
        return true;
    }

    Memo* table_;
    std::uint64_t mask_;  // of an offset in bytes
    std::uint32_t count_, taken_away_, turns_;
    Memo first_[first_count];
};

}  // namespace mpiprof
