// What two orders differ by is the difference of two calls, times the factor for each call since: divided by it step by
// step it is found among the differences of all calls. 64 bits make a wrong one all but impossible.
#include "report/analysis/orders.h"

#include <algorithm>
#include <unordered_map>

namespace mpiprof::report {
namespace {

constexpr std::int32_t most_roots = 64;
constexpr std::size_t most_calls = 512;
constexpr std::uint64_t most_steps = 1'000'000;

// Of an odd number, modulo 2^64.
constexpr std::uint64_t inverse_of(std::uint64_t odd) {
    std::uint64_t inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    return inverse;
}
static_assert(order_factor * inverse_of(order_factor) == 1);

}  // namespace

OrderedCalls::OrderedCalls(const Job& job, std::uint32_t size) : job_(job) {
    for (std::size_t i = 0; i < job.calls.size(); ++i) {
        if (!job.calls[i].is_ordered) continue;
        const auto call = static_cast<std::uint16_t>(i);
        if (!job.calls[i].has_root) calls_.push_back({call});
        if (job.calls[i].has_root)
            for (std::int32_t root = 0; root < std::min(most_roots, static_cast<std::int32_t>(size)); ++root)
                calls_.push_back({call, root});
    }
    if (calls_.size() > most_calls) calls_.resize(most_calls);
}

std::uint64_t OrderedCalls::word_of(const OrderedCall& call) const {
    const Call& row = job_.calls[call.call];
    return row.order_word + (row.has_root ? static_cast<std::uint64_t>(std::int64_t{call.root}) : 0);
}

std::uint64_t OrderedCalls::after(std::uint64_t order, const OrderedCall& call) const {
    return order * order_factor + word_of(call);
}

std::optional<OrderedCall> OrderedCalls::between(std::uint64_t before, std::uint64_t after) const {
    const std::uint64_t word = after - before * order_factor;
    for (const OrderedCall& call : calls_)
        if (word_of(call) == word) return call;
    return std::nullopt;
}

std::optional<OrderedCalls::Parting> OrderedCalls::parting(std::uint64_t collectives, std::uint64_t one,
                                                           std::uint64_t other) const {
    struct Pair {
        OrderedCall one, other;
        bool are_swapped = false, is_ambiguous = false;
    };
    std::unordered_map<std::uint64_t, Pair> differences;
    // Roots of one call differ as those of another do: then the call is not known, or the roots are not.
    const auto note = [&](std::uint64_t difference, const Pair& pair) {
        const auto [found, is_new] = differences.try_emplace(difference, pair);
        if (is_new) return;
        Pair& known = found->second;
        known.is_ambiguous |= known.one.call != pair.one.call || known.other.call != pair.other.call;
        if (known.one.root != pair.one.root) known.one.root = any_rank;
        if (known.other.root != pair.other.root) known.other.root = any_rank;
    };
    for (const OrderedCall& a : calls_)
        for (const OrderedCall& b : calls_) {
            const std::uint64_t difference = word_of(a) - word_of(b);
            if (difference == 0) continue;
            note(difference, {a, b, false});
            note(difference * (order_factor - 1), {a, b, true});
        }
    std::uint64_t difference = one - other;
    for (std::uint64_t since = 0; since < std::min(collectives, most_steps); ++since) {
        if (const auto found = differences.find(difference); found != differences.end()) {
            const Pair& pair = found->second;
            if (pair.is_ambiguous) return std::nullopt;
            return Parting{.at = collectives - since - (pair.are_swapped ? 1 : 0),
                           .one = pair.one,
                           .other = pair.other,
                           .are_swapped = pair.are_swapped};
        }
        difference *= inverse_of(order_factor);
    }
    return std::nullopt;
}

bool are_alike(const OrderedStep& a, const OrderedStep& b) {
    return a.word == b.word && a.root == b.root && a.given == b.given;
}

const OrderedStep* step_at(std::span<const OrderedStep> steps, std::uint64_t number) {
    const auto at = std::lower_bound(steps.begin(), steps.end(), number,
                                     [](const OrderedStep& step, std::uint64_t n) { return step.number < n; });
    return at != steps.end() && at->number == number ? &*at : nullptr;
}

std::optional<Difference> first_difference(std::span<const OrderedStep> one, std::span<const OrderedStep> other) {
    std::uint64_t first = 0;
    for (const OrderedStep& step : one) {
        const OrderedStep* same_number = step_at(other, step.number);
        if (!same_number) continue;
        if (are_alike(step, *same_number)) {
            first = step.number + 1;
            continue;
        }
        const OrderedStep *next = step_at(one, step.number + 1), *others_next = step_at(other, step.number + 1);
        return Difference{
            .one = step,
            .other = *same_number,
            .first = first,
            .are_swapped = next && others_next && are_alike(step, *others_next) && are_alike(*next, *same_number)};
    }
    return std::nullopt;
}

const OrderedStep* first_lacking(const OrderOfMembers& one, const OrderOfMembers& other) {
    const OrderOfMembers& longer = one.collectives > other.collectives ? one : other;
    const OrderOfMembers& shorter = &longer == &one ? other : one;
    const std::uint64_t number = shorter.collectives;
    const bool is_known = number == 0 || (step_at(longer.steps, number - 1) && step_at(shorter.steps, number - 1));
    return is_known ? step_at(longer.steps, number) : nullptr;
}

}  // namespace mpiprof::report
