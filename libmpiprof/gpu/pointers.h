// Whose memory a buffer is: the host's, a device's, or managed. Asked of CUDA's driver or of HIP, if the process has
// loaded and initialised it, once for each 2 MiB and now and then again; never creates a context, and never loads
// anything. Used by mpi/ for calls that are given a buffer.
#pragma once

#include <atomic>

#include "libmpiprof/base/basics.h"
#include "libmpiprof/format/layout.h"

namespace mpiprof::gpu {

class Pointers {
  public:
    // Whether there may be other memory than the host's. Looks for the driver for as long as there is none: a program
    // may initialise it late. Looking is not for the path of a call: after the first times ever more seldom,
    bool look();
    // or where something is new, at most so often.
    bool look_for_news();
    bool is_on() const { return state_.load(std::memory_order_relaxed) == State::on; }
    // Only where is_on(). What CUDA or HIP does not know is the host's.
    format::BufferKind kind_of(Word address);

  private:
    enum class State : int { undecided, off, on };
    // Both map addresses in blocks of 2 MiB and more, which malloc has no part of at the same time.
    static constexpr unsigned block_bits = 21, slot_bits = 8;
    // So often an answer is used before it is asked for again: memory is freed, and its addresses used anew.
    static constexpr std::uint64_t uses_of_an_answer = 64;

    struct Cuda {
        int (*attributes)(unsigned n, const int* attributes, void** data, std::uint64_t pointer);
    };
    struct Hip {
        int (*version)(int* version);
        int (*attributes)(void* attributes, Word address);
        int (*last_error)();
        int (*take_last_error)();
    };
    bool is_undecided() const { return state_.load(std::memory_order_acquire) == State::undecided; }
    bool look_now();
    bool find();
    // False: now is not the time.
    bool ask(Word address, format::BufferKind& kind) const;
    bool ask_hip(Word address, format::BufferKind& kind) const;

    Cuda cuda_{};
    Hip hip_{};
    unsigned hip_type_of_device_ = 0, hip_type_of_managed_ = 0;
    Lock lock_;
    std::atomic<State> state_{State::undecided};
    static constexpr std::uint64_t first_looks = 128, between_looks_ns = 50'000'000;
    std::atomic<std::uint64_t> looks_{0}, looked_ns_{0};
    // block << 16 | uses << 8 | kind + 1; 0: empty. Lossy, and whole: threads may overwrite each other's.
    std::atomic<std::uint64_t> known_[1u << slot_bits]{};
};
[[gnu::visibility("hidden")]] extern constinit Pointers pointers;

}  // namespace mpiprof::gpu
