// Three generalized requests, which a thread of the program's completes while MPI waits for them. One rank.
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

enum { requests = 3 };

static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_cancelled(status, 0);
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int nothing(void* state) {
    (void)state;
    return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void* works(void* of) {
    usleep(20000);
    for (int i = 0; i < requests; ++i) MPI_Grequest_complete(((MPI_Request*)of)[i]);
    return NULL;
}

int main(int argc, char** argv) {
    int level;
    pthread_t thread;
    MPI_Request waited[requests], completed[requests];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    for (int i = 0; i < requests; ++i) {
        MPI_Grequest_start(query, nothing, cancel, NULL, &waited[i]);
        completed[i] = waited[i];
    }
    pthread_create(&thread, NULL, works, completed);
    MPI_Wait(&waited[0], MPI_STATUS_IGNORE);
    MPI_Waitall(requests - 1, waited + 1, MPI_STATUSES_IGNORE);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
