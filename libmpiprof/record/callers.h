// Where the return addresses of a call's callers lie on the thread's own stack, as walks have found it, so that the
// same call from other callers needs no walk. Called by the ledger when it meets a new place in the program. What is
// read by it may be any word of this stack: only a site that a walk has made is believed.
#pragma once

#include "libmpiprof/record/growing_pairs.h"
#include "libmpiprof/record/memo.h"

namespace mpiprof {

class Callers {
  public:
    // The next two callers' return addresses, in words above the frame; 0: there is none, or it is not known.
    struct Places {
        std::uint16_t at[2];
    };
    void open() { known_.open(); }
    // Of a frame that this stack goes on above for so many words. False: a walk has to tell.
    bool find(Word return_address, const Word* frame, std::size_t words_above, Places& places) {
        const Known* first = known({lower_half(return_address), lower_half(frame), 0, first_caller, 0});
        if (!first || first->at >= words_above) return false;
        places = {{first->at, 0}};
        if (first->at == 0) return true;
        const Known* next =
            known({lower_half(return_address), lower_half(frame), lower_half(frame[first->at]), next_caller, 0});
        if (!next || next->at >= words_above) return false;
        places.at[1] = next->at;
        return true;
    }
    void learn(Word return_address, const Word* frame, const Places& places) {
        learn({lower_half(return_address), lower_half(frame), 0, first_caller, places.at[0]});
        if (places.at[0] == 0) return;
        learn({lower_half(return_address), lower_half(frame), lower_half(frame[places.at[0]]), next_caller,
               places.at[1]});
    }

    // The thread's stack is another one now.
    void forget() { known_.forget(); }

  private:
    // The first caller's lies where it does for one return address and frame; the next one's depends on the first
    // caller.
    enum Which : std::uint16_t { nobody, first_caller, next_caller };
    struct alignas(16) Known {
        std::uint32_t address, frame, caller;  // lower halves
        Which which;
        std::uint16_t at;
        bool is_free() const { return which == nobody; }
        bool is_of(const Known& other) const {
            return words() == other.words() && caller == other.caller && which == other.which;
        }
        std::uint64_t hash() const { return mix(words() + std::uint64_t{caller} * 0x9e3779b1u + which) >> 20; }
        std::uint64_t words() const { return std::uint64_t{frame} << 32 | address; }
    };
    const Known* known(const Known& wanted) {
        const Known* at = known_.slots(wanted.hash());
        for (unsigned i = 0; i < 2; ++i)
            if (at[i].is_of(wanted)) return &at[i];
        return nullptr;
    }
    void learn(const Known& found) {
        const std::uint64_t hash = found.hash();
        Known* at = known_.slots(hash);
        for (unsigned i = 0; i < 2; ++i)
            if (at[i].is_free() || at[i].is_of(found)) {
                at[i] = found;
                return;
            }
        known_.take(hash) = found;
    }
    GrowingPairs<Known, 64, 8192> known_;
};

}  // namespace mpiprof
