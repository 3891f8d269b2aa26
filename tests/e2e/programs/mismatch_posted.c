// Ranks that wait for what they have posted, or probe, and nobody comes: they hang, for SECONDS, until a thread ends
// them all.
//   mismatch_posted KIND SECONDS
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, sum, of_all;

static void* end_all(void* seconds) {
    sleep((unsigned)atoi(seconds));
    _exit(3);
}

static void order(void) {
    MPI_Request scatter, barrier;
    int values[2] = {0};
    if (rank != 0) {
        MPI_Iscatter(values, 1, MPI_INT, &sum, 1, MPI_INT, 0, MPI_COMM_WORLD, &scatter);  // the line of the others
        MPI_Wait(&scatter, MPI_STATUS_IGNORE);                                            // where the others wait
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);  // the line of the barrier
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);   // the line of the wait
    if (rank == 0) {
        MPI_Iscatter(values, 1, MPI_INT, &sum, 1, MPI_INT, 0, MPI_COMM_WORLD, &scatter);
        MPI_Wait(&scatter, MPI_STATUS_IGNORE);
    }
}

static void absent(void) {
    if (rank == 0) return;
    MPI_Request request;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);  // the line that posts
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                       // the line that waits
}

static void communicators(void) {
    MPI_Comm other;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Ibarrier(rank == 0 ? other : MPI_COMM_WORLD, &request);  // the line of two communicators
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probe(void) {
    const int other = 1 - rank;
    MPI_Probe(other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the line that probes
    MPI_Send(&sum, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
}

static void persistent(void) {
    if (rank != 0) {
        MPI_Recv(&sum, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the line that receives
        return;
    }
    MPI_Request request;
    MPI_Send_init(&sum, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);  // the line that sets up
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

// The ranks of `backwards` are those of the world from behind: rank 1 of the world waits for itself.
static void itself(void) {
    MPI_Comm backwards;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    MPI_Comm_set_name(backwards, "backwards");
    if (rank == 0)
        MPI_Send(&sum, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);  // the line that was meant
    else
        MPI_Recv(&sum, 1, MPI_INT, 0, 0, backwards, MPI_STATUS_IGNORE);  // the line that receives from itself
}

// Messages so small need no partner: this one ends.
static void swapped(void) {
    MPI_Request requests[2];
    if (rank == 0) MPI_Ibcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);  // the line of the broadcast
    if (rank == 0) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Ireduce(&rank, &of_all, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD, &requests[1]);  // the line of the reduction
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Ibcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
    if (rank != 0) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static const struct {
    const char* name;
    void (*run)(void);
} kinds[] = {{"order", order},    {"absent", absent},         {"communicators", communicators},
             {"probe", probe},    {"persistent", persistent}, {"itself", itself},
             {"swapped", swapped}};

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_t thread;
    pthread_create(&thread, NULL, end_all, argv[2]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(argv[1], kinds[i].name) == 0) kinds[i].run();
    MPI_Finalize();
    return 0;
}
