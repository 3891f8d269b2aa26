// _exit() and _Exit(): a process that ends by them runs no destructor (children of Python's multiprocessing, os._exit).
// That it ended by itself, and when, is written into the profile here; nothing else of the end is done, since this may
// be a signal handler, another thread's last word, or a child of vfork() in its parent's memory.
#include "libmpiprof/base/loader.h"
#include "libmpiprof/process/runtime.h"

namespace {

[[noreturn]] void leave(const char* name, int code) {
    if (mpiprof::runtime.leaves())
        if (const auto next = reinterpret_cast<void (*)(int)>(mpiprof::loader().dlsym(RTLD_NEXT, name))) next(code);
    for (;;) mpiprof::raw(SYS_exit_group, code);
}

}  // namespace

#define EXPORT extern "C" [[gnu::visibility("default")]]
EXPORT void _exit(int code) { leave("_exit", code); }
EXPORT void _Exit(int code) { leave("_Exit", code); }
