// The C half of the independent counter (make_oracle.py writes the other): resolves the real functions when the
// process starts, writes the counts when it ends. Nothing here runs per call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern const char* const oracle_names[] __attribute__((visibility("hidden")));
extern unsigned long long oracle_counts[] __attribute__((visibility("hidden")));
extern void* oracle_reals[] __attribute__((visibility("hidden")));

static pid_t owner;

// Where a program brings its MPI in by dlopen, there are no real functions yet but those of the profiler behind us
// in LD_PRELOAD; what that does not export must be left out of the oracle (--leave-out).
static void missing(void) {
    static const char text[] = "oracle: a counted function has no real one\n";
    (void)!write(2, text, sizeof text - 1);
    abort();
}

__attribute__((constructor)) static void find_reals(void) {
    owner = getpid();
    for (int i = 0; oracle_names[i]; ++i) {
        void* real = dlsym(RTLD_NEXT, oracle_names[i]);
        oracle_reals[i] = real ? real : (void*)missing;
    }
}

static const char* launcher_rank(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (int i = 0; i < 3; ++i) {
        const char* value = getenv(names[i]);
        if (value) return value;
    }
    return "0";
}

static int create(char* path, size_t room) {
    const char* directory = getenv("ORACLE_DIR");
    const int length = snprintf(path, room, "%s/oracle.%s.csv", directory ? directory : ".", launcher_rank());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) {
        snprintf(path + length, room - length, ".%d", (int)getpid());
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    }
    return fd;
}

__attribute__((destructor)) static void write_counts(void) {
    if (getpid() != owner) return;  // a forked child inherited the parent's counts
    int any = 0;
    for (int i = 0; oracle_names[i]; ++i) any |= oracle_counts[i] != 0;
    if (!any) return;
    char path[4096];
    const int fd = create(path, sizeof path);
    if (fd < 0) {
        perror(path);
        return;
    }
    dprintf(fd, "symbol,calls\n");
    for (int i = 0; oracle_names[i]; ++i)
        if (oracle_counts[i]) dprintf(fd, "%s,%llu\n", oracle_names[i], oracle_counts[i]);
    close(fd);
}
