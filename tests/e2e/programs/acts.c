// CALLS times one 8-byte Sendrecv around the ring, in two halves, and in between what programs do to themselves: forks,
// closed descriptors, limits, other directories, and every way to end.
// usage: acts CALLS [MOMENT:ACT[=NUMBER]]...   MOMENT: before (MPI_Init), middle, end (before MPI_Finalize), after
// With ACTS_TALLY=<prefix> a shared mapping <prefix>.<rank> holds the number of calls at any moment, whoever kills us.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../include/mpiprof.h"

extern char** environ;

static char** arguments;
static int rank, size;
static long number;  // what stands behind an act's =

static void fail(const char* what) {
    fprintf(stderr, "acts: %s: %s\n", what, strerror(errno));
    _exit(90);
}

// ---- the tally: begun and done as the program itself counts them, and done every 10 ms ----

enum { moments = 8192, moment_ns = 10000000 };
struct tally {
    uint64_t begun, done, first_ns, last_ns, at[moments];
};
static struct tally in_memory, *tally = &in_memory;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_tally(void) {
    char path[4096];
    if (getenv("ACTS_TALLY")) {
        snprintf(path, sizeof path, "%s.%d", getenv("ACTS_TALLY"), rank);
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (fd < 0 || posix_fallocate(fd, 0, sizeof *tally) != 0) fail(path);
        tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (tally == MAP_FAILED) fail("mmap of the tally");
        close(fd);
    }
    tally->first_ns = tally->last_ns = now();
}

static void count_done(void) {
    ++*(volatile uint64_t*)&tally->done;
    tally->last_ns = now();
    const uint64_t slot = (tally->last_ns - tally->first_ns) / moment_ns;
    if (slot < moments) tally->at[slot] = tally->done;
}

#include "acts_children.h"
#include "acts_files.h"

// ---- calls where there is no MPI ----

static void early_calls(void) {
    int flag = 7, version, subversion;
    MPI_Initialized(&flag);
    MPI_Get_version(&version, &subversion);
    if (flag != 0) printf("acts: initialized too early\n");
}

static void late_calls(void) {
    int flag = 0;
    MPI_Finalized(&flag);
    if (!flag) printf("acts: not finalized\n");
}

// ---- ends ----

static void end_exit(void) { exit((int)number); }
static void end__exit(void) { _exit((int)number); }
static void end_quick_exit(void) { quick_exit((int)number); }
static void end_abort(void) { abort(); }
static void end_segv(void) { *(volatile int*)8 = 1; }
static void end_bus(void) {
    char path[] = "/tmp/acts.XXXXXX";
    const int fd = mkstemp(path);
    unlink(path);
    volatile char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    page[0] = 1;
}
static void end_fpe(void) {
    volatile int zero = 0, some = 7;
    some = some / zero;
}
static void use_stack(int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    use_stack(depth + 1);
    room[1] = room[0];
}
static void end_overflow(void) { use_stack(0); }
static void end_mpi_abort(void) { MPI_Abort(MPI_COMM_WORLD, (int)number); }
static void end_mpi_abort_one(void) {
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, (int)number);
    sleep(600);
}
static void end_kill(void) {
    kill(getpid(), (int)number);
    sleep(600);
}
static void end_kill_one(void) {
    if (rank == 0) kill(getpid(), (int)number);
    sleep(600);
}
static void end_hang(void) {
    if (rank == 0) sleep(600);
    MPI_Barrier(MPI_COMM_WORLD);
}
static void end_sleep(void) { sleep(600); }
static void use_memory(void) {
    for (;;) {
        char* p = malloc(1 << 20);
        if (!p) _exit(93);
        memset(p, 1, 1 << 20);
    }
}
static void finalize_at_exit(void) {
    MPI_Finalize();
    late_calls();
}
static void end_atexit(void) {
    atexit(finalize_at_exit);
    exit((int)number);
}

static volatile sig_atomic_t asked_to_end;
static void on_term(int signal) { asked_to_end = signal; }
static void handle_term(void) { signal(SIGTERM, on_term); }
static void term_self(void) {
    raise(SIGTERM);
    if (rank == 0) printf("acts: the handler saw %d\n", (int)asked_to_end);
}

static void stop_and_continue(void) {  // for `number` ms
    const pid_t me = getpid(), pid = fork();
    if (pid == 0) {
        usleep((useconds_t)number * 1000);
        kill(me, SIGCONT);
        _exit(0);
    }
    kill(me, SIGSTOP);
    wait_for(pid, 0);
}

