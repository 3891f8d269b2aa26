// The part `opposite_orders`: pairs of NCCL's communicators on which two ranks that are members of both have enqueued
// in opposite orders: a collective of the one came before one of the other on this rank, and behind it on that one. Of
// ranks that have enqueued alike on both one is kept. Only of ranks that are not finalized: what ended did not hang.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "report/merge/kept_steps.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_woven = 4;        // of a pair
constexpr std::size_t most_steps = 1 << 18;  // of all

bool are_times_known(const KeptCalls& kept) {
    return std::all_of(kept.calls.begin(), kept.calls.end(), [](const KeptCall& call) { return call.begin_ns != 0; });
}

const OrderedStep* step_of(const std::vector<OrderedStep>& steps, std::uint64_t number) {
    const auto at = std::find_if(steps.begin(), steps.end(), [&](const OrderedStep& s) { return s.number == number; });
    return at == steps.end() ? nullptr : &*at;
}

class OppositeOrdersPart {
  public:
    void add(const RankProfile& from);
    void absorb(OppositeOrdersPart&& other) {
        for (auto& [pair, known] : other.pairs_)
            for (auto& [key, woven] : known) take(pair, key, std::move(woven));
    }
    // Into Job::opposite_orders, places and modules.
    void finish(Finishing& end);

  private:
    // What one rank has enqueued on both. `before`: for each step of the first how many came before it on the second.
    struct Woven {
        std::uint32_t rank = 0;
        KeptSteps first, second;
        std::vector<std::uint64_t> before;
    };
    using Pair = std::pair<std::uint64_t, std::uint64_t>;  // ids, the lower one first
    static Woven weave(const RankProfile& from, const KeptCalls& first, const KeptCalls& second);
    void take(const Pair& pair, std::uint64_t key, Woven&& woven);

    std::map<Pair, std::map<std::uint64_t, Woven>> pairs_;  // by a hash of what was woven
    std::size_t steps_ = 0;
};

// Steps of the first that are older than all that is known of the second are left out.
OppositeOrdersPart::Woven OppositeOrdersPart::weave(const RankProfile& from, const KeptCalls& first,
                                                    const KeptCalls& second) {
    Woven woven{.rank = from.profile.rank, .first = {}, .second = kept_steps(from, second), .before = {}};
    KeptCalls known{.communicator = first.communicator, .calls = {}};
    for (const KeptCall& call : first.calls) {
        const auto later = std::partition_point(second.calls.begin(), second.calls.end(),
                                                [&](const KeptCall& other) { return other.begin_ns < call.begin_ns; });
        if (later == second.calls.begin() && later->number != 0) continue;
        known.calls.push_back(call);
        woven.before.push_back(later == second.calls.end() ? second.calls.back().number + 1 : later->number);
    }
    woven.first = kept_steps(from, known);
    return woven;
}

void OppositeOrdersPart::take(const Pair& pair, std::uint64_t key, Woven&& woven) {
    if (steps_ >= most_steps) return;
    const std::size_t steps = woven.first.steps.size() + woven.second.steps.size();
    std::map<std::uint64_t, Woven>& known = pairs_[pair];
    const auto [at, is_new] = known.try_emplace(key, std::move(woven));
    if (is_new)
        steps_ += steps;
    else if (woven.rank < at->second.rank)
        at->second = std::move(woven);
    if (known.size() <= most_woven) return;
    known.erase(std::max_element(known.begin(), known.end(),
                                 [](const auto& a, const auto& b) { return a.second.rank < b.second.rank; }));
}

void OppositeOrdersPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.state == State::finalized) return;
    for (const KeptCalls& first : profile.enqueued)
        for (const KeptCalls& second : profile.enqueued) {
            const std::uint64_t id = profile.communicators[first.communicator].id;
            const std::uint64_t other_id = profile.communicators[second.communicator].id;
            if (id == 0 || id >= other_id || !are_times_known(first) || !are_times_known(second)) continue;
            Woven woven = weave(from, first, second);
            std::uint64_t key = 0;
            for (std::size_t i = 0; i < woven.before.size(); ++i)
                key = mix(mix(key ^ (woven.first.steps[i].number + 1)) ^ (woven.before[i] + 1));
            take({id, other_id}, key, std::move(woven));
        }
}

void OppositeOrdersPart::finish(Finishing& end) {
    // One that has come before so many on this rank and before more on that one: between these the orders differ.
    const auto crossing = [&](const Woven& a, const Woven& b) -> std::optional<OppositeOrder::Side> {
        const std::vector<OrderedStep> firsts = steps_of(a.first, end), seconds = steps_of(a.second, end);
        for (std::size_t i = 0; i < firsts.size(); ++i)
            for (std::size_t k = 0; k < b.first.steps.size(); ++k) {
                if (firsts[i].number != b.first.steps[k].number || a.before[i] >= b.before[k]) continue;
                if (const OrderedStep* second = step_of(seconds, a.before[i]))
                    return OppositeOrder::Side{.rank = a.rank, .of_first = firsts[i], .of_second = *second};
            }
        return std::nullopt;
    };
    for (const auto& [pair, known] : pairs_) {
        OppositeOrder order{.first_id = pair.first, .second_id = pair.second};
        for (const auto& [key, one] : known)
            for (const auto& [other_key, other] : known) {
                const auto side = order.one.of_first.word == 0 ? crossing(one, other) : std::nullopt;
                if (!side) continue;
                order.one = *side;
                order.other.rank = other.rank;
                const auto firsts = steps_of(other.first, end), seconds = steps_of(other.second, end);
                if (const OrderedStep* first = step_of(firsts, side->of_first.number)) order.other.of_first = *first;
                if (const OrderedStep* second = step_of(seconds, side->of_second.number))
                    order.other.of_second = *second;
            }
        if (order.one.of_first.word != 0 && order.other.of_second.word != 0) end.job.opposite_orders.push_back(order);
    }
}

}  // namespace

std::unique_ptr<MergePart> opposite_orders_part() { return std::make_unique<PartOf<OppositeOrdersPart>>(); }

}  // namespace mpiprof::report
