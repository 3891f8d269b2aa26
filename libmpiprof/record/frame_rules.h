// How to get from a function's frame to its caller's, on x86-64: read from the .eh_frame of the object that a return
// address lies in, and remembered by that address until a library comes or goes, which each walk asks once. Called by
// own_unwinder.cpp when a thread meets a new place. Knows the rules that compilers make; of any other it says that
// there is none.
#pragma once

#include "libmpiprof/record/frame_rule.h"
#include "libmpiprof/record/library_moment.h"

namespace mpiprof {

class FrameRules {
  public:
    // The rule at an address; `is_return`: the call before it is what counts. Waits for nobody: while another thread
    // (or this one, below a signal handler) is at the table, or was when the process forked, the rule is read anew.
    FrameRule find(Word address, bool is_return, const LibraryMoment& moment);

  private:
    void forget_other_moments(const LibraryMoment& moment);

    static constexpr unsigned bits = 9;
    Lock lock_;
    LibraryMoment moment_;
    FrameRule rules_[1u << bits] = {};
};

}  // namespace mpiprof
