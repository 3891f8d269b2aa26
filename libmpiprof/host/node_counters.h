// Counters that a node keeps of itself: energy (RAPL, Cray's pm_counters), bytes through its network links, and what
// its network ports count of waiting and trouble. Read at start, at each update and at the end by one rank of the node;
// they are of all that ran on it. Where the kernel lets users not read them (RAPL, mostly) they are left out, and
// nobody is asked. Trouble is read less often, since adapters ask their firmware for it: each time after twice as many
// updates.
#pragma once

#include "libmpiprof/host/measurement.h"
#include "libmpiprof/record/rows.h"

namespace mpiprof {

class NodeCounters {
  public:
    void start(const Measured& of);
    void refresh(const Measured&) {
        refreshes_ += 1;
        update((refreshes_ & (refreshes_ - 1)) == 0);
    }
    void end(const Measured&) { update(); }

    // Finds those that there are and records them. `root` is put before /sys, for tests.
    void open(Image& image, const char* root = "");
    // Reads them again into the image.
    void update(bool events_too = true);

  private:
    static constexpr unsigned most = 160;
    struct Source {
        char path[160];
        format::NodeCounter* record;
        std::uint64_t scale;     // of what is read to what is recorded
        std::uint64_t stops_at;  // it says no more than this; 0: it never stops

        bool is_of_events() const { return record->unit == format::NodeCounterUnit::events; }
        // What is read, into the record.
        void take(std::uint64_t now) const;
    };
    void add(Image& image, const char* name, format::NodeCounterUnit unit, const char* path, std::uint64_t scale,
             std::uint64_t wraps_at, std::uint64_t stops_at = 0);
    void add_event(Image& image, const char* port, const char* directory, const char* file, unsigned bits);
    void add_trouble_of_port(Image& image, const char* root, const char* adapter, const char* number);
    void add_trouble_of_slingshot(Image& image, const char* root, const char* adapter);
    void add_trouble_of_link(Image& image, const char* root, const char* interface);
    void add_energy(Image& image, const char* root, const char* directory);
    void add_link(Image& image, const char* root, const char* interface);
    void add_port(Image& image, const char* root, const char* adapter, const char* number);

    Source sources_[most]{};
    unsigned count_ = 0;
    std::uint32_t refreshes_ = 0;
    std::uint64_t until_ns_ = 0;  // events are read no longer than this
    Rows<format::NodeCounter, 32> rows_;
};

}  // namespace mpiprof
