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

// ---- children ----

static void wait_for(pid_t pid, int expected) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) fail("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != expected) printf("acts: a child ended with %x\n", status);
}

// What a child may do without talking to anybody.
static void local_calls(void) {
    int n, flag;
    for (int i = 0; i < 100; ++i) {
        MPI_Comm_rank(MPI_COMM_WORLD, &n);
        MPI_Initialized(&flag);
        if (MPI_Wtime() < 0 || n != rank || !flag) _exit(91);
    }
}

static void child(pid_t pid, void (*leave)(int)) {
    if (pid < 0) fail("fork");
    if (pid == 0) {
        int begun = 0;
        MPI_Initialized(&begun);
        if (begun) local_calls();
        leave(7);
    }
    wait_for(pid, 7);
}

static pid_t bare_fork(void) {  // glibc 2.34
    pid_t (*function)(void) = (pid_t(*)(void))dlsym(RTLD_DEFAULT, "_Fork");
    return function ? function() : fork();
}

static void fork_exit(void) { child(fork(), exit); }
static void fork__exit(void) { child(fork(), _exit); }
static void bare_fork_exit(void) { child(bare_fork(), exit); }
static void raw_clone(void) { child((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), exit); }

static void vfork_exec(void) {
    const pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
        _exit(92);
    }
    wait_for(pid, 7);
}

static void spawn(void) {
    char* argv[] = {"sh", "-c", "exit 7", NULL};
    pid_t pid;
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0) fail("posix_spawn");
    wait_for(pid, 7);
}

static void run_system(void) {
    const int status = system("exit 7");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) printf("acts: system() gave %x\n", status);
}

static void run_popen(void) {
    char line[64] = "";
    FILE* pipe = popen("echo from a child", "r");
    if (!pipe || !fgets(line, sizeof line, pipe) || pclose(pipe) != 0 || strcmp(line, "from a child\n") != 0)
        printf("acts: popen() gave %s\n", line);
}

static void every_child(void) {
    fork_exit();
    fork__exit();
    bare_fork_exit();
    raw_clone();
    vfork_exec();
    spawn();
    run_system();
    run_popen();
}

static void exec_again(void) {
    if (getenv("ACTS_AGAIN")) return;
    setenv("ACTS_AGAIN", "1", 1);
    execv("/proc/self/exe", arguments);
    fail("exec");
}

static void exec_echo(void) {
    execl("/bin/sh", "sh", "-c", "exit 5", (char*)NULL);
    fail("exec");
}

// ---- threads that end within a call ----

static int is_cancelled;
static void leave_thread(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    if (!is_cancelled) pthread_exit(&rank);
    pthread_cancel(pthread_self());
    for (;;) pthread_testcancel();
}

static void* leave_within_call(void* comm) {
    MPI_Comm_call_errhandler(*(MPI_Comm*)comm, MPI_ERR_OTHER);
    return NULL;
}

static void end_thread(int cancelled) {
    pthread_t thread;
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    void* result = NULL;
    is_cancelled = cancelled;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(leave_thread, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    if (pthread_create(&thread, NULL, leave_within_call, &comm) != 0) fail("pthread_create");
    pthread_join(thread, &result);
    if (result != (cancelled ? PTHREAD_CANCELED : (void*)&rank)) printf("acts: the thread did not leave its call\n");
}
static void exit_thread(void) { end_thread(0); }
static void cancel_thread(void) { end_thread(1); }

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_here;
static void* call_a_hundred_times(void* unused) {
    int n;
    pthread_barrier_wait(&all_here);  // all alive at once: each needs room of its own
    pthread_mutex_lock(&one_at_a_time);
    for (int i = 0; i < 100; ++i) MPI_Comm_size(MPI_COMM_WORLD, &n);
    pthread_mutex_unlock(&one_at_a_time);
    pthread_barrier_wait(&all_here);
    return unused;
}
static void start_threads(void) {  // `number` of them
    pthread_t threads[64];
    if (number > 64) number = 64;
    pthread_barrier_init(&all_here, NULL, (unsigned)number);
    for (long i = 0; i < number; ++i)
        if (pthread_create(&threads[i], NULL, call_a_hundred_times, NULL) != 0) fail("pthread_create");
    for (long i = 0; i < number; ++i) pthread_join(threads[i], NULL);
}

// A child has none of its parent's other threads, whatever they were at when it was made.
static volatile int marking;
static void* mark(void* unused) {
    while (marking) {
        mpiprof_begin("a part");
        mpiprof_end("a part");
    }
    return unused;
}
static void fork_while_marking(void) {  // `number` times
    pthread_t thread;
    marking = 1;
    if (pthread_create(&thread, NULL, mark, NULL) != 0) fail("pthread_create");
    for (long i = 0; i < number; ++i) {
        fork_exit();
        usleep(1000);
    }
    marking = 0;
    pthread_join(thread, NULL);
}

static void on_alarm(int unused) { exit(unused == SIGALRM ? 7 : 8); }
static void handler_exits(void) {  // after `number` us, from the midst of marks
    const struct itimerval soon = {{0, 0}, {0, number}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    marking = 1;
    mark(NULL);
}

// ---- descriptors ----

static int own_files[1024], own_file_count;

static void open_own_file(void) {
    char path[] = "/tmp/acts.XXXXXX";
    const int fd = own_file_count < 1024 ? mkstemp(path) : -1;
    if (fd < 0) return;
    unlink(path);
    if (write(fd, "mine", 4) != 4) fail("write");
    own_files[own_file_count++] = fd;
}

// Calls back for every open descriptor above 2 with what /proc says it is.
static void each_descriptor(void (*function)(int fd, const char* name)) {
    DIR* dir = opendir("/proc/self/fd");
    for (struct dirent* entry; dir && (entry = readdir(dir));) {
        char path[300], name[4096];
        const int fd = atoi(entry->d_name);
        if (fd <= 2 || fd == dirfd(dir)) continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(path, name, sizeof name - 1);
        if (n < 0) continue;
        name[n] = 0;
        function(fd, name);
    }
    if (dir) closedir(dir);
}

static void close_if_file(int fd, const char* name) {
    struct stat s;
    (void)name;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode)) close(fd);
}
static void close_files(void) {
    each_descriptor(close_if_file);
    for (int i = 0; i < 900; ++i) open_own_file();  // whatever numbers were free are the program's now
}

