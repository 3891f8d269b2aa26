/* Two ranks that do not enqueue alike on their communicators, and then stand still as hosts do that wait for their
 * GPUs: order SCENE [COMMUNICATORS BEFORE [messages]], with RANK. Linked with the double. The lines that matter are
 * marked with their scenes. */
#include "include/mpiprof.h"
#include "tests/nccl/linked_or_fetched.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int rank;
static char buffer[64];

#define OK(call)                                       \
    do {                                               \
        if ((call) != 0) {                             \
            fprintf(stderr, "%s went wrong\n", #call); \
            exit(1);                                   \
        }                                              \
    } while (0)

static ncclComm_t communicator(const char* name) {
    ncclComm_t comm = NULL;
    ncclUniqueId id;
    memset(&id, 0, sizeof id);
    snprintf(id.internal, sizeof id.internal, "order:%s", name);
    OK(ncclCommInitRank(&comm, 2, id, rank));
    return comm;
}

static void all_reduce(ncclComm_t comm, size_t count, int type) {
    OK(ncclAllReduce(buffer, buffer, count, type, ncclSum, comm, NULL)); /* all_reduce */
}
static void broadcast(ncclComm_t comm, int root) {
    OK(ncclBroadcast(buffer, buffer, 4, ncclFloat32, root, comm, NULL)); /* broadcast */
}
static void leave(void) {
    printf("acts: %d is gone\n", rank);
    exit(0);
}

static void message(ncclComm_t comm, int is_sent) {
    if (is_sent)
        OK(ncclSend(buffer, 4, ncclFloat32, !rank, comm, NULL)); /* send */
    else
        OK(ncclRecv(buffer, 4, ncclFloat32, !rank, comm, NULL)); /* receive */
}

/* What rank 1 does otherwise than rank 0: it receives what rank 0 sends. */
static void messages(const char* scene, ncclComm_t comm) {
    if (rank == 1 && !strcmp(scene, "paused")) mpiprof_off();
    for (int i = 0; i < 50; ++i) message(comm, rank == 0);
    mpiprof_on();
    if (!strcmp(scene, "elsewhere")) { /* on one side before the collective, on the other behind it */
        if (rank == 1) message(comm, 0);
        all_reduce(comm, 8, ncclFloat32);
        if (rank == 0) message(comm, 1);
    } else if (!strcmp(scene, "unreceived")) {
        if (rank == 0) message(comm, 1);
    } else if (strcmp(scene, "met") != 0) {
        if (rank == 1) message(comm, 0);
        if (rank == 0 && !strcmp(scene, "gone")) leave();
    }
}

/* The same of collectives. */
static void step(const char* scene, ncclComm_t one, ncclComm_t other) {
    const int is_odd = rank == 1;
    if (!strcmp(scene, "count"))
        all_reduce(one, is_odd ? 9 : 8, ncclFloat32);
    else if (!strcmp(scene, "type"))
        all_reduce(one, 8, is_odd ? ncclFloat16 : ncclFloat32);
    else if (!strcmp(scene, "root"))
        broadcast(one, is_odd);
    else if (!strcmp(scene, "call"))
        is_odd ? broadcast(one, 0) : all_reduce(one, 8, ncclFloat32);
    else if (!strcmp(scene, "behind"))
        is_odd ? (void)0 : all_reduce(one, 8, ncclFloat32);
    else if (!strcmp(scene, "gone"))
        is_odd ? leave() : all_reduce(one, 8, ncclFloat32);
    else if (!strcmp(scene, "ahead")) /* each on one of them */
        is_odd ? broadcast(other, 0) : all_reduce(one, 8, ncclFloat32);
    else if (!strcmp(scene, "crossed") && is_odd)
        broadcast(other, 0), all_reduce(one, 8, ncclFloat32);
    else
        all_reduce(one, 8, ncclFloat32), broadcast(other, 0);
}

/* Trainers have other threads. */
static void* idle(void* nothing) {
    for (;;) pause();
    return nothing;
}

int main(int argc, char** argv) {
    if (argc < 2 || !getenv("RANK")) return 2;
    pthread_t other_thread;
    if (pthread_create(&other_thread, NULL, idle, NULL) != 0) return 2;
    fetch();
    rank = atoi(getenv("RANK"));
    /* Trainers have many of them. */
    for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 0); ++i) {
        char name[16];
        snprintf(name, sizeof name, "more %d", i);
        all_reduce(communicator(name), 8, ncclFloat32);
    }
    ncclComm_t one = communicator("one"), other = communicator("other");
    for (int i = 0; i < 300; ++i) all_reduce(one, 8, ncclFloat32), broadcast(other, i % 2);
    if (argc > 3)
        messages(argv[1], one);
    else
        step(argv[1], one, other);
    printf("acts: %d stands still\n", rank);
    fflush(stdout);
    for (;;) pause();
}
