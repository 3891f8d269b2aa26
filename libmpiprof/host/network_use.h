// How this process reaches other nodes, as the kernel has it: device files of fabrics that are open, TCP connections to
// other hosts with what went through them, network libraries that are mapped. Looked at by the helper thread a few
// seconds after start and whenever the run has become half as long again, and at the end; for at most some
// milliseconds, and without changing anything of the program's descriptors.
#pragma once

#include "libmpiprof/base/basics.h"
#include "libmpiprof/host/measurement.h"
#include "libmpiprof/record/rows.h"

namespace mpiprof {

class NetworkUse {
  public:
    void start(const Measured& of);
    void refresh(const Measured& of);
    void end(const Measured&) { look(); }

    // Adds the record. `root` is put before /proc/self/maps, for tests, and has to live as long.
    void open(Image& image, const char* root = "");
    // Waits for nobody: while another thread looks, the record stays as it is.
    void look();

  private:
    Lock lock_;
    format::NetworkUse* record_ = nullptr;
    const char* root_ = nullptr;
    std::uint64_t next_ns_ = 0;
    Rows<format::NetworkUse, 1> rows_;
};

}  // namespace mpiprof
