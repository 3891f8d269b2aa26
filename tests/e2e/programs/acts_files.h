// What acts.c does to its descriptors, directories, limits, system calls and profiles. Uses its fail().
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
