// Named parts of the program, entered and left by its own calls: how often, how long, and which one a call was made in
// (Cell::region). One per process, under the runtime's lock; the ledgers read `current` alone.
#pragma once

#include "libmpiprof/record/durations.h"
#include "libmpiprof/record/iteration_times.h"

namespace mpiprof {

class Regions {
  public:
    // Index of the region that calls are made in now; 0 outside all.
    std::uint16_t current() const { return __atomic_load_n(&current_, __ATOMIC_RELAXED); }

    // Whether a region lies in another, or in one that does.
    bool is_inside(std::uint16_t index, std::uint16_t outer) const {
        for (; index != outer; index = static_cast<std::uint16_t>(records_[index]->parent))
            if (index == 0) return false;
        return true;
    }
    void begin(Image& image, const char* name, const format::Anchor& now);
    // Ends `name` and what was begun inside it; null ends the innermost. False: it was not begun.
    bool end(Image& image, const char* name, Ticks now);
    // The end of an iteration, counted in a region of that name below the current one: from the last mark (or `since`),
    // or from where the current region was entered, if that was later.
    void iterate(Image& image, std::uint64_t items, const format::Anchor& since, const format::Anchor& now);
    // The same of one that is not counted.
    void pass_iteration(const format::Anchor& now) { last_mark_ = now; }
    // Whether the program has marked anything.
    bool has_any() const { return count_ != 0; }
    // Everything that was counted so far stays where it is; what comes is told apart ("after reset 1").
    void reset(Image& image, const format::Anchor& now);

  private:
    static constexpr unsigned most_nested = 32;
    static constexpr unsigned most = 1000;

    std::uint16_t find(Image& image, const char* name, std::uint16_t parent, std::uint32_t flags);
    format::Region* record(std::uint16_t index) const { return records_[index]; }
    void enter(std::uint16_t index, const format::Anchor& now);
    void leave(Image& image, Ticks now);
    void count(Image& image, format::Region& region, Ticks ticks, std::uint64_t items);

    std::uint16_t current_ = 0;
    unsigned depth_ = 0;
    std::uint16_t open_[most_nested] = {};
    std::uint64_t entered_ns_[most_nested] = {};  // CLOCK_MONOTONIC, of each of them
    // Begun beyond that, or where there was no room for one more, and what was begun inside: calls are booked in the
    // region around, and the ends are ignored, too.
    unsigned untold_ = 0;
    unsigned resets_ = 0;
    format::Anchor last_mark_{};
    unsigned count_ = 0;
    format::Region* records_[most + 1] = {};
    Rows<format::Region, 16> rows_;
    Durations<format::TableType::region_durations> durations_;
    IterationTimes iteration_times_;
};

}  // namespace mpiprof
