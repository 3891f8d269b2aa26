// The settings of others: variables that MPI, NCCL and their launchers read, into the profile as facts. Values that
// look like secrets are masked. Nothing is ever changed there.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

// `is_ours`: a variable that this library has set itself, and the user has not.
void record_environment(Image& image, bool (*is_ours)(const char* name, const char* value));

// Whether the name of an option or variable says that its value is not for others to read.
bool looks_secret(const char* word, std::size_t length);

}  // namespace mpiprof
