/* Preloaded: moves the program's CLOCK_MONOTONIC, as tools do that play another time. MOVED_CLOCK is "still" (it stands
   still from 0.2 s to 1.2 s after the first question) or "fast" (it goes three times as fast). The kernel's own stays
   what it is. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec* t) {
    static long long first;
    const long rc = syscall(SYS_clock_gettime, id, t);
    if (rc || id != CLOCK_MONOTONIC) return (int)rc;
    const char* how = getenv("MOVED_CLOCK");
    long long ns = t->tv_sec * 1000000000ll + t->tv_nsec;
    if (!first) first = ns;
    long long since = ns - first;
    if (how && !strcmp(how, "fast")) since *= 3;
    if (how && !strcmp(how, "still") && since > 200000000) since = since < 1200000000 ? 200000000 : since - 1000000000;
    t->tv_sec = (first + since) / 1000000000;
    t->tv_nsec = (first + since) % 1000000000;
    return 0;
}
