/* Marks in a program for the profiler mpiprof: named regions, iterations, labels, pauses. Copy this file into your
 * sources; it needs nothing else. The functions are weak: without the profiler they do nothing, at the cost of a test.
 * C and C++; mpiprof.f90 is the same for Fortran, docs/regions.md has it for Python. */
#ifndef MPIPROF_H
#define MPIPROF_H

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void mpiprof_region_begin(const char* name);
__attribute__((weak)) void mpiprof_region_end(const char* name);
__attribute__((weak)) void mpiprof_iteration(long items);
__attribute__((weak)) void mpiprof_set_label(const char* key, const char* value);
__attribute__((weak)) void mpiprof_pause(void);
__attribute__((weak)) void mpiprof_resume(void);

/* A part of the program with a name. Regions nest; MPI calls inside are reported per region. They are
 * the process's, not a thread's: begin and end them on one thread. */
static inline void mpiprof_begin(const char* name) {
    if (mpiprof_region_begin) mpiprof_region_begin(name);
}
static inline void mpiprof_end(const char* name) {
    if (mpiprof_region_end) mpiprof_region_end(name);
}
/* The end of one iteration that handled `items` (examples, cells; 0 if that means nothing): the report shows seconds
 * per iteration as percentiles, and items per second. */
static inline void mpiprof_mark(long items) {
    if (mpiprof_iteration) mpiprof_iteration(items);
}
/* What the run is: mpiprof_label("model", "resnet50"). Reports show it and compare runs by it. Of one key the last
 * value counts; MPIPROF_LABELS=model=resnet50 says the same from outside. */
static inline void mpiprof_label(const char* key, const char* value) {
    if (mpiprof_set_label) mpiprof_set_label(key, value);
}
/* What is called in between is not recorded; as MPI_Pcontrol(0) and MPI_Pcontrol(1). */
static inline void mpiprof_off(void) {
    if (mpiprof_pause) mpiprof_pause();
}
static inline void mpiprof_on(void) {
    if (mpiprof_resume) mpiprof_resume();
}

#ifdef __cplusplus
}
#endif
#endif
