// The dynamic loader's functions, wherever this glibc keeps them. Used to find real functions (wrap/) and what a GPU's driver
// brings along (gpu/); nothing is looked up on the path of a call.
#pragma once

#include <dlfcn.h>

namespace mpiprof {

struct Loader {
    decltype(&::dlsym) dlsym;
    decltype(&::dlopen) dlopen;
    decltype(&::dlclose) dlclose;
    decltype(&::dladdr) dladdr;
};

// All null if there is none: then nothing can be found.
const Loader& loader();

}  // namespace mpiprof
