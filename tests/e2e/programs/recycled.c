/* Handles that come back with another meaning, used in the ways that are told by what is known of them: types of other
   sizes, communicators of other members and windows over these. Each rank writes expected.<rank>.txt as peers.c does
   and books its calls. Run on 4 ranks. usage: recycled PREFIX [made|freed|both|kept]
   made, freed, both: by PMPI_ names, as a library below the program does, so that no profiler sees that.
   kept: a library keeps the communicator as an attribute of another one: it is made and freed in the callbacks. */
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "book.h"
#include "world.h"

enum { most = 4 };
static long sent[most], sent_bytes[most], received[most], received_bytes[most], put[most], put_bytes[most];
static int me, ranks, came_back;
static int makes_unseen, frees_unseen, keeps, key, color, order;

/* An array that ends where the memory does: nobody may read behind it. */
static int* counts_of(int n) {
    static char* page;
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (!page) {
        page = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(page + bytes, bytes, PROT_NONE);
    }
    return (int*)(page + bytes) - n;
}

/* Open MPI 4 fails to make windows at the same time over communicators that share no rank. */
#ifdef OPEN_MPI
enum { with_windows = 0 };
#else
enum { with_windows = 1 };
#endif

static void make_type(int elements, MPI_Datatype* type) {
    makes_unseen ? PMPI_Type_contiguous(elements, MPI_INT, type) : MPI_Type_contiguous(elements, MPI_INT, type);
    MPI_Type_commit(type);
}
static void free_type(MPI_Datatype* type) { frees_unseen ? PMPI_Type_free(type) : MPI_Type_free(type); }

static int make_kept(MPI_Comm base, int keyval, void* extra, void* in, void* out, int* flag) {
    (void)base, (void)keyval, (void)extra, (void)in;
    MPI_Comm* kept = malloc(sizeof *kept);
    MPI_Comm_split(MPI_COMM_WORLD, color, order, kept);
    *(void**)out = kept;
    *flag = 1;
    return MPI_SUCCESS;
}
static int free_kept(MPI_Comm base, int keyval, void* kept, void* extra) {
    (void)base, (void)keyval, (void)extra;
    if (kept) MPI_Comm_free(kept);
    free(kept);
    return MPI_SUCCESS;
}
/* The communicator that holds it, or the same. */
static MPI_Comm make_communicator(MPI_Comm base, MPI_Comm* part) {
    MPI_Comm holder = MPI_COMM_NULL, *kept;
    int flag;
    if (keeps) {
        MPI_Comm_dup(base, &holder);
        MPI_Comm_get_attr(holder, key, &kept, &flag);
        *part = *kept;
    } else if (makes_unseen) {
        PMPI_Comm_split(MPI_COMM_WORLD, color, order, part);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, color, order, part);
        expect("MPI_Comm_split", 0);
    }
    return holder;
}
static void free_communicator(MPI_Comm* holder, MPI_Comm* part) {
    if (keeps)
        MPI_Comm_free(holder);
    else if (frees_unseen)
        PMPI_Comm_free(part);
    else {
        MPI_Comm_free(part);
        expect("MPI_Comm_free", 0);
    }
}

/* One place in the program for all of them. */
static void use(MPI_Comm comm, int elements) {
    int size, rank, out[64] = {0}, in[64];
    MPI_Datatype type;
    MPI_Win window;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    make_type(elements, &type);

    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(out, 1, type, next, 0, in, 1, type, before, 0, comm, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", 8ull * elements);
    sent[world_of(comm, next)] += 1, sent_bytes[world_of(comm, next)] += 4 * elements;
    received[world_of(comm, before)] += 1, received_bytes[world_of(comm, before)] += 4 * elements;

    for (int i = 0; i < (elements == 3 ? 12 : 1); ++i) {
        MPI_Bcast(out, 1, type, 0, comm);
        expect("MPI_Bcast", 4ull * elements);
    }
    MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, comm);
    expect("MPI_Reduce_scatter_block", 4ull * size);
    int* const counts = counts_of(size);
    for (int i = 0; i < size; ++i) counts[i] = i + 1;
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
    expect("MPI_Reduce_scatter", 2ull * size * (size + 1));

    if (!with_windows || elements != 2) return free_type(&type);
    if (makes_unseen) {
        PMPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, comm, &window);
    } else {
        MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, comm, &window);
        expect("MPI_Win_create", 0);
    }
    MPI_Win_fence(0, window);
    expect("MPI_Win_fence", 0);
    MPI_Put(out, 1, type, next, 0, 1, type, window);
    expect("MPI_Put", 4ull * elements);
    put[world_of(comm, next)] += 1, put_bytes[world_of(comm, next)] += 4 * elements;
    MPI_Win_fence(0, window);
    expect("MPI_Win_fence", 0);
    if (frees_unseen) {
        PMPI_Win_free(&window);
    } else {
        MPI_Win_free(&window);
        expect("MPI_Win_free", 0);
    }
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
    MPI_Comm before[12], base;
    const char* how = argc > 2 ? argv[2] : "";
    makes_unseen = !strcmp(how, "made") || !strcmp(how, "both");
    frees_unseen = !strcmp(how, "freed") || !strcmp(how, "both");
    keeps = !strcmp(how, "kept");
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Comm_create_keyval(make_kept, free_kept, &key, NULL);
    MPI_Comm_set_attr(base, key, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < 12; ++round) {
        const int colors[] = {me / 2, me % 2, me == 3, me * 0}, uses[] = {10, 1, 2};
        MPI_Comm part;
        color = colors[round / 3 % 4];
        order = round % 2 ? -me : me;
        MPI_Comm holder = make_communicator(base, &part);
        before[round] = part;
        for (int i = 0; i < round; ++i) came_back += part == before[i];
        for (int i = 0; i < uses[round % 3]; ++i) use(part, 1 + (round + i) % 5);
        free_communicator(&holder, &part);
    }
    PMPI_Comm_free(&base);
    if (me == 0) printf("%s\n", came_back > 0 ? "handles came back" : "no handle came back");
    write_book(argv[1], me);
    write_peers();
    MPI_Finalize();
    return 0;
}
