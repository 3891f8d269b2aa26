// Jobs that stand still for others to look at: those of `deadlocks` never come to an end, the others only take long.
// All end by themselves after SECONDS. Rank 0 makes the file MARK when what takes long begins.
//   waiting KIND SECONDS MARK
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, one = 1, sum;
static int many[1 << 16], others[1 << 16];
static MPI_Comm world, twin;
static MPI_Status status;
static unsigned seconds;

static void compute(void) {
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        for (volatile int i = 0; i < 1000000;) ++i;
}

// ---- deadlocks: of three ranks ----
static void collectives(void) {
    if (rank == 0)
        MPI_Barrier(world);
    else
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
}
static void finalized(void) {
    if (rank != 0) MPI_Barrier(world);
}
static void unanswered(void) {
    if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 1, 7, world, &status);
}
static void roots(void) { MPI_Bcast(many, 1 << 16, MPI_INT, rank == 0, world); }
static void tags(void) {
    MPI_Request request;
    if (rank == 0) MPI_Ssend(&one, 1, MPI_INT, 1, 3, world);
    if (rank != 1) return;
    MPI_Irecv(&sum, 1, MPI_INT, 0, 4, world, &request);
    MPI_Wait(&request, &status);
}
static void communicators(void) { MPI_Barrier(rank == 0 ? twin : world); }
static void cycle(void) { MPI_Recv(&sum, 1, MPI_INT, (rank + 1) % size, 0, world, &status); }
static void sends(void) { MPI_Ssend(many, 1 << 16, MPI_INT, (rank + 1) % size, 0, world); }
static void itself(void) {
    if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 0, 0, world, &status);
    MPI_Barrier(world);
}
static void probes(void) { MPI_Probe((rank + 1) % size, 0, world, &status); }
static void posted(void) {
    MPI_Request request;
    if (rank == 0) return;  // and into MPI_Finalize
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, &status);
}

