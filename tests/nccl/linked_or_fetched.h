/* NCCL's functions for a program: linked with the double or, compiled with FETCH, by dlopen and dlsym as JAX and ctypes
 * do. NCCL(name) is the function either way; fetch() comes first. Included by the programs of tests/nccl and tests/gpu.
 */
#pragma once

#include "tests/nccl/nccl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FETCH
#define F(name, arguments) static int(*f_##name) arguments;
NCCL_FUNCTIONS(F)
#undef F
#define NCCL(name) f_##name
static void* fetch(void) {
    void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
#define F(name, arguments) f_##name = (int(*) arguments)dlsym(library, #name);
    NCCL_FUNCTIONS(F)
#undef F
    return library;
}
#else
#define F(name, arguments) int name arguments;
NCCL_FUNCTIONS(F)
#undef F
#define NCCL(name) name
static void* fetch(void) { return NULL; }
#endif
