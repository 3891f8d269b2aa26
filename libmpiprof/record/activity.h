// Communication over time: how much of it one thread did in each of a fixed number of time bins. When the run outgrows
// them, neighbours are added up and their width doubles, so that a run of any length has a picture of constant size.
// The hot path only asks whether the current bin is over; its ledger then says what it has booked so far.
#pragma once

#include "libmpiprof/base/at_first.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

class Activity {
  public:
    // Everything that a thread has booked.
    struct Booked {
        Ticks ticks;
        Bytes bytes;  // of messages
    };
    // Without room in the image no bin ever ends.
    void open(Image& image, std::uint32_t thread, Ticks origin, format::TableType type = format::TableType::activity);
    bool is_open() const { return record_ != nullptr; }
    Ticks ends() const { return ends_; }  // the current bin
    bool is_over(Ticks now) const { return now >= ends_; }
    // A call of so many ticks and bytes was the first to end behind the current bin. It is in `total` already.
    void turn(Ticks since, Ticks ticks, Bytes bytes, Booked total);

  private:
    std::uint32_t index(Ticks moment) const;
    void make_room(Ticks last);
    void halve();

    AtFirst<Ticks, ~Ticks{0}> ends_;  // of the current bin
    format::Activity* record_ = nullptr;
    Booked booked_{0, 0};  // what the bins hold
};

}  // namespace mpiprof
