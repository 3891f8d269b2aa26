// Floors: the fastest call of each kind over all ranks, and how much of other calls' time is above it, which is an
// estimate of waiting. The part `waits` makes them; sites, rows and ranks are held against them.
//
// The method: the fastest call of one function, size bin and kind of buffer on communicators of one size was held up by
// nobody (of a collective, it is that of the rank that came last). What the other calls took longer is waiting, and
// contention. Where even the fastest took longer than a slow network (or node) would, as in a chain of ranks, it
// waited, too, and so did large sends where receives of that size are faster. It is said only where calls may wait for
// other ranks at all and where there were enough of them that the fastest means something. File I/O waits for disks,
// not for ranks.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "report/merge/keyed.h"
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
    Traffic traffic = Traffic::none;

    WaitSum& operator+=(const WaitSum& from);  // of the same key
};

// What a cell counts as; empty where its call waits for nobody.
std::optional<WaitSum> wait_of(const Profile& profile, const Cell& cell, std::uint16_t call);
// To sorted sums.
void add_wait(std::vector<WaitSum>& sums, const WaitSum& sum);

// The fastest calls, added up over ranks. Calls have the numbers of the registry.
class Floors {
  public:
    static constexpr std::uint64_t least_calls = 20;   // of fewer, the fastest may have been slow itself
    static constexpr std::uint32_t most_ranks = 8192;  // of larger jobs there is no estimate rank by rank
    static constexpr std::size_t most_keys = 65536;    // more come from damaged files alone, and are not judged

    void add(WaitSum sum) {
        if (sum.traffic == Traffic::receive) receives_.insert(sum.key.call);
        floors_.add(sum.key, std::move(sum));
    }
    // Before any waiting is asked for: no message takes longer than within a node.
    void are_of_one_node() { is_of_one_node_ = true; }
    // Such calls only post requests: who waits for these is Wait.
    void add_posting(std::uint16_t call) { posting_.insert(call); }
    void absorb(Floors&& other) {
        floors_.absorb(std::move(other.floors_));
        posting_.merge(other.posting_);
        receives_.merge(other.receives_);
    }

    struct Waiting {
        std::uint64_t judged_ns = 0;
        std::uint64_t waiting_ns = 0;
    };
    // When all ranks are known.
    Waiting of(std::span<const WaitSum> sums) const;
    // By what is alike; the calls of all ranks.
    const auto& fastest() const { return floors_; }

  private:
    // A large send that waits for its receiver moves data for no longer than a receive of that size takes, which found
    // it waiting. 0: there were too few of these.
    double fastest_receive_ns(const WaitSum& send) const;

    Keyed<WaitKey, WaitSum, most_keys> floors_;
    std::set<std::uint16_t> receives_;  // calls that receive, those that only post among them
    std::set<std::uint16_t> posting_;
    bool is_of_one_node_ = false;
};

// What was seen of some calls' waiting, beside what Floors estimates of them: the one takes the place of the other in
// whatever these calls are added up in. The part `arrivals` makes it.
struct Correction {
    std::uint16_t call = 0;  // of the registry
    Floors::Waiting estimated;
    std::uint64_t waiting_ns = 0;
    std::uint64_t time_ns = 0;  // of all these calls

    Correction& operator+=(const Correction& more) {
        call = more.call;
        estimated.judged_ns += more.estimated.judged_ns;
        estimated.waiting_ns += more.estimated.waiting_ns;
        waiting_ns += more.waiting_ns;
        time_ns += more.time_ns;
        return *this;
    }
    // To a row, rank or site that has the estimate.
    template <class Judged>
    void apply(Judged& judged) const {
        judged.judged_ns += time_ns - std::min(estimated.judged_ns, time_ns);
        judged.waiting_ns -= std::min(estimated.waiting_ns, judged.waiting_ns);
        judged.waiting_ns += waiting_ns;
        judged.compared_ns += time_ns;
    }
};

}  // namespace mpiprof::report
