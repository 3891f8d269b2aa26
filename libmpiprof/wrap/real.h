// Finding the real function behind an exported name: what the program would have called without us.
// Called once per function and process (a lookup never happens on the hot path); knows no MPI but its names.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/record/native_stack.h"
#include "libmpiprof/record/stack.h"

namespace mpiprof::wrap {

struct Real {
    void* function;      // null: no such function anywhere
    const void* object;  // what stands for the one that it lies in
};

// The caller's own dependencies first (right even when two MPIs are loaded, and the only way to a library that came in
// by dlopen(RTLD_LOCAL)), then the next definition in load order (another tool, or the library), then every loaded
// object. `landmarks`: names that only the library itself defines, one of them in each of its objects; NUL-separated,
// ends empty.
Real find_real(const char* name, Word return_address, const char* landmarks);

// The function `name` of the library that `near` lies in or depends on; null if it has none. For questions of our own.
void* find_beside(const char* name, const void* near);

// Whether an address lies in the object that a function lies in.
bool is_in_object_of(const void* function, Word address);

// What the program itself, and whatever it was linked with, mean by a name: the first in the order of loading. A
// variable of a library may lie in the program (copy relocations, Fortran's common blocks). Null if there is none.
const void* find_in_program(const char* name);

// The file name of the object that an address lies in, without its directory; empty if it lies in none, or in the
// program.
void name_of_object(const void* address, char (&name)[128]);

// Whether a call was made inside another wrapper: by the MPI library itself, or by a callback of the user's.
struct Nesting {
    bool is_nested;
    bool is_certain;  // else the stack between the two could not be followed
};
// Of the call with this frame, which returns there. Asked only when the token, which lies above, says that it may be.
// `own`: the thread's stack, as far as it is known.
Nesting find_nesting(const Word* frame, const Word* token, Word return_address, const NativeStack& own);

// The unwinder of libgcc_s, which exceptions use, too; null where there is none. Loaded at the first question.
const Unwinder* find_unwinder();

// Whether the program's calls of `name` come to us, rather than to another tool's function of that name.
bool comes_first(const char* name);

// Whether the program's own names lead to us: false where somebody opened this library by itself.
bool is_preloaded();

// The object that `function` lies in stays until the process ends: it will be asked then.
void keep_loaded(const void* function);

// Has the function, which is ours, called once when the object with this handle is unloaded, within its unloading: as
// one of the object's own destructors. False: there is no way.
bool call_at_unloading(void* handle, void (*function)(void*), void* argument);

// Ends the process as the loader would have ended it: nobody defines the function that the program calls.
[[noreturn]] void no_such_function(const char* name);

}  // namespace mpiprof::wrap
