// A training loop for `mpiprof-report scaling` and `diff`: so many samples in each step, shared by the ranks, and
// gradients of 16 MiB that are added up over them in buckets. More ranks compute less each; smaller buckets make more,
// smaller messages.
//     mpirun -n 4 ./training BUCKETS [STEPS] [SAMPLES of a step, of all ranks]
// Compiled with -DSERIAL it knows no MPI: the run that the others are compared with.
#ifndef SERIAL
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>

#include <mpiprof.h>

enum { parameters = 4 * 1024 * 1024 };  // floats

// What one sample costs: something that no compiler removes.
static double sample(double x) {
    for (int i = 0; i < 200000; ++i) x = x * 0.999999 + 1e-6;
    return x;
}

int main(int argc, char** argv) {
    const int buckets = argc > 1 ? atoi(argv[1]) : 1;
    const int steps = argc > 2 ? atoi(argv[2]) : 40;
    const int samples = argc > 3 ? atoi(argv[3]) : 64;
    if (buckets < 1 || buckets > parameters) return 2;
    int rank = 0, size = 1;
#ifndef SERIAL
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
    float* gradients = calloc(parameters, sizeof *gradients);
    float* sums = calloc(parameters, sizeof *sums);
    double x = rank;
    mpiprof_begin("training");
    for (int step = 0; step < steps; ++step) {
        for (int i = rank; i < samples; i += size) x = sample(x);
        for (int bucket = 0; bucket < buckets; ++bucket) {
            const int begin = (int)((long)parameters * bucket / buckets);
            const int end = (int)((long)parameters * (bucket + 1) / buckets);
#ifndef SERIAL
            MPI_Allreduce(gradients + begin, sums + begin, end - begin, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
#else
            for (int i = begin; i < end; ++i) sums[i] = gradients[i];
#endif
        }
        mpiprof_mark(samples / size);
    }
    mpiprof_end("training");
    if (rank == 0) printf("training: %d ranks, %d steps, %d buckets, %.3f\n", size, steps, buckets, x);
#ifndef SERIAL
    MPI_Finalize();
#endif
    free(sums);
    free(gradients);
    return 0;
}
