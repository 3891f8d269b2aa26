// Data-parallel training as Horovod does it, with nothing but MPI: every rank computes gradients on its own data,
// a background thread agrees with the other ranks which tensors are ready everywhere (an 8-byte Allreduce per
// cycle) and averages them (Allreduces of 40 bytes to 4.5 MiB). The model has the eight tensors of the well-known
// MNIST example; its "training" is gradient descent on a quadratic, so that the result is known.
// While training runs only the background thread calls MPI. That is Horovod's way too.
//
//   mpicc -O2 -pthread data_parallel.c -o data_parallel && mpirun -n 4 ./data_parallel [steps]
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { tensors = 8, metric = tensors, names = tensors + 1, large = 4, cycle_us = 1000, steps_per_epoch = 10 };
// Two convolutions and two dense layers, each with its bias; and the metrics of an epoch.
static const int elements[names] = {288, 32, 18432, 64, 1179648, 128, 1280, 10, 4};

static int rank, size;
static float *parameters[tensors], *gradients[names], *moments[2][tensors];

// What the two threads share. A tensor's bit is set in `ready` when its gradient is computed and cleared when the
// average is back in its place.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t averaged = PTHREAD_COND_INITIALIZER;
static uint64_t ready;
static int finished;

// ---- the background thread ----

static const uint64_t all_names = (1u << names) - 1;
static const uint64_t stop_bit = 1u << names;         // this rank has finished
static const uint64_t known_bit = 1u << (names + 1);  // this rank has met all its ready tensors before

// A tensor that is met for the first time is described to rank 0, which answers what all will do.
static void introduce(MPI_Comm comm, uint64_t unknown) {
    char request[256] = "", response[256] = "";
    int length = 0, lengths[1024], places[1024];
    for (int t = 0; t < names; ++t)
        if (unknown >> t & 1) length += snprintf(request + length, sizeof request - length, "tensor %d;", t);
    MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, comm);
    int total = 0;
    for (int r = 0; rank == 0 && r < size; ++r) {
        places[r] = total;
        total += lengths[r];
    }
    char* requests = malloc(total + 1);
    MPI_Gatherv(request, length, MPI_CHAR, requests, lengths, places, MPI_CHAR, 0, comm);
    int answer = snprintf(response, sizeof response, "average %d", total);
    MPI_Bcast(&answer, 1, MPI_INT, 0, comm);
    MPI_Bcast(response, answer, MPI_CHAR, 0, comm);
    free(requests);
}

// Averages these tensors in one Allreduce, copied together into one buffer.
static void average(MPI_Comm comm, uint64_t which, float* fused) {
    int n = 0;
    for (int t = 0; t < names; ++t) {
        if (!(which >> t & 1)) continue;
        memcpy(fused + n, gradients[t], elements[t] * sizeof(float));
        n += elements[t];
    }
    MPI_Allreduce(MPI_IN_PLACE, fused, n, MPI_FLOAT, MPI_SUM, comm);
    n = 0;
    for (int t = 0; t < names; ++t) {
        if (!(which >> t & 1)) continue;
        for (int i = 0; i < elements[t]; ++i) gradients[t][i] = fused[n + i] / size;
        n += elements[t];
    }
}

static void* communicate(void* argument) {
    MPI_Comm comm = *(MPI_Comm*)argument;
    int room = 0;
    for (int t = 0; t < names; ++t) room += elements[t];
    float* fused = malloc(room * sizeof(float));
    uint64_t known = 0, agreed = 0;
    while (!(agreed & stop_bit)) {
        pthread_mutex_lock(&lock);
        const uint64_t mine = ready;
        uint64_t vote = mine | (finished ? stop_bit : 0) | ((mine & ~known) ? 0 : known_bit);
        pthread_mutex_unlock(&lock);

        MPI_Allreduce(&vote, &agreed, 1, MPI_UINT64_T, MPI_BAND, comm);
        if (!(agreed & known_bit)) {
            introduce(comm, mine & ~known);
            known |= mine;
        }
        // The large tensor goes alone, the small ones together.
        const uint64_t alone = agreed & all_names & 1u << large, together = agreed & all_names & ~alone;
        if (together) average(comm, together, fused);
        if (alone) average(comm, alone, fused);
        known &= ~(agreed & 1u << metric);  // the next epoch's metrics have another name
        if (agreed & all_names) {
            pthread_mutex_lock(&lock);
            ready &= ~agreed;
            pthread_cond_signal(&averaged);
            pthread_mutex_unlock(&lock);
        }
        nanosleep(&(struct timespec){.tv_nsec = cycle_us * 1000L}, NULL);
    }
    free(fused);
    return NULL;
}

