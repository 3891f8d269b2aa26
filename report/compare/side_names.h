// What the two sides of a diff are called, at the head of columns and in sentences.
#pragma once

#include "report/compare/difference.h"

namespace mpiprof::report {

// What all runs of a side are called; else what was said of all of them and is not so of the other side (its labels);
// else what their names begin with, where that is a word; else A and B. Never the same for both.
void name_sides(Side& a, Side& b);

}  // namespace mpiprof::report
