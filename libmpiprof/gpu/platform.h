// Which interface of a GPU the process uses: CUDA's driver or AMD's HIP. Only one that the program itself has loaded
// and initialised; looking for it does neither, and is not for the path of a call. Used by driver.cpp (times) and
// pointers.cpp (buffers).
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof::gpu {

// Both platforms have these numbers.
inline constexpr int success = 0, not_initialized = 3, not_ready = 600;

enum class Platform : std::uint8_t { none, cuda, hip };

struct InUse {
    Platform platform;
    void* library;  // kept: what we hold of it stays valid
};
InUse look_for_gpu();

// Fills the members of `functions`, all of them pointers, in the order of `names` ("cuCtxGetCurrent\0..."). A name may
// begin with a question mark, if the library may lack it, and may be that alone. False: it lacks another one.
bool find_functions(void* library, const char* names, void* functions);

}  // namespace mpiprof::gpu
