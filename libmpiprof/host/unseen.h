// Communication libraries that a process has loaded and that this library does not wrap. What the program asks of them
// itself is in no figure, and the profile says so. Asked when MPI or NCCL begins and when the job ends; it only reads
// the list of loaded objects.
#pragma once

#include "libmpiprof/host/measurement.h"

namespace mpiprof {

// Records each once, as the fact "not_profiled" or "moves_unseen".
class Unseen {
  public:
    void start(const Measured& of) { record(of.image); }
    void refresh(const Measured&) {}
    void end(const Measured& of) { record(of.image); }

  private:
    void record(Image& image);
    std::uint32_t told_ = 0;  // a bit for each that is in the profile
};

}  // namespace mpiprof
