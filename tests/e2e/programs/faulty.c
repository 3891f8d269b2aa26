// Runs a command on a disk that fails: a supervisor beside it answers what it asks of its profiles. The helper thread
// of the library makes its own system calls, so nothing preloaded could answer them; the kernel (seccomp) can. usage:
// faulty RULE... -- COMMAND...
//   RULE: write=ERROR | short=BYTES | stall=SECONDS     what a write to a profile gives
//         space=ERROR                                   what taking disk space for it gives
//         create=ERROR                                  what creating it gives
//   each with @N, @N- or @N-M behind it: only the N-th, from the N-th on, the N-th to the M-th time
// FAULTY_DIR: the disk is that directory alone. FAULTY_LOG names a file that gets a line for each failure. Exit code
// 77: this kernel has none of that.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct rule {
    long call;
    char kind;  // e: error, s: short, d: delay
    long value, first, last, seen;
};
static struct rule rules[16];
static int rule_count;

struct pending {
    uint64_t id, due_ns;
};
static struct pending stalled[64];
static int stalled_count;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void skip(const char* what) {
    fprintf(stderr, "faulty: %s: %s\n", what, strerror(errno));
    _exit(77);
}

// ---- rules ----

static long error_of(const char* name, size_t length) {
    static const struct {
        const char* name;
        int error;
    } known[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO},      {"ESTALE", ESTALE},
                 {"EINTR", EINTR},   {"EROFS", EROFS},   {"EACCES", EACCES}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strlen(known[i].name) == length && strncmp(name, known[i].name, length) == 0) return known[i].error;
    return 0;
}

static void add_rule(const char* text) {
    static const struct {
        const char* name;
        long call;
        char kind;
    } known[] = {{"write", SYS_pwrite64, 'e'},
                 {"short", SYS_pwrite64, 's'},
                 {"stall", SYS_pwrite64, 'd'},
                 {"space", SYS_fallocate, 'e'},
                 {"create", SYS_openat, 'e'}};
    const char* value = strchr(text, '=');
    for (size_t i = 0; value && i < sizeof known / sizeof *known; ++i) {
        if (strlen(known[i].name) != (size_t)(value - text) ||
            strncmp(text, known[i].name, (size_t)(value - text)) != 0)
            continue;
        const char* at = strchr(value, '@');
        const char* dash = at ? strchr(at, '-') : NULL;
        const size_t length = at ? (size_t)(at - value - 1) : strlen(value + 1);
        struct rule* rule = &rules[rule_count++];
        *rule = (struct rule){known[i].call,
                              known[i].kind,
                              known[i].kind == 'e' ? error_of(value + 1, length) : atol(value + 1),
                              1,
                              1L << 40,
                              0};
        if (at) rule->first = atol(at + 1);
        if (at && !dash) rule->last = rule->first;
        if (dash && dash[1]) rule->last = atol(dash + 1);
        if (rule->value) return;
    }
    fprintf(stderr, "faulty: what is %s?\n", text);
    exit(2);
}

// ---- the supervisor ----

static int is_profile(const struct seccomp_notif* asked) {
    char path[64], name[4096];
    ssize_t n;
    if (asked->data.nr == SYS_openat) {
        snprintf(path, sizeof path, "/proc/%u/mem", asked->pid);
        const int memory = open(path, O_RDONLY);
        n = pread(memory, name, sizeof name - 1, (off_t)asked->data.args[1]);
        if (n <= 0) n = pread(memory, name, 4096 - (size_t)asked->data.args[1] % 4096 - 1, (off_t)asked->data.args[1]);
        close(memory);
    } else {
        snprintf(path, sizeof path, "/proc/%u/fd/%d", asked->pid, (int)asked->data.args[0]);
        n = readlink(path, name, sizeof name - 1);
    }
    name[n > 0 ? n : 0] = 0;
    const char* directory = getenv("FAULTY_DIR");
    return strstr(name, "/mpi_profile.") != NULL && (!directory || strncmp(name, directory, strlen(directory)) == 0);
}

