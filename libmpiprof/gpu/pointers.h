// Whose memory a buffer is: the host's, a device's, or managed. Asked of CUDA's driver, if the process has loaded and initialised
// it, once for each 2 MiB and now and then again; never creates a context, and never loads the driver. Used by mpi/ for calls that
// are given a buffer.
#pragma once

#include <atomic>

#include "libmpiprof/format/layout.h"
#include "libmpiprof/record/basics.h"

namespace mpiprof::gpu {

class Pointers {
  public:
    // Whether there may be other memory than the host's. Looks for the driver for as long as there is none: a program may
    // initialise it late. Looking is not for the path of a call.
    bool look();
    bool is_on() const { return state_.load(std::memory_order_relaxed) == State::on; }
    // Only where is_on(). What CUDA does not know is the host's.
    format::BufferKind kind_of(Word address);

  private:
    enum class State : int { undecided, off, on };
    // CUDA maps addresses in blocks of 2 MiB and more, which malloc has no part of at the same time.
    static constexpr unsigned block_bits = 21, slot_bits = 8;
    // So often an answer is used before it is asked for again: memory is freed, and its addresses used anew.
    static constexpr std::uint64_t uses_of_an_answer = 64;

    using Ask = int (*)(unsigned n, const int* attributes, void** data, std::uint64_t pointer);
    bool find();
    format::BufferKind ask(Word address) const;

    Ask ask_ = nullptr;
    Lock lock_;
    std::atomic<State> state_{State::undecided};
    std::atomic<std::uint64_t> looks_{0};
    // block << 16 | uses << 8 | kind + 1; 0: empty. Lossy, and whole: threads may overwrite each other's.
    std::atomic<std::uint64_t> known_[1u << slot_bits]{};
};
[[gnu::visibility("hidden")]] extern constinit Pointers pointers;

}  // namespace mpiprof::gpu
