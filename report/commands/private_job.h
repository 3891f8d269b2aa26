// What a job says of people, machines and programs, replaced by counted words before anything is worked out of it:
// n1 for a node, f1 for a function, the day for a moment. What is private is one list, that of make_private(). For
// pages that are mailed to others.
#pragma once

#include "report/model/job.h"

namespace mpiprof::report {

// The names of places are looked up first, so that those of functions stay apart. What is replaced by nothing:
// variables of the environment, other launches beside this one, and what was said of single files.
void make_private(Job& job);

// What such a page says of itself.
inline constexpr const char* what_is_private =
    "Private: nodes, paths, the command line, labels, functions, files, regions and communicators are numbered, times of "
    "day, settings and the environment are left out.";

}  // namespace mpiprof::report
