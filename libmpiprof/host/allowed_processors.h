// How busy programs, whoever's, kept the processors on which this process may run, and how much of it was the process'
// own: the rest is of others. Read by the runtime when recording starts and at the end, and in between by the helper
// each time that the recording is twice as old, since the kernel takes up to a millisecond for it on a large node.
#pragma once

#include "libmpiprof/host/measurement.h"

namespace mpiprof {

class AllowedProcessors {
  public:
    void start(const Measured& of);
    void refresh(const Measured& of);
    void end(const Measured& of) { update(of.header().allowed); }

    // `root` is put before /proc, for tests, and has to live as long. Time counts from here on.
    void open(const char* root = "");
    // Since then. Waits for nobody: `times` stay as they are while another thread reads.
    void update(format::AllowedProcessors& times);

  private:
    static constexpr unsigned most = 4096;
    static constexpr unsigned bits = 64;

    bool is_allowed(unsigned processor) const {
        return processor < most && (mask_[processor / bits] >> (processor % bits) & 1) != 0;
    }
    bool read(format::AllowedProcessors& now) const;
    bool add_processors(format::AllowedProcessors& now, std::uint64_t tick_us) const;
    bool add_descendants(format::AllowedProcessors& now, std::uint64_t tick_us) const;

    Lock lock_;
    const char* root_ = nullptr;
    std::uint64_t next_us_ = 0;  // when the helper reads again
    format::AllowedProcessors at_start_{};
    std::uint64_t mask_[most / bits]{};
};

}  // namespace mpiprof