static void pause_ms(void) { usleep((useconds_t)number * 1000); }
static void no_core(void) { limit(RLIMIT_CORE, 0); }

static const struct {
    const char* name;
    void (*function)(void);
} acts[] = {
    {"fork_exit", fork_exit},
    {"fork__exit", fork__exit},
    {"bare_fork", bare_fork_exit},
    {"raw_clone", raw_clone},
    {"vfork_exec", vfork_exec},
    {"spawn", spawn},
    {"system", run_system},
    {"popen", run_popen},
    {"every_child", every_child},
    {"exec_again", exec_again},
    {"exec", exec_echo},
    {"exit_thread", exit_thread},
    {"cancel_thread", cancel_thread},
    {"close_files", close_files},
    {"close_all", close_all},
    {"dup2_over", dup2_over},
    {"check_files", check_files},
    {"chdir_root", chdir_root},
    {"remove_cwd", remove_cwd},
    {"deep_cwd", deep_cwd},
    {"nobody", be_nobody},
    {"umask", set_umask},
    {"fsize", limit_fsize},
    {"as", limit_as},
    {"stack", limit_stack},
    {"nofile", limit_nofile},
    {"no_mmap", refuse_mmap},
    {"no_mmap_at_all", refuse_all_mmap},
    {"no_fallocate", refuse_fallocate},
    {"no_clone", refuse_clone},
    {"no_clone3", refuse_clone3},
    {"no_pwrite", refuse_pwrite},
    {"no_madvise", refuse_madvise},
    {"no_create", refuse_open},
    {"threads", start_threads},
    {"fork_while_marking", fork_while_marking},
    {"handler_exits", handler_exits},
    {"fill", fill_disk},
    {"unfill", unfill_disk},
    {"unlink_profile", unlink_profile},
    {"truncate_profile", truncate_profile},
    {"replace_profile", replace_profile},
    {"early_calls", early_calls},
    {"late_calls", late_calls},
    {"exit", end_exit},
    {"_exit", end__exit},
    {"quick_exit", end_quick_exit},
    {"abort", end_abort},
    {"segv", end_segv},
    {"bus", end_bus},
    {"fpe", end_fpe},
    {"overflow", end_overflow},
    {"mpi_abort", end_mpi_abort},
    {"mpi_abort_one", end_mpi_abort_one},
    {"kill", end_kill},
    {"kill_one", end_kill_one},
    {"hang", end_hang},
    {"sleep", end_sleep},
    {"use_memory", use_memory},
    {"atexit", end_atexit},
    {"handle_term", handle_term},
    {"term", term_self},
    {"stop", stop_and_continue},
    {"pause", pause_ms},
    {"no_core", no_core},
};

static void act(const char* moment) {
    const size_t length = strlen(moment);
    for (char** a = arguments + 2; *a; ++a) {
        if (strncmp(*a, moment, length) != 0 || (*a)[length] != ':') continue;
        const char* name = *a + length + 1;
        const char* equals = strchr(name, '=');
        const size_t n = equals ? (size_t)(equals - name) : strlen(name);
        number = equals ? atol(equals + 1) : 0;
        size_t i = 0;
        while (i < sizeof acts / sizeof *acts && (strlen(acts[i].name) != n || strncmp(acts[i].name, name, n) != 0))
            ++i;
        if (i == sizeof acts / sizeof *acts) {
            errno = EINVAL;
            fail(name);
        }
        acts[i].function();
    }
}

static long ring(long first, long last) {
    long sum = 0;
    for (long i = first; i < last; ++i) {
        long out = rank + i, in = 0;
        ++*(volatile uint64_t*)&tally->begun;
        MPI_Sendrecv(&out, 1, MPI_LONG, (rank + 1) % size, 0, &in, 1, MPI_LONG, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count_done();
        sum += in;
    }
    return sum;
}

int main(int argc, char** argv) {
    const long calls = argc > 1 ? atol(argv[1]) : 10;
    arguments = argv;
    act("before");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    open_tally();
    long sum = ring(0, calls / 2);
    act("middle");
    sum += ring(calls / 2, calls);
    if (rank == 0) {
        printf("acts: %d ranks, %ld calls, sum %ld\n", size, calls, sum);
        fflush(stdout);
    }
    act("end");
    fflush(stdout);
    MPI_Finalize();
    act("after");
    return 0;
}
