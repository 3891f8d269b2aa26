// MPI_THREAD_MULTIPLE. Books what the main thread and what the others called, apart.
// usage: threads many THREADS CALLS PREFIX     THREADS at once, each CALLS rounds
//        threads storm THREADS 0 PREFIX        one THREADS after another, eight at a time, one round each
//        threads late THREADS 0 PREFIX         the same, and each calls MPI once more while it is taken down
// In a storm, PREFIX.<rank>.growth says by how many KiB the process grew from its first tenth to its end.
#include <mpi.h>
#include <pthread.h>

#include "book.h"

enum { max_threads = 64, at_a_time = 8 };

static int rank, rounds;
static MPI_Comm comms[max_threads];
static pthread_key_t late;
static pthread_barrier_t all_here;
static int calls_late;

static int one_round(MPI_Comm comm, int tag) {
    long out = tag, in = -1, sum = 0;
    MPI_Request requests[2];
    int me = -1;
    MPI_Comm_rank(comm, &me);
    MPI_Sendrecv(&out, 1, MPI_LONG, 0, tag, &in, 1, MPI_LONG, 0, tag, comm, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_LONG, MPI_SUM, comm);
    MPI_Irecv(&in, 1, MPI_INT, 0, tag, comm, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 0, tag, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return me == 0 && sum == tag;
}

static void expect_rounds(int n) {
    for (int i = 0; i < n; ++i) {
        expect("MPI_Comm_rank", 0);
        expect("MPI_Sendrecv", 16);
        expect("MPI_Allreduce", 8);
        expect("MPI_Irecv", 4);
        expect("MPI_Isend", 4);
        expect("MPI_Waitall", 0);
    }
}

static void call_late(void* value) {
    int n;
    (void)value;
    MPI_Comm_size(MPI_COMM_SELF, &n);
}

static void* run(void* argument) {
    const long i = (long)argument;
    long good = 0;
    if (calls_late) pthread_setspecific(late, comms);
    for (int r = 0; r < rounds; ++r) {
        if (r == rounds / 2) pthread_barrier_wait(&all_here);  // all are alive, and most have called MPI
        good += one_round(comms[i % max_threads], (int)i + 1);
    }
    return (void*)(good == rounds ? 1L : 0L);
}

static void start(pthread_t* thread, long i) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    if (pthread_create(thread, &attributes, run, (void*)i) != 0) exit(8);
    pthread_attr_destroy(&attributes);
}

static int run_batch(int first, int threads) {
    pthread_t thread[max_threads];
    void* good;
    int sum = 0;
    pthread_barrier_init(&all_here, NULL, threads);
    for (int i = 0; i < threads; ++i) start(&thread[i], first + i);
    for (int i = 0; i < threads; ++i) {
        pthread_join(thread[i], &good);
        sum += good != NULL;
    }
    return sum;
}

static long memory_kib(void) {
    long kib = 0;
    char line[256];
    FILE* file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &kib);
    if (file) fclose(file);
    return kib;
}

static void write_growth(const char* prefix, long kib) {
    char path[512];
    snprintf(path, sizeof path, "%s.%d.growth", prefix, rank);
    FILE* file = fopen(path, "w");
    if (!file) exit(9);
    fprintf(file, "%ld\n", kib);
    fclose(file);
}

int main(int argc, char** argv) {
    const int is_storm = strcmp(argv[1], "many") != 0, threads = atoi(argv[2]);
    const char* prefix = argv[4];
    char others[512];
    int level, good = 0;
    calls_late = strcmp(argv[1], "late") == 0;
    rounds = is_storm ? 1 : atoi(argv[3]);
    pthread_key_create(&late, call_late);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "threads: no MPI_THREAD_MULTIPLE\n");
        return 77;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < max_threads; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    good += one_round(comms[0], 1);
    if (is_storm) {
        long early = 0;
        for (int done = 0; done < threads; done += at_a_time) {
            good += run_batch(done, at_a_time);
            if (done == threads / 10 / at_a_time * at_a_time) early = memory_kib();
        }
        write_growth(prefix, memory_kib() - early);
    } else {
        good += run_batch(0, threads);
    }
    for (int i = 0; i < max_threads; ++i) MPI_Comm_free(&comms[i]);
    if (good != threads + 1 || rank == 0) printf("threads: %d of %d good\n", good - 1, threads);

    expect_rounds(threads * rounds);
    if (calls_late)
        for (int i = 0; i < threads; ++i) expect("MPI_Comm_size", 0);
    snprintf(others, sizeof others, "%s.others", prefix);
    write_book(others, rank);
    expect_rounds(1);
    expect("MPI_Comm_rank", 0);
    for (int i = 0; i < max_threads; ++i) {
        expect("MPI_Comm_dup", 0);
        expect("MPI_Comm_free", 0);
    }
    write_book(prefix, rank);
    MPI_Finalize();
    return good != threads + 1;
}
