// Programs in which time goes into the transfer itself, or into what a rank does inside MPI besides: derived types,
// operations of the user, one root, long queues, unequal neighbours, files.
//   transfers NAME STEPS
#include "exam.h"

#define LARGE (4 << 20)
static char out[LARGE], in[LARGE];

// Every other number of a large array: the library packs what it sends.
static void derived_types(void) {
    MPI_Datatype column;
    MPI_Type_vector(LARGE / 16, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < steps; ++i) {
        MPI_Sendrecv(out, 1, column, rank ^ 1, 0, in, 1, column, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 10 == 0) work(2);
    }
    MPI_Type_free(&column);
}

static void add_slowly(void* from, void* to, int* count, MPI_Datatype* type) {
    (void)type;
    spin(2);
    for (int i = 0; i < *count; ++i) ((double*)to)[i] += ((double*)from)[i];
}

// An operation of the user that takes long.
static void user_operation(void) {
    MPI_Op operation;
    MPI_Op_create(add_slowly, 1, &operation);
    for (int i = 0; i < steps; ++i) {
        work(2);
        MPI_Allreduce(&one, &all_of_them, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    }
    MPI_Op_free(&operation);
}

// One takes what all have, over and over.
static void gather_to_root(void) {
    const int bytes = LARGE / 4;
    char* all = malloc((size_t)size * (size_t)bytes);
    for (int i = 0; i < steps; ++i) {
        MPI_Gather(out, bytes, MPI_CHAR, all, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (i % 10 == 0) work(2);
    }
    free(all);
}

// Messages that one takes in another order than they came: it looks through all that wait, each time.
static void unexpected_messages(void) {
    const int messages = 3000;
    for (int i = 0; i < steps; ++i) {
        work(2);
        if (rank != 0)
            for (int tag = 0; tag < messages; ++tag) MPI_Send(out, 8, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            for (int tag = messages - 1; tag >= 0; --tag)
                for (int from = size - 1; from > 0; --from)
                    MPI_Recv(in, 8, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// Ranks 2 and 3 have much to tell each other, the others little.
static void unequal_neighbours(void) {
    const int bytes = rank < 2 ? 1000 : LARGE;
    for (int i = 0; i < steps; ++i) {
        work(3);
        for (int j = 0; j < 4; ++j)
            MPI_Sendrecv(out, bytes, MPI_CHAR, rank ^ 1, 0, in, bytes, MPI_CHAR, rank ^ 1, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        SUM_UP(MPI_COMM_WORLD);
    }
}

// Two have sums of their own.
static void more_among_few(void) {
    MPI_Comm few;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &few);
    for (int i = 0; i < steps; ++i) {
        work(4);
        for (int j = 0; j < 8 && rank < 2; ++j) MPI_Allreduce(out, in, LARGE / 64, MPI_DOUBLE, MPI_SUM, few);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&few);
}

// A file that one writes for all, and not through MPI.
static void plain_file(void) {
    FILE* file = rank == 0 ? tmpfile() : NULL;
    for (int i = 0; i < steps; ++i) {
        work(6);
        if (file) {
            rewind(file);
            fwrite(out, 1, 1 << 16, file);
            fflush(file);
            work(5);  // the storage
        }
        SUM_UP(MPI_COMM_WORLD);
    }
    if (file) fclose(file);
}

// What one reads and hands on to all.
static void read_and_broadcast(void) {
    for (int i = 0; i < steps; ++i) {
        work(5);
        if (rank == 0) work(6);
        MPI_Bcast(out, 1 << 14, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
}

// A file that one writes through MPI.
static void file_of_one(void) {
    MPI_File file;
    if (rank == 2)
        MPI_File_open(MPI_COMM_SELF, "exam.out", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file);
    for (int i = 0; i < steps; ++i) {
        work(6);
        if (rank == 2)
            for (const double end = now() + 0.006; now() < end;)
                MPI_File_write_at(file, 0, out, 1 << 16, MPI_CHAR, MPI_STATUS_IGNORE);
        SUM_UP(MPI_COMM_WORLD);
    }
    if (rank == 2) MPI_File_close(&file);
}

// Many calls where one would do.
static void many_small(void) {
    for (int i = 0; i < steps * 500; ++i) {
        MPI_Bcast(out, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (i % 500 == 0) {
            work(2);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char** argv) {
    static const struct program programs[] = {{"derived_types", derived_types, NULL},
                                              {"user_operation", user_operation, NULL},
                                              {"gather_to_root", gather_to_root, NULL},
                                              {"unexpected_messages", unexpected_messages, NULL},
                                              {"unequal_neighbours", unequal_neighbours, NULL},
                                              {"more_among_few", more_among_few, NULL},
                                              {"plain_file", plain_file, NULL},
                                              {"read_and_broadcast", read_and_broadcast, NULL},
                                              {"file_of_one", file_of_one, NULL},
                                              {"many_small", many_small, NULL}};
    return run_program(argc, argv, programs, COUNT(programs));
}
