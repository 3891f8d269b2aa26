// The collectives of one communicator, call by call over all its members: who came last, and how long each waited. For
// the part `arrivals`. Only calls that all members have kept, and that were the same call on all of them, are compared.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "report/merge/floors.h"
#include "report/merge/late_order.h"
#include "report/merge/node_clocks.h"
#include "report/model/comparison.h"

namespace mpiprof::report {

// What one rank did on one communicator.
struct MemberCalls {
    // All calls of one function and size from one place, and what was seen of those that were compared.
    struct Kind {
        WaitSum all;
        std::uint64_t site_key = 0;
        std::uint64_t longest_ns = 0;           // of one call,
        std::uint64_t longest_compared_ns = 0;  // of those that were compared
        double compared_ns = 0;
        double waited_ns = 0;
        double unknown_ns = 0;  // of calls of which it is not known what this member waited for
    };
    // As small as it can be: of 100,000 ranks they take most of what a merge holds.
    struct Kept {
        Kept(std::uint64_t n, std::int64_t begin, std::uint64_t time, std::int32_t its_root, std::uint32_t its_kind);
        std::uint64_t number : 40;
        std::uint64_t root_and_one : 24;
        std::int64_t begin_ns;  // on the clock of the node
        std::uint64_t time_ns : 48;
        std::uint64_t kind : 16;  // index into the kinds
        static constexpr std::uint32_t most_kinds = 1 << 16;
        std::int32_t root() const { return static_cast<std::int32_t>(root_and_one) - 1; }
    };
    static_assert(sizeof(Kept) == 24);
    std::uint32_t rank = 0;  // in the job
    std::uint32_t rank_in_comm = 0;
    std::uint32_t node = 0;
    std::int64_t started_ns = 0;  // it left MPI_Init
    std::vector<Kind> kinds{};    // its own; none where all members share theirs
    std::vector<Kept> kept{};     // by number
};

// What is added up of one call over its rows.
struct CallSums {
    struct Last {
        std::uint64_t times = 0;
        double behind_ns = 0, waited_ns = 0;
        std::int64_t first = 0, latest = 0;
    };
    std::uint64_t compared = 0, undecided = 0;
    WaitsFor waits_for = WaitsFor::unknown;
    std::vector<std::pair<double, double>> waited_of;  // waited and time of each row, over its members
    double clock_error_ns = 0;  // of what they waited, since clocks of nodes are lined up so well and no better
    std::map<std::uint32_t, Last> last;  // by rank
    std::vector<double> late;            // by member: LateRank::waited_ns

    void add_last(std::uint32_t rank, double behind_ns, double waited_ns, std::int64_t moment);
};

class CallComparison {
  public:
    // All members, in the order of their ranks in the communicator. `calls`: of the registry's numbers. `shared`: the
    // kinds of all members together, where these have none of their own; `longest` of such is a sum over members.
    CallComparison(std::span<MemberCalls> members, std::span<const Call* const> calls,
                   std::span<MemberCalls::Kind> shared);

    // What these calls say of the nodes' clocks.
    void bound(NodeClocks& clocks) const;
    // False: the clocks of some node are not known.
    bool can_line_up(const NodeClocks& clocks) const;
    // Compares them: into the members' kinds, and what is returned, whose numbers of calls are the registry's.
    std::vector<ComparedCall> line_up(const NodeClocks& clocks);
    // Who was last to which call, once they are compared.
    const std::vector<LateCall>& late_calls() const { return late_calls_; }

  private:
    // Members by when they entered a call: the last, the one before it, and the moment of the first.
    struct Entered {
        std::size_t last = 0, next = 0;
        std::int64_t first_ns = 0;
    };
    std::span<MemberCalls::Kind> kinds_of(MemberCalls& member) const {
        return shared_.empty() ? std::span(member.kinds) : shared_;
    }
    std::uint16_t call_of(const MemberCalls::Kept& kept) const {  // of the first member
        return kinds_of(members_[0])[kept.kind].all.key.call;
    }
    std::vector<std::span<MemberCalls::Kind>> all_kinds() const;
    WaitsFor waits_for(std::size_t row) const;
    void keep_rows();
    void add_up_longest();
    std::int64_t turn_to_one_clock(const NodeClocks& clocks);
    Entered enter(std::size_t row, std::span<std::int64_t> entered) const;
    void add_row(std::size_t row, std::span<std::int64_t> entered, CallSums& sums);
    double wait_in(std::size_t row, std::span<const std::int64_t> entered, const Entered& of_row, CallSums& sums) const;
    ComparedCall line_of(std::uint16_t call, const CallSums& sums, std::int64_t start) const;

    std::span<MemberCalls> members_;
    std::span<const Call* const> calls_;
    std::span<MemberCalls::Kind> shared_;
    // A row is the same call on all members: MemberCalls::kept has it at this place.
    std::size_t rows_ = 0;
    std::vector<std::uint8_t> moves_;  // by row: no member's call is of 0 bytes
    std::vector<double> error_ns_;     // by member: of its node's clock
    std::vector<LateCall> late_calls_;
};

}  // namespace mpiprof::report
