// Keeps account of the MPI calls a test program makes: each call is booked next to where it is made, with the
// bytes that the documentation says it counts. The table is what a profile of this rank has to show.
// Included by the programs of the end-to-end tests; it makes no MPI call itself.
#ifndef BOOK_H
#define BOOK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char* call;
    unsigned long long bin_max_bytes, calls, bytes;
};
static struct entry book[1024];
static int book_used;

// Bins are 0, then upper-inclusive powers of two: 1..4, 5..8, 9..16, ...
static unsigned long long bin_of(unsigned long long bytes) {
    unsigned long long top = 4;
    if (bytes == 0) return 0;
    while (top < bytes) top *= 2;
    return top;
}

static void expect(const char* call, unsigned long long bytes) {
    const unsigned long long bin = bin_of(bytes);
    for (int i = 0; i < book_used; ++i) {
        if (strcmp(book[i].call, call) == 0 && book[i].bin_max_bytes == bin) {
            ++book[i].calls;
            book[i].bytes += bytes;
            return;
        }
    }
    if (book_used == 1024) abort();
    book[book_used++] = (struct entry){call, bin, 1, bytes};
}

// Writes <prefix>.<rank>.csv.
static void write_book(const char* prefix, int rank) {
    char path[512];
    snprintf(path, sizeof path, "%s.%d.csv", prefix, rank);
    FILE* file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(9);
    }
    fprintf(file, "rank,call,bin_max_bytes,calls,bytes\n");
    for (int i = 0; i < book_used; ++i)
        fprintf(file, "%d,%s,%llu,%llu,%llu\n", rank, book[i].call, book[i].bin_max_bytes, book[i].calls,
                book[i].bytes);
    fclose(file);
}

#endif
