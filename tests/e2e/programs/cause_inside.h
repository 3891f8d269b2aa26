/* Ranks that are late because of what they do inside MPI, or after their last communication; included by causes.c
 * alone. */
#pragma once

#define block_bytes (64 << 10)
static char block_out[block_bytes], block_in[block_bytes];

// The last rank has much to exchange with itself.
static void one_exchanges(void) {
    for (int i = 0; i < steps; ++i) {
        work(8);
        if (rank == size - 1)
            for (const double end = now() + 0.008; now() < end;)
                MPI_Sendrecv(block_out, block_bytes, MPI_CHAR, rank, 0, block_in, block_bytes, MPI_CHAR, rank, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum_up(MPI_COMM_WORLD);
    }
}

// Rank 0 writes a file for all.
static void one_writes(void) {
    MPI_File file;
    if (rank == 0)
        MPI_File_open(MPI_COMM_SELF, "causes.out", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file);
    for (int i = 0; i < steps; ++i) {
        work(8);
        if (rank == 0)
            for (const double end = now() + 0.008; now() < end;)
                MPI_File_write_at(file, 0, block_out, block_bytes, MPI_CHAR, MPI_STATUS_IGNORE);
        sum_up(MPI_COMM_WORLD);
    }
    if (rank == 0) MPI_File_close(&file);
}

// Ranks 0 and 1 have a communicator of their own, and more to do in it.
static void two_exchange(void) {
    MPI_Comm two;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &two);
    for (int i = 0; i < steps; ++i) {
        work(8);
        for (int j = 0; j < 400 && rank < 2; ++j)
            MPI_Sendrecv(block_out, block_bytes, MPI_CHAR, 1 - rank, 0, block_in, block_bytes, MPI_CHAR, 1 - rank, 0,
                         two, MPI_STATUS_IGNORE);
        sum_up(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&two);
}

// Rank 1 has something to do after all others are done.
static void late_in_finalize(void) {
    healthy();
    if (rank == 1) work(3000);
}

// Rank 1 is slow in the first half, rank 2 in the second.
static void two_in_turn(void) {
    for (int i = 0; i < steps; ++i) {
        work(rank == (i < steps / 2 ? 1 : 2) ? 16 : 10);
        sum_up(MPI_COMM_WORLD);
    }
}
