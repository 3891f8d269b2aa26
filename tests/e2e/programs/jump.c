// Preloaded: a wall clock that is set by JUMP_SECONDS 200 ms after it was first read. CLOCK_MONOTONIC runs on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec* t) {
    static int (*real)(clockid_t, struct timespec*);
    static long long first;
    struct timespec m;
    if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
    const int result = real(id, t);
    if (id != CLOCK_REALTIME || result != 0 || real(CLOCK_MONOTONIC, &m) != 0) return result;
    const long long now = m.tv_sec * 1000LL + m.tv_nsec / 1000000;
    if (first == 0) first = now;
    const char* seconds = getenv("JUMP_SECONDS");
    if (seconds && now - first > 200) t->tv_sec += atol(seconds);
    return result;
}