static void close_fd(int fd, const char* name) {
    (void)name;
    close(fd);
}
static void close_all(void) {
    each_descriptor(close_fd);
    for (int i = 0; i < 900; ++i) open_own_file();
}

static void put_own_file_over(int fd, const char* name) {
    if (strstr(name, "mpi_profile")) dup2(own_files[0], fd);
}
static void dup2_over(void) {
    open_own_file();
    each_descriptor(put_own_file_over);
}

static void check_files(void) {
    int wrong = 0;
    for (int i = 0; i < own_file_count; ++i) {
        char text[8] = "";
        struct stat s;
        wrong += fstat(own_files[i], &s) != 0 || s.st_size != 4 || pread(own_files[i], text, 8, 0) != 4 ||
                 strcmp(text, "mine") != 0;
    }
    if (rank == 0) printf("acts: %d files of the program were changed\n", wrong);
}

// ---- directories, identity, modes ----

static void chdir_root(void) {
    if (chdir("/") != 0) fail("chdir");
}

static void remove_cwd(void) {
    char path[4096];
    if (mkdir("gone", 0777) != 0 && errno != EEXIST) fail("mkdir");
    if (chdir("gone") != 0 || !getcwd(path, sizeof path) || rmdir(path) != 0) fail("a directory that goes away");
}

static void deep_cwd(void) {  // `number` characters and more of working directory
    char name[251], here[8192];
    memset(name, 'd', 250);
    name[250] = 0;
    while (getcwd(here, sizeof here) && (long)strlen(here) < number) {
        const long missing = number - (long)strlen(here) - 1;
        if (missing < 250) name[missing < 1 ? 1 : missing] = 0;
        mkdir(name, 0777);
        if (chdir(name) != 0) fail("chdir");
    }
}

static void be_nobody(void) {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) fail("setuid");
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // else its own /proc files are root's
}

static void set_umask(void) { umask(0777); }

// ---- limits ----

static void limit(int what, rlim_t value) {
    struct rlimit r = {value, value};
    if (setrlimit(what, &r) != 0) fail("setrlimit");
}

static long memory_kib(void) {
    long kib = 0;
    char line[256];
    FILE* file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmSize: %ld", &kib);
    if (file) fclose(file);
    return kib;
}

static int highest;
static void note_highest(int fd, const char* name) {
    if (fd > highest && !strstr(name, "mpi_profile")) highest = fd;
}

static void limit_fsize(void) { limit(RLIMIT_FSIZE, (rlim_t)number); }
static void limit_as(void) { limit(RLIMIT_AS, ((rlim_t)memory_kib() + (rlim_t)number) << 10); }
static void limit_stack(void) { limit(RLIMIT_STACK, (rlim_t)number << 10); }
static void limit_nofile(void) {
    each_descriptor(note_highest);
    limit(RLIMIT_NOFILE, (rlim_t)(highest + 1 + number));
}

// ---- system calls that a sandbox refuses ----

static void refuse(long call, int argument, unsigned mask,
                   int error) {  // all, or those with all bits of mask in an argument
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offsetof(struct seccomp_data, args) + 8u * (unsigned)argument)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        fprintf(stderr, "acts: no seccomp here\n");
        _exit(77);
    }
}
static void refuse_mmap(void) { refuse(SYS_mmap, 3, MAP_SHARED, EPERM); }
static void refuse_all_mmap(void) { refuse(SYS_mmap, 3, 0, ENOMEM); }
static void refuse_fallocate(void) { refuse(SYS_fallocate, 0, 0, EPERM); }
static void refuse_clone(void) { refuse(SYS_clone, 0, 0, EPERM); }
static void refuse_clone3(void) { refuse(SYS_clone3, 0, 0, ENOSYS); }
static void refuse_pwrite(void) { refuse(SYS_pwrite64, 0, 0, EPERM); }
static void refuse_madvise(void) { refuse(SYS_madvise, 0, 0, EPERM); }
static void refuse_open(void) { refuse(SYS_openat, 2, O_CREAT, EPERM); }

// ---- the profile in others' hands ----

static void each_profile(void (*function)(const char*)) {
    glob_t found;
    if (glob("mpi_profile.*", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; ++i) function(found.gl_pathv[i]);
    globfree(&found);
}
static void unlink_one(const char* path) { unlink(path); }
static void truncate_one(const char* path) {
    if (truncate(path, 0) != 0) fail(path);
}
static void replace_one(const char* path) {
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0 || write(fd, "somebody else's", 15) != 15) fail(path);
    close(fd);
}
static void unlink_profile(void) { each_profile(unlink_one); }
static void truncate_profile(void) { each_profile(truncate_one); }
static void replace_profile(void) { each_profile(replace_one); }

static void fill_disk(void) {  // the one of the working directory; what was written stays
    static char zeros[4096];
    const int fd = open("filler", O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0) fail("filler");
    while (write(fd, zeros, sizeof zeros) > 0) {
    }
    close(fd);
}
static void unfill_disk(void) { unlink("filler"); }

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
