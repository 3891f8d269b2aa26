// Floors: the fastest call of each kind over all ranks, and how much of other calls' time is above it, which is an
// estimate of waiting. WaitsPart makes them; sites, rows and ranks are held against them.
//
// The method: the fastest call of one function, size bin and kind of buffer on communicators of one size was held up by
// nobody (of a collective, it is that of the rank that came last). What the other calls took longer is waiting, and
// contention. Where even the fastest took longer than a slow network would, as in a chain of ranks, it waited, too. It
// is said only where calls may wait for other ranks at all and where there were enough of them that the fastest means
// something. File I/O waits for disks, not for ranks.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "report/model/profile.h"

namespace mpiprof::report {

struct WaitKey {
    std::uint16_t call = 0;
    std::uint8_t bin = 0;
    Buffer buffer = Buffer::host;
    std::uint32_t comm_size = 0;  // 0 = not known: Wait and its like, calls on no communicator
    auto operator<=>(const WaitKey&) const = default;
};
struct WaitSum {
    WaitKey key;
    std::uint64_t calls = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t min_ns = 0;   // of one call; 0 = not known, or too short for the clock
    double most_moving_ns = 0;  // what one call of this key moves data for at most; 0 = that is not known

    WaitSum& operator+=(const WaitSum& from);  // of the same key
};

// What a cell counts as; empty where its call waits for nobody.
std::optional<WaitSum> wait_of(const Profile& profile, const Cell& cell, std::uint16_t call);
// To sorted sums.
void add_wait(std::vector<WaitSum>& sums, const WaitSum& sum);

// The fastest calls, when all ranks are known. Calls have the numbers of the registry.
class Floors {
  public:
    static constexpr std::uint64_t least_calls = 20;  // of fewer, the fastest may have been slow itself

    struct Waiting {
        std::uint64_t judged_ns = 0;
        std::uint64_t waiting_ns = 0;
    };
    Waiting of(std::span<const WaitSum> sums) const;

  private:
    friend class WaitsPart;
    std::map<WaitKey, WaitSum> floors_;
    std::set<std::uint16_t> posting_;  // calls that only post requests: who waits for them is Wait
};

}  // namespace mpiprof::report
