// The GPU's driver as far as times are taken by it: CUDA's or HIP's functions, which are alike. Only if the process has
// loaded and initialised it; never waits for the GPU. Errors are answers, and none is left behind that the program
// could meet. No header of CUDA or HIP: handles are words, numbers are those that every version has.
#pragma once

#include "libmpiprof/gpu/platform.h"

namespace mpiprof::gpu {

// What streams and events belong to is a context here: CUDA's, or the number of a device of HIP's and one more. 0:
// none.
struct Driver {
    // These stand in the order of the names in driver.cpp.
    int (*version)(int* version);
    int (*current)(Word* context);
    int (*of_stream)(Word stream, Word* context);
    int (*device)(int* device);  // of the current context
    int (*enter)(Word context);
    int (*leave)(Word* context);
    int (*is_capturing)(Word stream, int* status);
    int (*exchange_capture_mode)(int* mode);
    int (*create_event)(Word* event, unsigned flags);
    int (*destroy_event)(Word event);
    int (*record_event)(Word event, Word stream);
    int (*query_event)(Word event);
    int (*elapsed_time)(float* ms, Word begin, Word end);
    int (*context_id)(Word context, unsigned long long* id);  // null before CUDA 12
    int (*last_error)();                                      // of this thread; null where there is no such thing
    int (*take_last_error)();
    Platform platform;

    // False: there is no driver in this process, or one that lacks something. Then nothing may be called.
    bool find();
    bool is_hip() const { return platform == Platform::hip; }
    // Where what is enqueued on this stream goes; 0: nobody knows.
    Word context_of(Word stream) const;
    // What tells a context from an earlier one with the same handle; 0: nothing does.
    unsigned long long id_of(Word context) const;
    // An event that is good for taking times.
    int make_event(Word* event) const;
    // Whether an event of this stream may be asked for now.
    enum class Stream { fine, captured, gone };
    Stream look_at(Word stream) const;
};

// For as long as it lives, what this thread asks of the driver does not disturb a capture of another thread: asking
// whether an event has happened would invalidate it.
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

// HIP keeps the last error of each thread until it is read; up to HIP 6 the next call replaces it, even by success. So
// while the program has not read one, nothing may be asked; and what is asked for as long as this lives leaves none.
class OwnErrors {
  public:
    template <class Functions>
    explicit OwnErrors(const Functions& functions)
        : take_(functions.take_last_error), may_ask_(!functions.last_error || functions.last_error() == success) {}
    ~OwnErrors() {
        if (take_ && may_ask_) take_();
    }
    OwnErrors(const OwnErrors&) = delete;
    OwnErrors& operator=(const OwnErrors&) = delete;
    bool may_ask() const { return may_ask_; }

  private:
    int (*take_)();
    bool may_ask_;
};

// Makes a context current for as long as it lives; 0: the current one stays.
class InContext {
  public:
    InContext(const Driver& driver, Word context) : driver_(driver) {
        if (context == 0) return;
        if (driver.is_hip())
            has_entered_ = driver.current(&before_) == success && driver.enter(context - 1) == success;
        else
            has_entered_ = driver.enter(context) == success;
    }
    ~InContext() {
        if (!has_entered_) return;
        if (driver_.is_hip())
            driver_.enter(before_);
        else
            driver_.leave(&before_);
    }
    InContext(const InContext&) = delete;
    InContext& operator=(const InContext&) = delete;

  private:
    const Driver& driver_;
    bool has_entered_ = false;
    Word before_ = 0;
};

}  // namespace mpiprof::gpu
