// What a thread knows of handles: the size of a datatype, the profile's index of a communicator, and which memos hold
// the handle. Called by the thread's ledger alone. A handle's end takes away what is known of it and nothing else: its
// memos are found through here, not by a search, and they keep what they know of their place in the program.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof {

// Direct-mapped, by the C handle. What has lost its slot is asked for again.
template <unsigned Bits>
class Handles {
  public:
    // A handle that is used so often lasts: memos are to hold it. One that is made for a message does not, and its
    // end finds no memo to change.
    static constexpr unsigned lasting = 8;
    static constexpr std::uint8_t none = 0xff;

    struct Known {
        Word handle;            // 0: free
        std::uint32_t meaning;  // bytes of a type; index of a communicator
        std::uint16_t uses;     // as often as it was asked for here, up to `lasting`
        std::uint8_t held;      // how many memos of `by` hold it, or too_many
        std::uint8_t by[9];     // their slots
        bool lasts() const { return uses >= lasting; }
    };
    static_assert(sizeof(Known) == 24);

    std::uint8_t slot(Word handle) const {
        return static_cast<std::uint8_t>(mix(static_cast<std::uint64_t>(handle)) >> (64 - Bits));
    }
    Known& at(std::uint8_t slot) { return known_[slot]; }
    // Null: it is not known.
    Known* find(Word handle) {
        Known& known = known_[slot(handle)];
        if (known.handle != handle || handle == 0) return nullptr;
        if (!known.lasts()) known.uses += 1;
        return &known;
    }
    // Whether a handle that is new here may take its slot. One that lasts gives way to the eighth that asks.
    bool gives_way(Word handle) {
        Known& older = known_[slot(handle)];
        if (older.handle == 0 || handle == 0 || older.uses <= 1) return handle != 0;
        older.uses -= 1;
        return false;
    }
    // In a slot that is free.
    Known& put(Word handle, std::uint32_t meaning) { return known_[slot(handle)] = {handle, meaning, 1, 0, {}}; }

    // ---- the memos that hold it ----
    void hold(std::uint8_t slot, std::uint8_t memo) {
        Known& known = known_[slot];
        if (known.held == too_many) return;
        for (unsigned i = 0; i < known.held; ++i)
            if (known.by[i] == memo) return;
        if (known.held == sizeof known.by)
            known.held = too_many;
        else
            known.by[known.held++] = memo;
    }
    // Ends what is known here; `release(memo)` of each slot whose memo may hold the handle, out of `memos`.
    template <class Release>
    void end(std::uint8_t slot, unsigned memos, Release release) {
        Known& known = known_[slot];
        if (known.held != too_many)
            for (unsigned i = 0; i < known.held; ++i) release(known.by[i]);
        else
            for (unsigned memo = 0; memo < memos; ++memo) release(memo);
        known = {};
    }
    void forget() {
        for (Known& known : known_)
            if (known.handle != 0) known = {};
    }

  private:
    static constexpr std::uint8_t too_many = 0xff;
    Known known_[1u << Bits];
};

}  // namespace mpiprof
