// Many ranks on few cores: ROUNDS barriers, between which all sleep. Then each waits to be killed, or ends by
// MPI_Finalize. usage: sleepers ROUNDS PAUSE_MS [FIRST COUNT]   (ranks that kill themselves after the last round)
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    const int rounds = atoi(argv[1]), pause_ms = atoi(argv[2]);
    const int first = argc > 4 ? atoi(argv[3]) : 0, count = argc > 4 ? atoi(argv[4]) : 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; ++i) {
        MPI_Request request;
        int is_done = 0;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        // MPI_Wait would spin, and 64 ranks that spin leave nobody a core.
        for (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE); !is_done; MPI_Test(&request, &is_done, MPI_STATUS_IGNORE))
            usleep(20000);
        usleep(1000 * pause_ms);
    }
    if (count != 0) sleep(2);  // a rank that has no core yet is still in its last MPI_Ibarrier
    if (rank >= first && rank < first + count) kill(getpid(), SIGKILL);
    if (count != 0) sleep(600);
    MPI_Finalize();
    return 0;
}
