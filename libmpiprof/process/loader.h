// The dynamic loader's functions, wherever this glibc keeps them. Used to find real functions (wrap/) and what a GPU's
// driver brings along (gpu/); nothing is looked up on the path of a call.
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

// How many objects the process has loaded so far, those included that it has closed again: as long as it is the same
// number, no other is there. Some hundred instructions.
unsigned long long objects_loaded();

// Each object of the process whose file name begins with one of `prefixes` ("libcudart.so\0..."), until `visit` says
// that it is enough, which is the answer. The loader is locked meanwhile: nothing may be opened there.
bool any_loaded(const char* prefixes, void* context, bool (*visit)(void* context, const char* path));
template <class Visit>
bool any_loaded(const char* prefixes, Visit visit) {
    return any_loaded(prefixes, &visit,
                      [](void* context, const char* path) { return (*static_cast<Visit*>(context))(path); });
}

}  // namespace mpiprof
