// The settings of others: variables that MPI, NCCL and their launchers read, into the profile as facts. Values that
// look like secrets are masked. Nothing is ever changed there.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

void record_environment(Image& image);

// Whether the name of an option or variable says that its value is not for others to read.
bool looks_secret(const char* word, std::size_t length);

}  // namespace mpiprof
