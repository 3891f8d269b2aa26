// What is kept of the collectives are single ones, whose numbers are known: with steps of p collectives, those whose
// numbers leave the same remainder by p are the same call from the same place.
#include "report/analysis/steps.h"

#include <algorithm>
#include <map>
#include <span>

namespace mpiprof::report {
namespace {

constexpr std::uint64_t longest_step = 256;  // collectives
constexpr std::size_t least_calls = 32;      // that are kept
constexpr std::size_t calls_a_position = 4;  // on average, else chance finds an order where there is none
constexpr double least_agreement = 0.98;     // of the calls with the order
constexpr double least_better = 0.9;         // of what is not explained by the most frequent call alone
constexpr std::uint64_t least_steps = 8;
constexpr std::size_t most_parts = 64;
constexpr double slower = 1.25;  // than the median part

using Calls = std::span<const PacedCall>;

// Begins and ends of a program are not as its loop is.
Calls without_ends(Calls calls) {
    return calls.subspan(calls.size() / 16, calls.size() - calls.size() / 16 - calls.size() / 32);
}

// How many of them are as most are at their position in a step.
std::size_t agreeing(Calls calls, std::uint64_t step) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> times;
    for (const PacedCall& call : calls) ++times[{call.number % step, call.place}];
    std::map<std::uint64_t, std::size_t> most;
    for (const auto& [key, n] : times) most[key.first] = std::max(most[key.first], n);
    std::size_t sum = 0;
    for (const auto& [position, n] : most) sum += n;
    return sum;
}

std::optional<std::uint64_t> length_of_step(Calls calls, std::uint64_t collectives) {
    if (calls.size() < least_calls) return std::nullopt;
    const auto all = static_cast<double>(calls.size());
    const auto by_one = static_cast<double>(agreeing(calls, 1));
    if (by_one == all) return 1;
    const std::uint64_t most = std::min({longest_step, calls.size() / calls_a_position, collectives / least_steps});
    for (std::uint64_t step = 2; step <= most; ++step) {
        const auto same = static_cast<double>(agreeing(calls, step));
        if (same >= least_agreement * all && same - by_one >= least_better * (all - by_one)) return step;
    }
    return std::nullopt;
}

std::vector<std::uint16_t> calls_of_step(Calls calls, std::uint64_t step) {
    std::map<std::uint64_t, std::map<std::uint16_t, std::size_t>> seen;
    for (const PacedCall& call : calls) ++seen[call.number % step][call.call];
    std::vector<std::uint16_t> result;
    for (const auto& [position, times] : seen)
        result.push_back(std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
                             return a.second < b.second;
                         })->first);
    return result;
}

Steps::Part part_between(const PacedCall& first, const PacedCall& last, std::uint64_t step) {
    const auto steps = static_cast<double>(last.number - first.number) / static_cast<double>(step);
    const auto time = static_cast<double>(last.begin_ns - first.begin_ns);
    return {static_cast<double>(first.begin_ns), static_cast<double>(last.begin_ns), time / steps};
}

// One step at least lies between the ends of a part.
std::vector<Steps::Part> parts_of(Calls calls, std::uint64_t step) {
    std::vector<Steps::Part> parts;
    const std::uint64_t all = calls.back().number - calls.front().number;
    const std::uint64_t each = std::max(step, (all + most_parts - 1) / most_parts);
    const PacedCall* from = &calls.front();
    for (const PacedCall& call : calls)
        if (call.number - from->number >= each && call.begin_ns > from->begin_ns) {
            parts.push_back(part_between(*from, call, step));
            from = &call;
        }
    return parts;
}

std::vector<Steps::Part> slow_parts(const std::vector<Steps::Part>& parts, double median_ns) {
    std::vector<Steps::Part> slow;
    bool goes_on = false;
    for (const Steps::Part& part : parts) {
        const bool is_slow = part.step_ns > slower * median_ns;
        if (is_slow && goes_on) {
            Steps::Part& last = slow.back();
            const double steps =
                (last.end_ns - last.begin_ns) / last.step_ns + (part.end_ns - part.begin_ns) / part.step_ns;
            last.end_ns = part.end_ns;
            last.step_ns = (last.end_ns - last.begin_ns) / steps;
        } else if (is_slow) {
            slow.push_back(part);
        }
        goes_on = is_slow;
    }
    return slow;
}

}  // namespace

std::optional<Steps> steps_of(const Job& job) {
    const Pace& pace = job.pace;
    if (pace.calls.size() < least_calls) return std::nullopt;
    const Calls calls = without_ends(pace.calls);
    const auto step = length_of_step(calls, pace.collectives);
    if (!step) return std::nullopt;
    Steps steps{
        .collectives = *step, .calls = calls_of_step(calls, *step), .parts = parts_of(calls, *step), .slow = {}};
    if (steps.parts.size() < 2) return std::nullopt;
    steps.steps = static_cast<double>(pace.collectives) / static_cast<double>(*step);
    steps.mean_ns = part_between(calls.front(), calls.back(), *step).step_ns;
    steps.of_part = static_cast<double>(calls.back().number - calls.front().number) /
                    static_cast<double>(steps.parts.size()) / static_cast<double>(*step);
    std::vector<double> each;
    for (const Steps::Part& part : steps.parts) each.push_back(part.step_ns);
    std::nth_element(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2), each.end());
    steps.median_ns = each[each.size() / 2];
    steps.slow = slow_parts(steps.parts, steps.median_ns);
    return steps;
}

}  // namespace mpiprof::report
