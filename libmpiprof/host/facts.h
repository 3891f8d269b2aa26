// Facts: what was found out about a process and its node, as names and values of text in the profile. At start, and
// later what others learn, such as by asking the MPI library.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

void record_fact(Image& image, format::FactKind kind, const char* name, const char* value);

}  // namespace mpiprof
