/* A program whose numbers 0 to 2 are its own data files, at some moment of its life:
   usage: reused HOW DIRECTORY, HOW one of
     before    all three are closed and opened again before MPI_Init     after   the same behind it
     closed    number 2 is closed and stays so                            log     freopen(stderr) to a file of its own
     over      dup2 of a file of its own over 2, behind MPI_Init          old     a file that was there, under 2, and 0
   and 1, too socket    number 2 becomes a socket, whose other end is read         none    nothing of that
     long      as after, and in between nothing is open under 0 and 1 for two seconds
   Each data file is begun with 64 bytes and ended with 64 more. Says "wrong" in DIRECTORY/verdict.RANK if there is more
   in one of them. Between, it begins MPI, moves something, and asks for a line of ours by ending a region that is none.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PIECE 64
static char paths[3][600];
static int used[3], ends[2] = {-1, -1}, rank_by_name;

static void put(int fd, char c) {
    char piece[PIECE];
    memset(piece, c, PIECE);
    if (write(fd, piece, PIECE) != PIECE) _exit(9);
}

static void take(int fd, int flags) {
    close(fd);
    if (open(paths[fd], flags, 0600) != fd) _exit(8);
    used[fd] = 1;
    put(fd, 'a');
}

/* Nobody else opens something there meanwhile. */
static void stay_closed(double seconds) {
    struct timespec began, now;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        for (int i = 0; i < 1000; ++i)
            if (fcntl(0, F_GETFD) != -1 || fcntl(1, F_GETFD) != -1) _exit(10);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - began.tv_sec + (now.tv_nsec - began.tv_nsec) * 1e-9 < seconds);
}

static void reuse(const char* how) {
    if (!strcmp(how, "closed")) close(2);
    if (!strcmp(how, "log")) {
        if (!freopen(paths[2], "w", stderr)) _exit(7);
        used[2] = 1;
        put(2, 'a');
    } else if (!strcmp(how, "over")) {
        int fd = open(paths[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, 2);
        close(fd);
        used[2] = 1;
        put(2, 'a');
    } else if (!strcmp(how, "socket")) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) _exit(6);
        dup2(ends[1], 2);
    } else if (strcmp(how, "closed") && strcmp(how, "none")) {
        for (int fd = 0; fd < 3; ++fd) close(fd);
        if (!strcmp(how, "long")) stay_closed(2);
        for (int fd = 0; fd < 3; ++fd) take(fd, O_RDWR | O_CREAT | (!strcmp(how, "old") ? 0 : O_TRUNC));
    }
}

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "none";
    const char* number = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    rank_by_name = number ? atoi(number) : 0;
    for (int fd = 0; fd < 3; ++fd) snprintf(paths[fd], sizeof paths[fd], "%s/data.%d.%d", argv[2], rank_by_name, fd);
    const int is_early = !strcmp(how, "before") || !strcmp(how, "old") || !strcmp(how, "closed");
    if (is_early) reuse(how);
    MPI_Init(&argc, &argv);
    if (!is_early) reuse(how);
    int value = 1, sum = 0;
    for (int i = 0; i < 20; ++i) MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    void (*end)(const char*) = (void (*)(const char*))dlsym(RTLD_DEFAULT, "mpiprof_region_end");
    if (end) end("nothing");
    MPI_Finalize();
    int wrong = 0;
    for (int fd = 0; fd < 3; ++fd) {
        if (!used[fd]) continue;
        char text[4 * PIECE];
        put(fd, 'z');
        int again = open(paths[fd], O_RDONLY);
        const ssize_t n = read(again, text, sizeof text);
        for (int i = 0; i < n && i < 2 * PIECE; ++i) wrong |= text[i] != (i < PIECE ? 'a' : 'z');
        wrong |= n != 2 * PIECE;
    }
    if (ends[0] >= 0) {
        char byte;
        wrong |= recv(ends[0], &byte, 1, MSG_DONTWAIT) > 0;
    }
    char verdict[620];
    snprintf(verdict, sizeof verdict, "%s/verdict.%d", argv[2], rank_by_name);
    int fd = open(verdict, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dprintf(fd, wrong ? "wrong\n" : "right\n");
    return 0;
}