// ---- only long ----
static void computes(void) {
    if (rank == 0) compute();
    MPI_Barrier(world);
}
static void sleeps(void) {
    if (rank == 0) sleep(seconds);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
}
static void writes(void) {
    if (rank == 0) {
        const double end = MPI_Wtime() + seconds;
        const int file = open("written", O_CREAT | O_TRUNC | O_WRONLY, 0600);
        while (MPI_Wtime() < end) (void)!pwrite(file, many, sizeof many, 0), fsync(file);
    }
    MPI_Barrier(world);
}
static void writes_with_mpi(void) {
    MPI_File file;
    if (rank == 0) sleep(seconds);
    MPI_File_open(world, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
}
static void all_compute(void) { compute(); }
static void all_sleep(void) { sleep(seconds); }
static void farm(void) {  // idle workers: their master computes
    if (rank == 0) {
        compute();
        for (int i = 1; i < size; ++i) MPI_Send(&one, 1, MPI_INT, i, 0, world);
    } else
        MPI_Recv(&sum, 1, MPI_INT, 0, MPI_ANY_TAG, world, &status);
}
static void farm_that_works(void) {  // and a master who waits for whoever is first
    if (rank != 0)
        compute(), MPI_Send(&one, 1, MPI_INT, 0, rank, world);
    else
        for (int i = 1; i < size; ++i) MPI_Recv(&sum, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
}
static void master_in_probe(void) {
    if (rank != 0)
        compute(), MPI_Send(&one, 1, MPI_INT, 0, rank, world);
    else
        for (int i = 1; i < size; ++i) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
            MPI_Recv(&sum, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, &status);
        }
}
static void master_probes_and_asks(void) {
    if (rank != 0)
        sleep(seconds), MPI_Send(&one, 1, MPI_INT, 0, rank, world);
    else
        for (int i = 1, there; i < size; i += there) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &there, &status);
            if (there) MPI_Recv(&sum, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, &status);
            usleep(1000);
        }
}
static void late_receiver(void) {
    if (rank == 0) MPI_Ssend(&one, 1, MPI_INT, 1, 0, world);
    if (rank == 1) compute(), MPI_Recv(&sum, 1, MPI_INT, 0, 0, world, &status);
}
static void late_sender(void) {
    MPI_Request request;
    if (rank == 0) MPI_Irecv(&sum, 1, MPI_INT, 1, 0, world, &request), MPI_Wait(&request, &status);
    if (rank == 1) compute(), MPI_Send(&one, 1, MPI_INT, 0, 0, world);
}
static void chain(void) {  // each waits for the next, and the last one computes
    if (rank + 1 < size)
        MPI_Recv(&sum, 1, MPI_INT, rank + 1, 0, world, &status);
    else
        compute();
    if (rank) MPI_Send(&one, 1, MPI_INT, rank - 1, 0, world);
}
static void any_of_two(void) {
    MPI_Request request[2];
    int which;
    if (rank == 0) {
        for (int i = 0; i < 2; ++i) MPI_Irecv(&others[i], 1, MPI_INT, i + 1, 0, world, &request[i]);
        MPI_Waitany(2, request, &which, &status);
        MPI_Wait(&request[1 - which], &status);
    } else
        sleep(seconds), MPI_Send(&one, 1, MPI_INT, 0, 0, world);
}
static void asks_by_test(void) {
    MPI_Request request;
    int done = 0;
    if (rank == 0) {
        MPI_Irecv(&sum, 1, MPI_INT, 1, 0, world, &request);
        while (!done) MPI_Test(&request, &done, &status), usleep(1000);
    } else if (rank == 1)
        sleep(seconds), MPI_Send(&one, 1, MPI_INT, 0, 0, world);
}
static void posted_barrier(void) {
    MPI_Request request;
    if (rank == 0) compute();
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, &status);
}
static void two_groups(void) {  // one is done, the other waits for its member
    MPI_Comm half;
    MPI_Comm_split(world, rank == 0, rank, &half);
    if (rank == 1) compute();
    MPI_Barrier(half);
}
static void late_root(void) {
    if (rank == 0) compute();
    MPI_Bcast(many, 1 << 16, MPI_INT, 0, world);
}
static void gathers(void) {
    if (rank == size - 1) compute();
    MPI_Gather(&one, 1, MPI_INT, others, 1, MPI_INT, 0, world);
}
static void makes_a_communicator(void) {
    MPI_Comm made;
    if (rank == 0) sleep(seconds);
    MPI_Comm_dup(world, &made);
}
static void persistent(void) {
    MPI_Request request;
    if (rank == 0)
        MPI_Recv_init(&sum, 1, MPI_INT, 1, 0, world, &request), MPI_Start(&request), MPI_Wait(&request, &status);
    if (rank == 1) sleep(seconds), MPI_Send(&one, 1, MPI_INT, 0, 0, world);
}
static void one_sided(void) {
    MPI_Win window;
    MPI_Win_create(many, sizeof many, sizeof(int), MPI_INFO_NULL, world, &window);
    if (rank == 0) compute();
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}
static void leaves_early(void) {  // one is finalized, the others work on among themselves
    if (rank == 0) return;
    if (rank == 1) MPI_Recv(&sum, 1, MPI_INT, 2, 0, world, &status);
    if (rank == 2) sleep(seconds), MPI_Send(&one, 1, MPI_INT, 1, 0, world);
}
static void to_itself(void) {
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&sum, 1, MPI_INT, 0, 0, world, &request);
        sleep(seconds);
        MPI_Send(&one, 1, MPI_INT, 0, 0, world), MPI_Wait(&request, &status);
    }
    MPI_Barrier(world);
}
static void paused(void) {  // what it sends is not recorded
    if (rank == 0) MPI_Pcontrol(0);
    if (rank == 0) sleep(seconds), MPI_Send(&one, 1, MPI_INT, 1, 0, world);
    if (rank == 1) MPI_Recv(&sum, 1, MPI_INT, 0, 0, world, &status);
}
static void accepts(void) {  // a server: nobody has to come
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm client;
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port), MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client);
    MPI_Barrier(world);
}
static void waits_before_its_end(void) {
    MPI_Barrier(world);
    if (rank == 0) sleep(seconds);  // the others are in MPI_Finalize
}

