// WaitsPart: how much of the time of some of a job's ranks was waiting, estimated. A piece of Part, which calls it;
// associative and commutative like it.
//
// The method: the fastest call of one function, size bin and kind of buffer on communicators of one size, over all
// ranks, was held up by nobody (of a collective, it is that of the rank that came last). What the other calls took
// longer is waiting, and contention. It is said only where calls may wait for other ranks at all and where there were
// enough of them that the fastest means something. File I/O waits for disks, not for ranks.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "report/model/job.h"
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
    std::uint64_t min_ns = 0;  // of one call; 0 = not known, or too short for the clock
};

// What a cell counts as; empty where its call waits for nobody.
std::optional<WaitSum> wait_of(const Profile& profile, const Cell& cell, std::uint16_t call);
// To sorted sums.
void add_wait(std::vector<WaitSum>& sums, const WaitSum& sum);

// The fastest calls, when all ranks are known. Calls have the numbers of the Job.
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

class WaitsPart {
  public:
    static constexpr std::uint32_t most_ranks = 8192;  // of larger jobs there is no estimate rank by rank
    static constexpr std::size_t most_keys = 65536;    // more come from damaged files alone, and are not judged

    // The call maps and `order` say what number a call has here, and in the end.
    void add(const Profile& profile, std::span<const std::uint16_t> call_map);
    void absorb(WaitsPart&& other, std::span<const std::uint16_t> call_map);
    // Into the rows and ranks of the job, which are there already.
    Floors finish(Job& job, std::span<const std::uint16_t> order);

  private:
    void take(const WaitSum& sum);
    void renumber(std::span<const std::uint16_t> map);

    std::map<WaitKey, WaitSum> floors_;
    std::set<std::uint16_t> posting_;
    std::vector<std::pair<std::uint32_t, std::vector<WaitSum>>> ranks_;
};

}  // namespace mpiprof::report
