/* MPI on other threads than the first one; included by causes.c alone. */
#pragma once

static void* communicate(void* nothing) {
    for (int i = 0; i < steps; ++i) {
        work(rank == 0 ? 2 : 1);
        sum_up(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    is_done = 1;
    return nothing;
}

// MPI on a thread beside the work, which goes on for as long.
static void beside(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, communicate, NULL);
    while (!is_done) work(1);
    pthread_join(thread, NULL);
}

static void* work_elsewhere(void* nothing) {
    slow_rank();
    return nothing;
}

// All of it in one thread that is not the first, which waits for it.
static void elsewhere(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work_elsewhere, NULL);
    pthread_join(thread, NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, answered;

static void* answer(void* nothing) {
    for (int i = 1; i <= steps; ++i) {
        pthread_mutex_lock(&lock);
        while (asked < i) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        sum_up(MPI_COMM_WORLD);
        pthread_mutex_lock(&lock);
        answered = i;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

// The first thread works, and waits for the one that calls MPI.
static void handed_over(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, answer, NULL);
    for (int i = 1; i <= steps; ++i) {
        work(rank == size - 1 ? 16 : 10);
        pthread_mutex_lock(&lock);
        asked = i;
        pthread_cond_broadcast(&changed);
        while (answered < i) pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
}
