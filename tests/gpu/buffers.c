/* An MPI program whose buffers are said to lie on a GPU: the double of libcuda says so of memory that is the host's, so
 * that any MPI can move it. buffers SCENE, on two ranks. What each scene calls, and with whose memory, is in
 * tests/e2e/cases/buffers.py. */
#include <mpi.h>

#include "tests/gpu/doubles/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define F(name, arguments) int name arguments;
CUDA_FUNCTIONS(F)
#undef F

#ifdef HIP
int hipGetLastError(void);
void fake_hip_fail(void);
#endif

enum { block = 2 << 20, n = 100 };
static double *host, *device, *managed;
static int rank;

static double* memory(int kind) {
    void* at;
    if (posix_memalign(&at, block, block)) abort();
    memset(at, 0, block);
    if (kind) fake_cuda_claim(at, block, kind);
    return at;
}

/* Each of the kinds so many times, in turn: a place in the program meets all of them. */
static void collectives(double* from, int times) {
    for (int i = 0; i < times; ++i) {
        MPI_Allreduce(from, host + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, from, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* the other buffer */
        MPI_Bcast(from, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Gather(from, n, MPI_DOUBLE, host + n, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        /* What is sent is significant at the root alone: elsewhere it is a wild pointer of the device's. */
        MPI_Scatter(rank == 0 ? host + 2 * n : device + 7, n, MPI_DOUBLE, from, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}
static void messages(double* from, double* to) {
    MPI_Request both[2];
    MPI_Status statuses[2];
    MPI_Irecv(to, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(from, n, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, statuses);
    MPI_Sendrecv(from, n, MPI_DOUBLE, 1 - rank, 2, to, n, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    const char* scene = argc > 1 ? argv[1] : "kinds";
    const int is_late = strncmp(scene, "late", 4) == 0;
    const int is_unused = strcmp(scene, "unused") == 0;
    if (!is_late && !is_unused) cuInit(0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    host = memory(0);
    if (is_late) {
        for (int i = 0; i < 500; ++i) MPI_Allreduce(host, host + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        usleep(100000); /* it is looked for so often */
        cuInit(0);
    }
    device = memory(2);
    managed = memory(8);
    if (strcmp(scene, "freed") == 0) { /* its addresses are the host's from now on */
        for (int i = 0; i < 100; ++i) MPI_Bcast(device, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        fake_cuda_claim(device, block, 0);
        for (int i = 0; i < 100; ++i) MPI_Bcast(device, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else if (is_unused) {
        for (int i = 0; i < 300; ++i) MPI_Bcast(device, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#ifdef HIP
    } else if (strcmp(scene, "unread") == 0) {
        for (int i = 0; i < 10; ++i)
            MPI_Bcast(host, n, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* of memory that is not known by now */
        if (hipGetLastError() != 0) printf("an error was left\n");
        fake_hip_fail();
        for (int i = 0; i < 5; ++i) MPI_Bcast(managed, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (hipGetLastError() != 1) printf("an error was lost\n");
        for (int i = 0; i < 10; ++i) MPI_Bcast(device, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#endif
    } else if (is_late) {
        if (strcmp(scene, "late_and_new") == 0) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(host, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < 10; ++i) MPI_Allreduce(device, host + n, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else {
        double* kinds[] = {host, device, managed};
        for (int round = 0; round < 2; ++round)
            for (int i = 0; i < 3; ++i) collectives(kinds[i], i + 1);
        messages(device, host);
        messages(host, device);
        const unsigned long queries = fake_cuda_pointer_queries();
        for (int i = 0; i < 64; ++i) MPI_Bcast(device, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "mpiprof") && strcmp(scene, "off") != 0 &&
            fake_cuda_pointer_queries() > queries + 2)
            printf("the driver was asked %lu times in 64 calls\n", fake_cuda_pointer_queries() - queries);
        if (strcmp(scene, "off") == 0 && fake_cuda_pointer_queries() != 0) printf("the driver was asked\n");
    }
    MPI_Finalize();
    return 0;
}
