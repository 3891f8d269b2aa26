// A profile in State::running is of a process that lives, or of one that was killed. Which one, and how long did it
// live at least? From the process table of this machine, the file's times and what the profile itself shows.
// For merge; it changes only Profiles that have no end.
#pragma once

#include "report/model/profile.h"
#include "report/read/file.h"

namespace mpiprof::report {

// What is seen of a process and its file at some moment.
struct SignsOfLife {
    FileTimes times;
    std::uint64_t now_ns = 0;        // since 1970
    std::uint64_t monotonic_ns = 0;  // the same moment on the clock of the node that nobody sets; 0 = not known
    Life process = Life::unknown;
};
SignsOfLife signs_here(const Profile& profile, const FileTimes& times);  // on this machine, now

void look_for_life(Profile& profile, const SignsOfLife& signs);

}  // namespace mpiprof::report
