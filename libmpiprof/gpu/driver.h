// CUDA's driver as far as it is needed: the functions of libcuda.so.1, if the process has loaded and initialised it. Never
// loads or initialises it, and never waits for the GPU. Errors are answers; the driver's functions leave none behind that
// the program could meet. No header of CUDA: handles are words, numbers are those that every version has.
#pragma once

#include "libmpiprof/record/basics.h"

namespace mpiprof::gpu {

inline constexpr int cuda_success = 0, cuda_not_initialized = 3, cuda_not_ready = 600;

struct Driver {
    int (*driver_version)(int* version);
    int (*current_context)(Word* context);
    int (*push_context)(Word context);
    int (*pop_context)(Word* context);
    int (*device)(int* device);  // of the current context
    int (*context_of_stream)(Word stream, Word* context);
    int (*is_capturing)(Word stream, int* status);
    int (*exchange_capture_mode)(int* mode);
    int (*create_event)(Word* event, unsigned flags);
    int (*record_event)(Word event, Word stream);
    int (*query_event)(Word event);
    int (*elapsed_time)(float* ms, Word begin, Word end);

    // False: there is no driver in this process, or one that lacks something. Then nothing above may be called.
    bool find();
};

// For as long as it lives, what this thread asks of the driver does not disturb a capture of another thread: asking whether
// an event has happened would invalidate it.
class Unnoticed {
  public:
    explicit Unnoticed(const Driver& driver) : driver_(driver) { driver_.exchange_capture_mode(&mode_); }
    ~Unnoticed() { driver_.exchange_capture_mode(&mode_); }
    Unnoticed(const Unnoticed&) = delete;
    Unnoticed& operator=(const Unnoticed&) = delete;

  private:
    const Driver& driver_;
    int mode_ = 2;  // relaxed
};

// Makes a context current for as long as it lives; 0: the current one stays.
class InContext {
  public:
    InContext(const Driver& driver, Word context) : driver_(driver), pushed_(context != 0 && driver.push_context(context) == cuda_success) {}
    ~InContext() {
        Word context;
        if (pushed_) driver_.pop_context(&context);
    }
    InContext(const InContext&) = delete;
    InContext& operator=(const InContext&) = delete;

  private:
    const Driver& driver_;
    bool pushed_;
};

}  // namespace mpiprof::gpu
