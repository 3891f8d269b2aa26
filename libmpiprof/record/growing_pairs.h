// A table of records in pairs of slots, by hash: what it knows is a shortcut, so a record may lose its slot to
// another at any time. It begins small, inside whoever has it, and grows where records take each other's slots. By one
// thread. A record says whether its slot is free (is_free) and is zero at first.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof {

template <class Record, std::uint32_t First, std::uint32_t Most>
class GrowingPairs {
  public:
    // The two slots of whatever has this hash.
    Record* slots(std::uint64_t hash) {
        constexpr unsigned step = 2 * sizeof(Record);
        constexpr std::int64_t multiplier = -0x61c8864f;
        const std::uint64_t at = (hash * static_cast<std::uint64_t>(multiplier) >> 14) & mask_;
        static_assert((step & (step - 1)) == 0 && step <= 128);
        static_assert((Most / 2 - 1) * step < (1u << 18));  // the product's lower half is enough
        return reinterpret_cast<Record*>(reinterpret_cast<char*>(table_) + at);
    }
    bool has_room(std::uint64_t hash) { return slots(hash)[0].is_free() || slots(hash)[1].is_free(); }
    // One of them for a new record: of two that are taken, each in its turn.
    Record& take(std::uint64_t hash) {
        Record* slots = this->slots(hash);
        for (unsigned i = 0; i < 2; ++i)
            if (slots[i].is_free()) return slots[i];
        ++turns_;
        if (++taken_away_ > count_ / 4 && count_ < Most && grow()) return take(hash);
        return slots[turns_ % 2];
    }
    void open() {
        table_ = first_;
        set_count(First);
    }
    void forget() {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (!table_[i].is_free()) table_[i] = {};
    }

  private:
    // Of two that are taken, the first.
    Record* slot_that_is_free(const Record& record) {
        Record* slots = this->slots(record.hash());
        return slots[0].is_free() ? slots : slots[1].is_free() ? slots + 1 : slots;
    }
    static constexpr std::uint32_t growth = 8;
    void set_count(std::uint32_t count) {
        count_ = count;
        mask_ = (count / 2 - 1) * 2 * sizeof(Record);
    }
    // Where a record does not tell its hash, what was known is learned again: each takes its slot when it is asked for.
    bool grow() {
        taken_away_ = 0;
        const std::uint32_t count = count_ * growth < Most ? count_ * growth : Most;
        auto* larger = static_cast<Record*>(private_pages(count * sizeof(Record)));
        if (!larger) return false;
        Record* const before = table_;
        const std::uint32_t count_before = count_;
        table_ = larger;
        set_count(count);
        if constexpr (requires { first_->hash(); })
            for (std::uint32_t i = 0; i < count_before; ++i)
                if (!before[i].is_free()) *slot_that_is_free(before[i]) = before[i];
        if (before != first_) munmap(before, count_before * sizeof(Record));
        return true;
    }

    Record* table_;
    std::uint64_t mask_;  // of an offset in bytes
    std::uint32_t count_, taken_away_, turns_;
    Record first_[First];
};

}  // namespace mpiprof
