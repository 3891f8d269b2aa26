// How to get from a function's frame to its caller's, on x86-64: read from the .eh_frame of the object that a return
// address lies in, and remembered by that address until a library comes or goes, which each walk asks once. Called by
// own_unwinder.cpp when a thread meets a new place. Knows the rules that compilers make; of any other it says that
// there is none.
#pragma once

#include "libmpiprof/record/frame_program.h"
#include "libmpiprof/record/library_moment.h"

namespace mpiprof {

class FrameRules {
  public:
    // A walk begins, at this moment, within the loader's lock: no library goes while it lasts. Waits for nobody: false
    // while another thread (or this one, below a signal handler) is at the table, or was when the process forked. Then
    // the rules are read anew.
    bool begin(const LibraryMoment& moment);
    void end() { lock_.unlock(); }
    // The rule at an address, between begin() and end(); `is_return`: the call before it is what counts.
    FrameRule find(Word address, bool is_return) {
        FrameRule& rule = rules_[mix(static_cast<std::uint64_t>(address)) >> (64 - bits)];
        if (rule.address != address) rule = read(address, is_return, &known_);
        return rule;
    }
    // The same without the table, within the loader's lock.
    static FrameRule read_anew(Word address, bool is_return) { return read(address, is_return, nullptr); }

    // An object: its segment of code, its .eh_frame_hdr, and the segment that this and .eh_frame lie in.
    struct Object {
        std::uint64_t code, code_bytes;
        const std::uint8_t *header, *begin, *end;  // header null: it has none
        bool holds(std::uint64_t address) const { return address - code < code_bytes; }
    };
    // What descriptions of functions share (CIE); most of an object's share one.
    struct Shared {
        const std::uint8_t* at;
        bool is_good, is_of_signal;
        std::uint64_t code_alignment;
        std::int64_t data_alignment;
        frame::State state;
    };
    // The objects that addresses were found in last, and what was shared last.
    struct Known {
        static constexpr unsigned most = 8;
        Object objects[most];
        unsigned count, turns;
        Shared shared;
    };

  private:
    static FrameRule read(Word address, bool is_return, Known* known);

    static constexpr unsigned bits = 9;
    Lock lock_;
    LibraryMoment moment_;
    FrameRule rules_[1u << bits] = {};
    Known known_{};
};

}  // namespace mpiprof
