// Four of CUPTI's functions under their own names: by them another client's coming and going is seen. They are handed
// on to the CUPTI that the caller means, of whatever version and wherever it lies, whatever our settings say; where the
// process has none, they answer as one that is not initialised.
#include <link.h>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/gpu/cupti.h"

using namespace mpiprof::gpu;

namespace {

using namespace mpiprof;

void* unless_ours(void* function) {
    bool is_ours = false;
    with_object_at(function, [&](const dl_phdr_info&, Word begin, Word end) {
        const auto here = reinterpret_cast<Word>(&unless_ours);
        is_ours = begin <= here && here < end;
    });
    return is_ours ? nullptr : function;
}

// As the object at `path` and its dependencies see the name.
void* find_from(const char* path, const char* name) {
    void* library = *path ? loader().dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!library) return nullptr;
    void* found = unless_ours(loader().dlsym(library, name));
    loader().dlclose(library);
    return found;
}

// What the caller would have reached without us: its own CUPTI (linked statically, or a dependency), the next one in
// the order of loading, one that somebody opened.
void* find_real(const char* name, const void* caller) {
    if (!loader().dlsym) return nullptr;
    char path[1024] = "";
    with_object_at(caller, [&](const dl_phdr_info& object, Word, Word) { append(path, object.dlpi_name); });
    if (void* found = find_from(path, name)) return found;
    if (void* found = unless_ours(loader().dlsym(RTLD_NEXT, name))) return found;
    path[0] = 0;
    any_loaded("libcupti.so\0", [&](const char* loaded) { return append(path, loaded), true; });
    return find_from(path, name);
}

template <class Function>
Function real(const char* name, const void* caller) {
    return reinterpret_cast<Function>(find_real(name, caller));
}

}  // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]
#define REAL(name, Member) real<decltype(cupti::Functions::Member)>(name, __builtin_return_address(0))

EXPORT int cuptiActivityRegisterCallbacks(cupti::Requested requested, cupti::Completed completed) {
    const auto function = REAL("cuptiActivityRegisterCallbacks", register_callbacks);
    return function ? the_cupti.lend(function, requested, completed) : cupti::not_initialized;
}
EXPORT int cuptiActivityRegisterTimestampCallback(cupti::Clock clock) {
    const auto function = REAL("cuptiActivityRegisterTimestampCallback", register_clock);
    return function ? the_cupti.take_clock(function, clock) : cupti::not_initialized;
}
EXPORT int cuptiActivityDisable(int kind) {
    const auto function = REAL("cuptiActivityDisable", disable);
    return function ? the_cupti.disable_for_other(function, kind) : cupti::not_initialized;
}
EXPORT int cuptiFinalize() {
    const auto function = REAL("cuptiFinalize", finalize);
    return function ? the_cupti.finalize_for_other(function) : cupti::not_initialized;
}
