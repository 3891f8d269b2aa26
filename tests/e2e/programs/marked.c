/* A program without MPI that marks its iterations: the serial run that others are compared with. Prints how long each
   took, in us. usage: marked COUNT|none [kill|fork|exec|_exit] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../include/mpiprof.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void iterate(int count) {
    mpiprof_label("model", "resnet50");
    mpiprof_begin("resnet50");
    mpiprof_begin("no ddp");
    double before = now();
    for (int i = 0; i < count; ++i) {
        const double wanted = 1000 + 100 * (i % 10);
        while (now() - before < wanted) {
        }
        mpiprof_mark(32);
        const double after = now();
        printf("%.1f\n", after - before);
        before = after;
    }
    mpiprof_end("no ddp");
    mpiprof_end("resnet50");
}

int main(int argc, char** argv) {
    const char* how = argc > 2 ? argv[2] : "";
    if (argc > 1 && strcmp(argv[1], "none") != 0) iterate(atoi(argv[1]));
    fflush(stdout);
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "_exit") == 0) _exit(3);
    if (strcmp(how, "exec") == 0) execl(argv[0], argv[0], "20", (char*)NULL);
    if (strcmp(how, "fork") == 0) {
        const pid_t child = fork();
        if (child == 0) {
            iterate(5);
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return 0;
}
