// Counters that a node keeps of itself: energy (RAPL, Cray's pm_counters) and bytes through its network links. Read at
// start, at each update and at the end by one rank of the node; they are of all that ran on it. Where the kernel lets
// users not read them (RAPL, mostly) they are left out, and nobody is asked.
#pragma once

#include "libmpiprof/host/measurement.h"
#include "libmpiprof/record/rows.h"

namespace mpiprof {

class NodeCounters {
  public:
    void start(const Measured& of);
    void refresh(const Measured&) { update(); }
    void end(const Measured&) { update(); }

    // Finds those that there are and records them. `root` is put before /sys, for tests.
    void open(Image& image, const char* root = "");
    // Reads them again into the image.
    void update();

  private:
    static constexpr unsigned most = 32;
    struct Source {
        char path[160];
        format::NodeCounter* record;
        std::uint64_t scale;  // of what is read to what is recorded
    };
    void add(Image& image, const char* name, format::NodeCounterUnit unit, const char* path, std::uint64_t scale,
             std::uint64_t wraps_at);
    void add_energy(Image& image, const char* root, const char* directory);
    void add_link(Image& image, const char* root, const char* interface);
    void add_port(Image& image, const char* root, const char* adapter);

    Source sources_[most]{};
    unsigned count_ = 0;
    Rows<format::NodeCounter, most> rows_;
};

}  // namespace mpiprof
