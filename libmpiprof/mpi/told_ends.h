// Communicators that tell us of their end: each has an attribute of ours, whose value is a slot here, and the library
// calls our delete callback when the communicator's life ends, whoever ended it and by whatever name. The callback
// waits for nobody, since MPI may hold locks of its own meanwhile: it leaves the slot on a list, which whoever asks
// next about communicators collects. Decision 20.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof::mpi {

class ToldEnds {
  public:
    static constexpr std::uint32_t none = 0, most = 1024;  // as many as are known at the same time
    struct Handles {
        Word c, fortran;  // c 0: nothing is known of it any more
    };

    // ---- by one thread at a time ----
    // A slot for one more; none: there is no room.
    std::uint32_t take(const Handles& handles) {
        std::uint32_t slot = free_;
        if (slot != none)
            free_ = at(slot).next;
        else if (used_ < most)
            slot = ++used_;
        if (slot != none) {
            at(slot).fortran = handles.fortran;
            __atomic_store_n(&at(slot).c, handles.c, __ATOMIC_RELEASE);
        }
        return slot;
    }
    // Its end was seen, or is not waited for any more; its callback has nothing to tell.
    void pass(std::uint32_t slot) {
        if (slot != none) __atomic_store_n(&at(slot).c, 0, __ATOMIC_RELEASE);
    }
    // No library knows of this one.
    void give_back(std::uint32_t slot) {
        pass(slot);
        at(slot).next = free_;
        free_ = slot;
    }
    bool has_ended() const { return __atomic_load_n(&ended_, __ATOMIC_RELAXED) != none; }
    // Those that have ended since the last time: their slots, and the handles of those that were not passed.
    template <class Use>
    void collect(Use use) {
        std::uint32_t slot = __atomic_exchange_n(&ended_, none, __ATOMIC_ACQUIRE);
        while (slot != none) {
            const std::uint32_t next = at(slot).next;
            if (const Word handle = at(slot).c) use(slot, handle);
            give_back(slot);
            slot = next;
        }
    }

    // ---- by any thread, out of the library ----
    Handles end(std::uint32_t slot) {
        if (slot == none || slot > most) return {};
        const Handles handles{__atomic_load_n(&at(slot).c, __ATOMIC_ACQUIRE), at(slot).fortran};
        std::uint32_t& next = at(slot).next;
        next = __atomic_load_n(&ended_, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&ended_, &next, slot, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        }
        return handles;
    }

  private:
    struct Slot {
        Word c, fortran;
        std::uint32_t next;  // of those that are free, or have ended
    };
    Slot& at(std::uint32_t slot) { return slots_[slot - 1]; }
    std::uint32_t free_ = none, used_ = 0, ended_ = none;
    Slot slots_[most] = {};
};

}  // namespace mpiprof::mpi
