// How long the threads of this process ran, and how long they waited for a processor that was not free, by the kernel's
// own account. Read by the runtime when recording starts, once a period and at the end. A thread takes its numbers
// along when it ends: what was read of it last is kept.
#pragma once

#include "libmpiprof/host/measurement.h"

namespace mpiprof {

class ProcessorTime {
  public:
    void start(const Measured& of) { open(of.first_thread); }
    void refresh(const Measured& of) { read(of.header().processor, of.helper_thread); }
    void end(const Measured& of) { refresh(of); }

    // Time counts from here on. `first`: the thread that began MPI. `root` is put before /proc, for tests, and has to
    // live as long.
    void open(std::uint32_t first, const char* root = "");
    // Since then, without the thread `helper` (0: there is none). Waits for nobody: `time` stays as it is while another
    // thread reads.
    void read(format::ProcessorTime& time, std::uint32_t helper);

  private:
    struct Span {
        std::uint64_t ran, waited;  // ns
    };
    struct Thread {
        std::uint32_t id;  // 0: free
        bool is_there;     // at this reading
        Span last;
    };
    static constexpr unsigned most = 512;  // of further ones, nothing is known

    void read_all(std::uint32_t helper);
    void meet(std::uint32_t thread, const Span& now);
    format::ProcessorTime sum() const;

    Lock lock_;
    const char* root_ = nullptr;
    std::uint32_t first_ = 0;
    unsigned count_ = 0;
    Span first_ended_{}, others_ended_{};
    format::ProcessorTime at_start_{};
    Thread threads_[most]{};
};

}  // namespace mpiprof
