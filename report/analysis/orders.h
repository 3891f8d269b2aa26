// Which call the members of a communicator parted at, told by what they add up of their collectives
// (Membership::order): from two that are one call apart, and from two that differ in one call or have changed two for
// each other; and from the calls that both have kept, which say from where, too. For hangs and for the finding `order`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct OrderedCall {
    std::uint16_t call = 0;  // index into Job::calls
    std::int32_t root = any_rank;
    bool operator==(const OrderedCall&) const = default;
};

// The calls of a job that are ordered, with each root that they may have on a communicator of `size`.
class OrderedCalls {
  public:
    OrderedCalls(const Job& job, std::uint32_t size);
    std::uint64_t word_of(const OrderedCall& call) const;
    std::uint64_t after(std::uint64_t order, const OrderedCall& call) const;
    // The one that makes `after` of `before`.
    std::optional<OrderedCall> between(std::uint64_t before, std::uint64_t after) const;

    struct Parting {
        std::uint64_t at = 0;  // from 1 on
        OrderedCall one, other;
        bool are_swapped = false;  // and the next call the other way round
    };
    // Of two members that have made as many.
    std::optional<Parting> parting(std::uint64_t collectives, std::uint64_t one, std::uint64_t other) const;

  private:
    const Job& job_;
    std::vector<OrderedCall> calls_;
};

// Whether they are the same collective, with the same arguments.
bool are_alike(const OrderedStep& a, const OrderedStep& b);
// The one of this number, if it was kept; else null.
const OrderedStep* step_at(std::span<const OrderedStep> steps, std::uint64_t number);

// The first collective that two members have both kept and that differs.
struct Difference {
    OrderedStep one, other;
    std::uint64_t first = 0;  // they may have parted from this number on; that of both steps where it is exact
    bool are_swapped = false;
    bool is_exact() const { return first == one.number; }
    std::uint64_t at() const { return one.number + 1; }  // as people count
};
// Both by number.
std::optional<Difference> first_difference(std::span<const OrderedStep> one, std::span<const OrderedStep> other);
// Of members that have kept the same: the first that one has made and the other has not, if it was kept. Else null.
const OrderedStep* first_lacking(const OrderOfMembers& one, const OrderOfMembers& other);

}  // namespace mpiprof::report
