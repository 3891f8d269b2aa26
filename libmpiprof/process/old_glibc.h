// Forced into every source of the library: binds symbols that moved or got new versions to their oldest one, so that
// the library built on a new machine loads on glibc 2.28 (tests/library/ holds the line). Weak, since before glibc 2.34
// the dl* functions live in libdl, which only programs that could call MPI bring along.
#pragma once

#if defined(__GLIBC__) || defined(__linux__)
#if defined(__x86_64__)
#define MPIPROF_OLD_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define MPIPROF_OLD_GLIBC "GLIBC_2.17"
#endif
#ifdef MPIPROF_OLD_GLIBC
#define MPIPROF_BIND(name) __asm__(".symver " #name "," #name "@" MPIPROF_OLD_GLIBC)
MPIPROF_BIND(dlsym);
MPIPROF_BIND(dlopen);
MPIPROF_BIND(dlclose);
#undef MPIPROF_BIND
#endif
#endif
#pragma weak dlsym
#pragma weak dlopen
#pragma weak dlclose