// Writes the first bytes for the program; what it returns is what the program's write returns.
static long write_part(const struct seccomp_notif* asked, size_t bytes) {
    char path[64], data[65536];
    if (bytes > asked->data.args[2]) bytes = asked->data.args[2];
    if (bytes > sizeof data) bytes = sizeof data;
    snprintf(path, sizeof path, "/proc/%u/mem", asked->pid);
    const int memory = open(path, O_RDONLY);
    snprintf(path, sizeof path, "/proc/%u/fd/%d", asked->pid, (int)asked->data.args[0]);
    const int file = open(path, O_WRONLY);
    long n = pread(memory, data, bytes, (off_t)asked->data.args[1]);
    if (n > 0) n = pwrite(file, data, (size_t)n, (off_t)asked->data.args[3]);
    close(memory);
    close(file);
    return n < 0 ? -errno : n;
}

static void answer(int listener, uint64_t id, long value, unsigned flags) {
    struct seccomp_notif_resp response = {.id = id, .flags = flags};
    if (value < 0)
        response.error = (int)value;
    else
        response.val = value;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

// A line for each time that a rule was applied, so that a test knows that the disk did fail.
static void note(const struct seccomp_notif* asked) {
    const char* path = getenv("FAULTY_LOG");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd < 0) return;
    dprintf(fd, "%d\n", asked->data.nr);
    close(fd);
}

static void decide(int listener, const struct seccomp_notif* asked) {
    const int concerns_us = is_profile(asked);
    const struct rule* rule = NULL;
    for (int i = 0; concerns_us && i < rule_count; ++i) {
        struct rule* r = &rules[i];
        if (r->call == asked->data.nr && ++r->seen >= r->first && r->seen <= r->last && !rule) rule = r;
    }
    if (rule) note(asked);
    if (rule && rule->kind == 'e') return answer(listener, asked->id, -rule->value, 0);
    if (rule && rule->kind == 's') return answer(listener, asked->id, write_part(asked, (size_t)rule->value), 0);
    if (rule && stalled_count < 64) {
        stalled[stalled_count++] = (struct pending){asked->id, now() + (uint64_t)rule->value * 1000000000u};
        return;
    }
    answer(listener, asked->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

static void let_go(int listener) {
    for (int i = 0; i < stalled_count; ++i) {
        if (stalled[i].due_ns > now()) continue;
        answer(listener, stalled[i].id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
        stalled[i--] = stalled[--stalled_count];
    }
}

static void supervise(int listener) {
    for (;;) {
        struct pollfd p = {listener, POLLIN, 0};
        const int n = poll(&p, 1, stalled_count ? 20 : -1);
        let_go(listener);
        if (n <= 0) continue;
        if (p.revents & POLLIN) {
            struct seccomp_notif asked;
            memset(&asked, 0, sizeof asked);
            if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) == 0) decide(listener, &asked);
        } else {
            _exit(0);  // nobody is left who could ask
        }
    }
}

// ---- start ----

static int make_listener(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args) + 16),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_EXCL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0) skip("seccomp");
    return listener;
}

static void pass(int channel, int fd) {
    char space[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
    struct iovec io = {&byte, 1};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr* part = CMSG_FIRSTHDR(&message);
    *part = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(part), &fd, sizeof fd);
    if (sendmsg(channel, &message, 0) < 0) skip("sendmsg");
}

static int receive(int channel) {
    char space[CMSG_SPACE(sizeof(int))], byte;
    int fd = -1;
    struct iovec io = {&byte, 1};
    struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(channel, &message, 0) > 0 && CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

int main(int argc, char** argv) {
    int i = 1, channel[2];
    for (; i < argc && strcmp(argv[i], "--") != 0; ++i) add_rule(argv[i]);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) skip("socketpair");
    const pid_t pid = fork();
    if (pid == 0) {
        if (fork() != 0) _exit(0);  // nobody's child: the program may wait for all of its own
        for (int fd = 0; fd < 1024; ++fd)
            if (fd != channel[1]) close(fd);
        const int listener = receive(channel[1]);
        if (listener >= 0) supervise(listener);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
    const int listener = make_listener();
    pass(channel[0], listener);
    close(listener);
    execvp(argv[i + 1], argv + i + 1);
    skip(argv[i + 1]);
}