// ---- the main thread: training ----

static void submit(int t) {
    pthread_mutex_lock(&lock);
    ready |= UINT64_C(1) << t;
    pthread_mutex_unlock(&lock);
}

static void wait_for_averages(void) {
    pthread_mutex_lock(&lock);
    while (ready) pthread_cond_wait(&averaged, &lock);
    pthread_mutex_unlock(&lock);
}

// The optimum of this rank's data; the optimum of all data is the mean over the ranks.
static float target(int t, int i) { return (float)((i * 7 + t * 3 + rank * 5) % 11); }

// Backpropagation: the last layer's gradient is ready first.
static void compute_gradients(int step) {
    for (int t = tensors - 1; t >= 0; --t) {
        for (int i = 0; i < elements[t]; ++i) gradients[t][i] = parameters[t][i] - target(t, i);
        // Some more work, a little more on higher ranks: a load that is not quite balanced.
        volatile double sink = step;
        for (int i = 0; i < 150000 * (2 + rank % 4); ++i) sink = sink * 0.999 + i;
        submit(t);
    }
}

static void apply_gradients(void) {
    for (int t = 0; t < tensors; ++t)
        for (int i = 0; i < elements[t]; ++i) parameters[t][i] -= 0.03125f * gradients[t][i];
}

// Mean squared distance from the optima of all ranks' data.
static float average_loss(int step) {
    double sum = 0;
    long n = 0;
    for (int t = 0; t < tensors; ++t)
        for (int i = 0; i < elements[t]; ++i, ++n)
            sum += (parameters[t][i] - target(t, i)) * (parameters[t][i] - target(t, i));
    const float metrics[] = {(float)(sum / n), (float)step, 64, 0};
    memcpy(gradients[metric], metrics, sizeof metrics);
    submit(metric);
    wait_for_averages();
    return gradients[metric][0];
}

static void broadcast_state(MPI_Comm comm) {
    for (int t = 0; t < tensors; ++t) {
        MPI_Bcast(parameters[t], elements[t], MPI_FLOAT, 0, comm);
        for (int m = 0; m < 2; ++m) MPI_Bcast(moments[m][t], elements[t], MPI_FLOAT, 0, comm);
    }
}

int main(int argc, char** argv) {
    const int steps = argc > 1 ? atoi(argv[1]) : 100;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level < MPI_THREAD_MULTIPLE || size > 1024) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int t = 0; t < names; ++t) {
        gradients[t] = calloc(elements[t], sizeof(float));
        if (t == metric) continue;
        parameters[t] = calloc(elements[t], sizeof(float));
        for (int m = 0; m < 2; ++m) moments[m][t] = calloc(elements[t], sizeof(float));
    }
    broadcast_state(MPI_COMM_WORLD);

    MPI_Comm background;
    pthread_t thread;
    MPI_Comm_dup(MPI_COMM_WORLD, &background);
    pthread_create(&thread, NULL, communicate, &background);
    const float before = average_loss(0);
    float loss = before;
    for (int step = 1; step <= steps; ++step) {
        compute_gradients(step);
        wait_for_averages();
        apply_gradients();
        if (step % steps_per_epoch == 0) loss = average_loss(step);
    }
    pthread_mutex_lock(&lock);
    finished = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);

    if (rank == 0) printf("data_parallel: %d ranks, %d steps, loss %.3f -> %.3f\n", size, steps, before, loss);
    MPI_Comm_free(&background);
    MPI_Finalize();
    return 0;
}
