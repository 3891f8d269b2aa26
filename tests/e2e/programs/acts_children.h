// What acts.c does about children of every kind, and about threads that end within a call. Uses its fail() and tally.
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