static void works(void) {  // calls that take long, one after the other
    const double end = MPI_Wtime() + seconds;
    for (int goes_on = 1; goes_on;) {
        sleep(1);
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, world);
    }
}
// Where MPI_Irecv is not recorded rank 0 seems to wait for rank 1 alone, which waits for rank 0: rank 2 releases both.
static void answers_what_is_not_recorded(void) {
    MPI_Request request[2];
    int which;
    if (rank == 0) {
        MPI_Irecv(&sum, 1, MPI_INT, 2, 0, world, &request[0]);
        MPI_Issend(&one, 1, MPI_INT, 1, 3, world, &request[1]);
        MPI_Waitany(2, request, &which, &status);
        MPI_Send(&one, 1, MPI_INT, 1, 9, world);
        MPI_Wait(&request[1 - which], &status);
    } else if (rank == 1) {
        MPI_Recv(&sum, 1, MPI_INT, 0, 9, world, &status);
        MPI_Recv(&sum, 1, MPI_INT, 0, 3, world, &status);
    } else
        sleep(seconds), MPI_Send(&one, 1, MPI_INT, 0, 0, world);
}
static void add_slowly(void* in, void* to, int* n, MPI_Datatype* type) {
    (void)type;
    sleep(seconds);
    for (int i = 0; i < *n; ++i) ((int*)to)[i] += ((int*)in)[i];
}
static MPI_Op slow_sum(void) {
    MPI_Op op;
    MPI_Op_create(add_slowly, 1, &op);
    return op;
}
static void slow_scan(void) {  // rank 0 is through at once, and waits in the next one
    MPI_Scan(&one, &sum, 1, MPI_INT, slow_sum(), world);
    MPI_Barrier(world);
}
static void slow_scan_then_messages(void) {
    MPI_Scan(&one, &sum, 1, MPI_INT, slow_sum(), world);
    if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 2, 0, world, &status);
    if (rank == 2) MPI_Send(&one, 1, MPI_INT, 0, 0, world);
}
static void slow_reduce(void) {  // so are those who only send; at the end, too
    MPI_Reduce(&one, &sum, 1, MPI_INT, slow_sum(), 1, world);
    MPI_Barrier(world);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, world);
}
static void slow_last_reduce(void) { MPI_Reduce(&one, &sum, 1, MPI_INT, slow_sum(), 1, world); }
static void late_scan(void) {
    if (rank == 0) compute();
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, world);
}
// Deadlocks, whatever rank 2 does: it is not waited for.
static void scan_and_message(void) {
    if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 1, 0, world, &status);
    if (rank == 2) sleep(seconds);
    MPI_Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, world);
}
static void root_and_message(void) {
    if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, 1, 0, world, &status);
    if (rank == 2) sleep(seconds);
    MPI_Bcast(many, 1 << 16, MPI_INT, 0, world);
}

static const struct {
    const char* name;
    void (*run)(void);
} kinds[] = {
#define KIND(name) \
    { #name, name }
    KIND(collectives),
    KIND(finalized),
    KIND(unanswered),
    KIND(roots),
    KIND(tags),
    KIND(communicators),
    KIND(cycle),
    KIND(sends),
    KIND(itself),
    KIND(probes),
    KIND(posted),
    KIND(computes),
    KIND(sleeps),
    KIND(writes),
    KIND(writes_with_mpi),
    KIND(all_compute),
    KIND(all_sleep),
    KIND(farm),
    KIND(farm_that_works),
    KIND(master_in_probe),
    KIND(master_probes_and_asks),
    KIND(late_receiver),
    KIND(late_sender),
    KIND(chain),
    KIND(any_of_two),
    KIND(asks_by_test),
    KIND(posted_barrier),
    KIND(two_groups),
    KIND(late_root),
    KIND(gathers),
    KIND(makes_a_communicator),
    KIND(persistent),
    KIND(one_sided),
    KIND(leaves_early),
    KIND(to_itself),
    KIND(paused),
    KIND(accepts),
    KIND(waits_before_its_end),
    KIND(works),
    KIND(answers_what_is_not_recorded),
    KIND(slow_scan),
    KIND(slow_scan_then_messages),
    KIND(slow_reduce),
    KIND(slow_last_reduce),
    KIND(late_scan),
    KIND(scan_and_message),
    KIND(root_and_message),
};

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    seconds = (unsigned)atoi(argv[2]);
    alarm(seconds + 10);
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_dup(world, &twin);
    for (int i = 0; i < 3; ++i) MPI_Barrier(world);
    if (rank == 0) close(open(argv[3], O_CREAT | O_WRONLY, 0600));
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(argv[1], kinds[i].name) == 0) kinds[i].run();
    MPI_Finalize();
    return 0;
}
