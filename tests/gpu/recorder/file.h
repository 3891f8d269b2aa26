/* The recording that a process leaves: lines of words, as docs/nccl-internals.md says ("Recordings"). Included by
 * recorder.c alone.
 */
#pragma once

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE* file;
static pid_t writer; /* its forked children write nothing */
static unsigned long lines;
/* Held for a whole line, and for the lines of one buffer. */
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;

/* $RECORDING_OUT.<rank>, or of the process where there are no ranks. */
static void open_file(void) {
    const char *prefix = getenv("RECORDING_OUT"), *rank = getenv("RANK");
    char path[4096];
    if (file || !prefix) return;
    snprintf(path, sizeof path, "%s.%d", prefix, rank ? atoi(rank) : (int)getpid());
    file = fopen(path, "w");
    writer = getpid();
    if (!file) return perror(path);
    fprintf(file, "mpiprof-recording 1\n");
    lines = 1;
}
static int may_write(void) { return file && getpid() == writer; }
/* The last line says that nothing is missing. */
static void close_file(void) {
    if (!may_write()) return;
    fprintf(file, "done %lu\n", lines);
    fclose(file);
    file = NULL;
}

static void put(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (may_write()) vfprintf(file, format, arguments);
    va_end(arguments);
}
static void end_line(void) {
    if (!may_write()) return;
    fputc('\n', file);
    fflush(file);
    lines += 1;
}
/* In hexadecimal digits; (12) is twelve bytes of 0. */
static void put_bytes(const unsigned char* bytes, size_t n) {
    put(" ");
    for (size_t i = 0; i < n;) {
        size_t zeros = 0;
        while (i + zeros < n && bytes[i + zeros] == 0) ++zeros;
        if (zeros >= 2)
            put("(%zu)", zeros), i += zeros;
        else
            put("%02x", bytes[i++]);
    }
}
/* A word of its own: what would end it is left out. */
static void put_word(const char* text, size_t most) {
    for (size_t i = 0; i < most && text[i]; ++i)
        if (text[i] > ' ' && text[i] < 127) put("%c", text[i]);
}

/* Threads are numbered in the order in which they come. */
static int this_thread(void) {
    static int threads;
    static _Thread_local int number;
    if (number == 0) number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return number;
}
