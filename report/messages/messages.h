// Which receive belongs to which send, over all ranks: the n-th message that a rank sent to another with a communicator
// and a tag is the n-th that was received there. Fed with the events of one rank after the other; Messages keeps 24
// bytes of each end. The timeline draws arrows by it, and transfers take their times from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "report/model/profile.h"

namespace mpiprof::report {

// One end of a message: an event that sends or receives, and the moments at which it begins and is over.
struct MessageEnd {
    std::uint64_t key = 0;  // the same for both ends
    bool is_send = false;
    std::uint64_t begin_ns = 0;  // after its MPI_Init
    std::uint64_t end_ns = 0;
    // Of a send that only posted it: when its request was completed; 0 = it blocked, or that was not seen.
    std::uint64_t completed_ns = 0;
    bool is_posted = false;   // by a call that may return before the message is on its way
    std::uint64_t bytes = 0;  // as this end counts them: a receiver may count its buffer
    std::uint16_t call = 0;   // index into Profile::calls: which sends or receives, or posts it
    std::uint32_t rank = 0;   // this end's
    std::uint32_t peer = 0;
    std::int32_t tag = 0;
};

// The ends of messages in the trace of one thread, in the order of its events: a receive that was posted is over when
// its request is, and only then it is one.
class MessageEnds {
  public:
    MessageEnds(const Profile& profile, const ThreadTrace& trace);
    // What ends with this event of the trace. Empty: nothing, or it cannot be told with whom.
    const std::optional<MessageEnd>& at(std::size_t event) const { return ends_[event]; }

  private:
    std::vector<std::optional<MessageEnd>> ends_;
};

// Calls use(send, receive) for each message of which both ends are there, in the order of their keys; what has the key
// of another is left out. Sorts what it is given.
template <class End, class Use>
void each_matched(std::vector<End>& sends, std::vector<End>& receives, Use use) {
    const auto by_key = [](const End& a, const End& b) { return a.key < b.key; };
    std::sort(sends.begin(), sends.end(), by_key);
    std::sort(receives.begin(), receives.end(), by_key);
    const auto is_twice = [](const std::vector<End>& all, std::size_t i) {
        return i + 1 < all.size() && all[i + 1].key == all[i].key;
    };
    for (std::size_t s = 0, r = 0; s < sends.size() && r < receives.size();) {
        const std::uint64_t send = sends[s].key, receive = receives[r].key;
        if (send == receive && !is_twice(sends, s) && !is_twice(receives, r)) use(sends[s], receives[r]);
        const std::uint64_t least = std::min(send, receive);
        while (s < sends.size() && sends[s].key == least) ++s;
        while (r < receives.size() && receives[r].key == least) ++r;
    }
}

class Messages {
  public:
    void add(const MessageEnd& end, std::uint32_t rank);
    // After the last rank. `time_of(rank, ns after its MPI_Init)` is a moment as all ranks have it.
    void match(const std::function<std::int64_t(std::uint32_t rank, std::uint64_t ns)>& time_of);
    // A number of its own for each message of which both ends are known; 0 = it is none of these.
    std::uint64_t number(std::uint64_t key) const;

    std::uint64_t matched() const { return matched_.size(); }
    std::uint64_t unmatched_sends() const { return sends_.size() - matched_.size(); }
    std::uint64_t unmatched_receives() const { return receives_.size() - matched_.size(); }
    // Messages that were received before they were sent: the clocks differ by at least so much.
    std::uint64_t backwards() const { return backwards_; }
    std::int64_t most_backwards_ns() const { return most_backwards_ns_; }

  private:
    struct Moment {
        std::uint64_t key;
        std::uint64_t ns;
        std::uint32_t rank;
    };
    std::vector<Moment> sends_, receives_;
    std::vector<std::uint64_t> matched_;  // keys, sorted
    std::uint64_t backwards_ = 0;
    std::int64_t most_backwards_ns_ = 0;
};

}  // namespace mpiprof::report
