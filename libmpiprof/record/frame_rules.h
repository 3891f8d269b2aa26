// How to get from a function's frame to its caller's: read from the .eh_frame of the object that a return
// address lies in, and remembered by that address until a library comes or goes, which each walk asks once. Called by
// own_unwinder.cpp when a thread meets a new place. Knows the rules that compilers make; of any other it says that
// there is none.
#pragma once

#include "libmpiprof/record/frame_program.h"
#include "libmpiprof/record/known_steps.h"
#include "libmpiprof/record/library_moment.h"
#include "libmpiprof/record/own_ways.h"

namespace mpiprof {

class FrameRules {
  public:
    // A walk begins, at this moment, within the loader's lock: no library goes while it lasts. Waits for nobody: false
    // while another thread (or this one, below a signal handler) is at the table, or was when the process forked. Then
    // the rules are read anew.
    bool begin(const LibraryMoment& moment);
    void end() { lock_.unlock(); }
    // The rule at an address, between begin() and end(); `is_return`: the call before it is what counts. Of two places
    // a new address takes the second, and one that comes back the first: those on every walk outlast what is met once.
    FrameRule find(Word address, bool is_return) {
        FrameRule* rule = rules_[mix(static_cast<std::uint64_t>(address)) >> (64 - bits)];
        if (rule[0].address == address) [[likely]]
            return rule[0];
        if (rule[1].address == address) {
            const FrameRule found = rule[1];
            rule[1] = rule[0];
            return rule[0] = found;
        }
        const FrameRule found = read(address, is_return);
        rule[rule[0].address != 0] = found;
        return found;
    }
    // The same without the table, within the loader's lock.
    static FrameRule read_anew(Word address, bool is_return);
    // Where an object's code at this address is described; null: nowhere, or it is no object's code.
    static const std::uint8_t* description_of(std::uint64_t address, bool& is_code);

    // Between begin() and end():
    OwnWays own_ways;
    KnownSteps steps;
    // Whether what was read since then took much of the stack.
    bool was_deep() const { return was_deep_; }

    // An object: its segment of code, and the sorted table of its functions in the segment that .eh_frame lies in, too.
    struct Object {
        std::uint64_t code, code_bytes;
        const std::uint8_t *begin, *end;  // of that segment
        const std::uint8_t* header;       // .eh_frame_hdr, from which offsets count
        const std::uint8_t* entries;
        std::uint32_t count;  // of them; 0: there is none that can be read
        bool holds(std::uint64_t address) const { return address - code < code_bytes; }
    };
    // What descriptions of functions share (CIE); most of an object's share one.
    struct Shared {
        const std::uint8_t* at;
        bool is_good, is_of_signal;
        bool is_plain;  // the one that nearly all functions begin with
        std::uint64_t code_alignment;
        std::int64_t data_alignment;
        frame::State state;
    };
    // Some of them, by their addresses: a walk goes through several objects.
    struct AllShared {
        static constexpr unsigned bits = 3;
        Shared some[1u << bits];
        Shared& place_of(const std::uint8_t* at) {
            return some[mix(reinterpret_cast<std::uintptr_t>(at)) >> (64 - bits)];
        }
    };
    // The objects that addresses were found in last, and what their functions share.
    struct Known {
        static constexpr unsigned most = 8;
        Object objects[most];
        unsigned count, turns;
        AllShared shared;
        const Object* find(std::uint64_t address) const {
            for (const Object* object = objects; object != objects + count; ++object)
                if (object->holds(address)) return object;
            return nullptr;
        }
    };

  private:
    FrameRule read(Word address, bool is_return);

    static constexpr unsigned bits = 8;
    Lock lock_;
    LibraryMoment moment_;
    bool was_deep_ = false;
    FrameRule rules_[1u << bits][2] = {};
    Known known_{};
};

}  // namespace mpiprof
