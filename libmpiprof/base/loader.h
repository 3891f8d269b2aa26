// The dynamic loader's functions, wherever this glibc keeps them, and what it knows of the objects of this process.
// Used to find real functions (wrap/), what a GPU's driver brings along (gpu/), other libraries (host/); nothing is
// looked up on the path of a call.
#pragma once

#include <dlfcn.h>

#include "libmpiprof/base/basics.h"

struct dl_phdr_info;

namespace mpiprof {

struct Loader {
    decltype(&::dlsym) dlsym;
    decltype(&::dlopen) dlopen;
    decltype(&::dlclose) dlclose;
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

// The object whose segment from `begin` to `end` holds `address`, as the loader describes it; the program itself has an
// empty name. False, and nobody is called: no object holds it. The loader is locked meanwhile: nothing may be opened.
using ObjectVisit = void (*)(void* context, const dl_phdr_info& object, Word begin, Word end);
bool with_object_at(const void* address, void* context, ObjectVisit visit);
template <class Visit>
bool with_object_at(const void* address, Visit visit) {
    return with_object_at(address, &visit, [](void* context, const dl_phdr_info& object, Word begin, Word end) {
        (*static_cast<Visit*>(context))(object, begin, end);
    });
}

}  // namespace mpiprof
