// Number 2 as the user's standard error, and not as what else it may mean: a program may close 0 to 2 and open its own
// files under these numbers. Who writes to people, does it here (say.h, and where a program cannot go on).
#pragma once

#include <atomic>

#include "libmpiprof/record/image.h"

namespace mpiprof {

class StandardError {
  public:
    // What number 2 means when the first code of ours runs; later calls change nothing.
    void remember();
    // Writes there, by one write(2), if number 2 still means that file, and none that the program has made itself: a
    // regular file that is younger than the process, unless who started it has it open, too. Else keeps the first such
    // line for the profile.
    void write(const char* line, std::size_t bytes);
    // From now on nothing is written: the user, or who set mpiprof up for all, wants it so (MPIPROF_QUIET).
    void be_quiet() { is_quiet_ = true; }
    // What could not be said; empty: all was.
    const char* unsaid() const { return unsaid_; }

  private:
    bool is_still_meant(int fd) const;

    FileIdentity first_{};
    std::atomic<bool> is_remembered_{false};
    bool is_quiet_ = false;
    char unsaid_[256] = {};
};

[[gnu::visibility("hidden")]] extern constinit StandardError standard_error;

}  // namespace mpiprof
