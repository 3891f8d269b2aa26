/* Handles that come back with another meaning, used in the ways that are told by what is known of them: types of other
   sizes, communicators of other members and windows over these. Each rank writes expected.<rank>.txt as peers.c does
   and books its calls. Run on 4 ranks. usage: recycled PREFIX */
#include <mpi.h>

#include "book.h"
#include "world.h"

enum { most = 4 };
static long sent[most], sent_bytes[most], received[most], received_bytes[most], put[most], put_bytes[most];
static int me, ranks, came_back;

/* Open MPI 4 fails to make windows at the same time over communicators that share no rank. */
#ifdef OPEN_MPI
enum { with_windows = 0 };
#else
enum { with_windows = 1 };
#endif

static void free_type(MPI_Datatype* type) { MPI_Type_free(type); }

/* One place in the program for all of them. */
static void use(MPI_Comm comm, int elements) {
    int size, rank, counts[most], out[64] = {0}, in[64];
    MPI_Datatype type;
    MPI_Win window;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Type_contiguous(elements, MPI_INT, &type);
    MPI_Type_commit(&type);

    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(out, 1, type, next, 0, in, 1, type, before, 0, comm, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", 8ull * elements);
    sent[world_of(comm, next)] += 1, sent_bytes[world_of(comm, next)] += 4 * elements;
    received[world_of(comm, before)] += 1, received_bytes[world_of(comm, before)] += 4 * elements;

    MPI_Bcast(out, 1, type, 0, comm);
    expect("MPI_Bcast", 4ull * elements);
    MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, comm);
    expect("MPI_Reduce_scatter_block", 4ull * size);
    for (int i = 0; i < size; ++i) counts[i] = i + 1;
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
    expect("MPI_Reduce_scatter", 2ull * size * (size + 1));

    if (!with_windows || elements != 2) return free_type(&type);
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, comm, &window);
    expect("MPI_Win_create", 0);
    MPI_Win_fence(0, window);
    expect("MPI_Win_fence", 0);
    MPI_Put(out, 1, type, next, 0, 1, type, window);
    expect("MPI_Put", 4ull * elements);
    put[world_of(comm, next)] += 1, put_bytes[world_of(comm, next)] += 4 * elements;
    MPI_Win_fence(0, window);
    expect("MPI_Win_fence", 0);
    MPI_Win_free(&window);
    expect("MPI_Win_free", 0);
    free_type(&type);
}

static void write_peers(void) {
    char path[64];
    snprintf(path, sizeof path, "expected.%d.txt", me);
    FILE* file = fopen(path, "w");
    if (!file) exit(9);
    for (int i = 0; i < ranks; ++i) {
        if (sent[i]) fprintf(file, "sent %d %ld %ld\n", i, sent[i], sent_bytes[i]);
        if (received[i]) fprintf(file, "received %d %ld %ld\n", i, received[i], received_bytes[i]);
        if (put[i]) fprintf(file, "put %d %ld %ld\n", i, put[i], put_bytes[i]);
    }
    fclose(file);
}

int main(int argc, char** argv) {
    MPI_Comm before = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < 12; ++round) {
        const int color[] = {me / 2, me % 2, me == 3, me * 0}, way = round / 3 % 4;
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, color[way], round % 2 ? -me : me, &part);
        expect("MPI_Comm_split", 0);
        came_back += part == before;
        before = part;
        for (int i = 0; i < 10; ++i) use(part, 1 + (round + i) % 5);
        MPI_Comm_free(&part);
        expect("MPI_Comm_free", 0);
    }
    if (me == 0) printf("%s\n", came_back > 0 ? "handles came back" : "no handle came back");
    write_book(argv[1], me);
    write_peers();
    MPI_Finalize();
    return 0;
}
