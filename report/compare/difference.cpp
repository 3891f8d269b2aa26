// Medians of both sides, beside each other.
#include "report/compare/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "report/model/joined.h"

namespace mpiprof::report {
namespace {

// Collects a number of each run under a key, and hands out the medians of both sides. What a run of a side has not is 0
// there, and what none of it has is empty.
template <class Key>
class Medians {
  public:
    Medians(const Side& a, const Side& b) : runs_{a.runs.size(), b.runs.size()} {}

    void add(const Key& key, bool is_b, std::size_t run, double value) {
        auto& values = values_[key][is_b];
        values.resize(runs_[is_b]);
        values[run] += value;
    }
    Both of(const Key& key) const {
        const auto found = values_.find(key);
        if (found == values_.end()) return {};
        const auto median = [](const std::vector<double>& values) {
            return values.empty() ? std::nullopt : std::optional(median_of(values));
        };
        return {median(found->second[0]), median(found->second[1])};
    }
    std::vector<Key> keys() const {
        std::vector<Key> keys;
        for (const auto& [key, values] : values_) keys.push_back(key);
        return keys;
    }

  private:
    std::size_t runs_[2];
    std::map<Key, std::array<std::vector<double>, 2>> values_;
};

template <class Take>
void each_run(const Side& a, const Side& b, Take take) {
    for (const bool is_b : {false, true}) {
        const std::vector<ComparedRun>& runs = (is_b ? b : a).runs;
        for (std::size_t i = 0; i < runs.size(); ++i) take(is_b, i, runs[i]);
    }
}

// ---- what explains it ----

FactValues values_of(const Side& side) {
    std::vector<const std::vector<RunFact>*> runs;
    for (const ComparedRun& one : side.runs) runs.push_back(&one.run.facts);
    return values_of(runs);
}

std::vector<DifferingFact> facts_of(const Side& a, const Side& b) {
    std::map<FactValues::key_type, std::array<std::vector<std::string>, 2>> values;
    for (const bool is_b : {false, true})
        for (auto& [key, seen] : values_of(is_b ? b : a)) values[key][is_b] = seen;
    std::vector<DifferingFact> facts;
    for (auto& [key, of] : values) {
        const std::set<std::string> in_a(of[0].begin(), of[0].end()), in_b(of[1].begin(), of[1].end());
        if (in_a != in_b) facts.push_back({key.first, key.second, joined(of[0], " | "), joined(of[1], " | ")});
    }
    return facts;
}

struct Count {
    std::uint64_t calls = 0, bytes = 0;
};

// Of one side: by function, over its runs.
std::map<std::string, std::pair<CountRange, CountRange>> counts_of(const Side& side) {
    std::map<std::string, std::vector<Count>> by_call;
    for (std::size_t i = 0; i < side.runs.size(); ++i)
        for (const RunCall& call : side.runs[i].run.calls) {
            std::vector<Count>& counts = by_call[call.call];
            counts.resize(side.runs.size());
            counts[i].calls += call.calls;
            counts[i].bytes += call.bytes;
        }
    std::map<std::string, std::pair<CountRange, CountRange>> ranges;
    for (const auto& [call, counts] : by_call) {
        CountRange calls{counts.front().calls, counts.front().calls}, bytes{counts.front().bytes, counts.front().bytes};
        for (const Count& count : counts) {
            calls = {std::min(calls.least, count.calls), std::max(calls.most, count.calls)};
            bytes = {std::min(bytes.least, count.bytes), std::max(bytes.most, count.bytes)};
        }
        ranges[call] = {calls, bytes};
    }
    return ranges;
}

bool are_apart(const CountRange& a, const CountRange& b) { return a.most < b.least || b.most < a.least; }

// Where the counts of the two sides lie apart. Those that vary from run to run, and overlap, say nothing.
void add_counts(RunDifference& difference, const Side& a, const Side& b) {
    const auto in_a = counts_of(a), in_b = counts_of(b);
    std::map<std::string, DifferingCount> all;
    for (const auto& [call, ranges] : in_a) all[call] = {call, ranges.first, {}, ranges.second, {}};
    for (const auto& [call, ranges] : in_b) {
        DifferingCount& count = all[call];
        count.call = call;
        count.calls_b = ranges.first;
        count.bytes_b = ranges.second;
    }
    for (const auto& [call, count] : all) {
        for (const CountRange* range : {&count.calls_a, &count.calls_b, &count.bytes_a, &count.bytes_b})
            difference.has_counts_that_vary |= range->varies();
        if (are_apart(count.calls_a, count.calls_b) || are_apart(count.bytes_a, count.bytes_b))
            difference.counts.push_back(count);
    }
    const auto distance = [](const DifferingCount& count) {
        const auto apart = [](const CountRange& x, const CountRange& y) {
            return static_cast<double>(std::max(x.most, y.most) - std::min(x.least, y.least));
        };
        return std::pair(apart(count.bytes_a, count.bytes_b), apart(count.calls_a, count.calls_b));
    };
    std::stable_sort(difference.counts.begin(), difference.counts.end(),
                     [&](const DifferingCount& x, const DifferingCount& y) { return distance(x) > distance(y); });
}

// ---- what is tested ----

std::vector<double> times_of(const Side& side, const TimeChoice& time, std::vector<double>& moments) {
    std::vector<double> times;
    for (const ComparedRun& one : side.runs) {
        const auto seconds = seconds_of(one.run, time);
        if (!seconds || one.run.ending != Ending::whole) continue;
        times.push_back(*seconds);
        if (one.run.started_at_ns != 0) moments.push_back(static_cast<double>(one.run.started_at_ns));
    }
    return times;
}

TimeVerdict verdict_of(const TestedTime& tested, const std::vector<double>& moments_a,
                       const std::vector<double>& moments_b) {
    if (!tested.has_ratio()) return TimeVerdict::no_time;
    if (tested.a.size() == 1 || tested.b.size() == 1) return TimeVerdict::one_run;
    if (!tested.ratio.is_known()) return TimeVerdict::too_few;
    // Of runs that do not say when they were, nobody knows.
    const bool are_known = moments_a.size() == tested.a.size() && moments_b.size() == tested.b.size();
    if (!are_known || !took_turns(moments_a, moments_b)) return TimeVerdict::not_in_turns;
    if (!tested.ratio.excludes(1)) return TimeVerdict::none_seen;
    return tested.ratio.estimate > 1 ? TimeVerdict::slower : TimeVerdict::faster;
}

bool marks_iterations(const Side& side) {
    return std::ranges::all_of(side.runs, [](const ComparedRun& one) { return iterations_of(one.run) != nullptr; });
}

TestedTime tested_time(const Side& a, const Side& b, const std::optional<TimeChoice>& asked) {
    TestedTime tested{.time = asked.value_or(TimeChoice{}), .a = {}, .b = {}};
    if (!asked && marks_iterations(a) && marks_iterations(b)) tested.time.kind = TimeChoice::Kind::iteration;
    std::vector<double> moments_a, moments_b;
    tested.a = times_of(a, tested.time, moments_a);
    tested.b = times_of(b, tested.time, moments_b);
    tested.ratio = ratio_of(tested.a, tested.b);
    tested.verdict = verdict_of(tested, moments_a, moments_b);
    // Medians over jobs of 1, 2 and 4 ranks say nothing of either.
    if (tested.has_ratio() && (a.has_mixed_sizes() || b.has_mixed_sizes())) tested.verdict = TimeVerdict::mixed_sizes;
    return tested;
}

// ---- what attributes it ----

std::vector<DifferingPart> parts_of(const Side& a, const Side& b) {
    Medians<Part> ns(a, b);
    each_run(a, b, [&](bool is_b, std::size_t i, const ComparedRun& one) {
        for (const Part part : all_parts())
            if (const auto known = one.run.budget[part]) ns.add(part, is_b, i, *known);
    });
    std::vector<DifferingPart> parts;
    for (const Part part : ns.keys())
        if (const Both both = ns.of(part); both.of_a() > 0 || both.of_b() > 0) parts.push_back({part, both});
    return parts;
}

// By how far their times lie apart.
template <class T>
void sort_by_difference(std::vector<T>& list, Both T::*member) {
    std::stable_sort(list.begin(), list.end(), [&](const T& x, const T& y) {
        return std::abs((x.*member).difference()) > std::abs((y.*member).difference());
    });
}

Both ratio_of_both(const Both& over, const Both& under, double factor = 1) {
    const auto divided = [&](const std::optional<double>& x, const std::optional<double>& y) {
        return x && y && *x > 0 && *y > 0 ? std::optional(factor * *x / *y) : std::nullopt;
    };
    return {divided(over.a, under.a), divided(over.b, under.b)};
}

std::vector<DifferingCall> calls_of(const Side& a, const Side& b) {
    using Key = std::tuple<std::string, std::uint8_t, Buffer>;
    Medians<Key> calls(a, b), bytes(a, b), ns(a, b), all_ns(a, b), gpu_ns(a, b), gpu_all_ns(a, b), gpu_bytes(a, b);
    each_run(a, b, [&](bool is_b, std::size_t i, const ComparedRun& one) {
        for (const RunCall& call : one.run.calls) {
            if (!call.is_timed) continue;
            const Key key{call.call, call.bin, call.buffer};
            calls.add(key, is_b, i, static_cast<double>(call.calls));
            bytes.add(key, is_b, i, static_cast<double>(call.bytes));
            ns.add(key, is_b, i, one.run.per_rank_s(call.time_ns) * 1e9);
            if (!call.is_posted) all_ns.add(key, is_b, i, static_cast<double>(call.time_ns));
            if (call.gpu_ns == 0) continue;
            gpu_ns.add(key, is_b, i, one.run.per_rank_s(call.gpu_ns) * 1e9);
            gpu_all_ns.add(key, is_b, i, static_cast<double>(call.gpu_ns));
            gpu_bytes.add(key, is_b, i, static_cast<double>(call.gpu_bytes));
        }
    });
    std::vector<DifferingCall> list;
    for (const Key& key : calls.keys())
        list.push_back({.call = std::get<0>(key),
                        .bin = std::get<1>(key),
                        .buffer = std::get<2>(key),
                        .calls = calls.of(key),
                        .size = ratio_of_both(bytes.of(key), calls.of(key)),
                        .ns = ns.of(key),
                        .rate = ratio_of_both(bytes.of(key), all_ns.of(key), 1e9),
                        .gpu_ns = gpu_ns.of(key),
                        .gpu_rate = ratio_of_both(gpu_bytes.of(key), gpu_all_ns.of(key), 1e9)});
    sort_by_difference(list, &DifferingCall::ns);
    return list;
}

std::vector<DifferingSite> sites_of(const Side& a, const Side& b) {
    using Key = std::pair<std::string, std::string>;
    Medians<Key> calls(a, b), ns(a, b);
    each_run(a, b, [&](bool is_b, std::size_t i, const ComparedRun& one) {
        for (const RunSite& site : one.detail.sites) {
            calls.add({site.call, site.place}, is_b, i, static_cast<double>(site.calls));
            ns.add({site.call, site.place}, is_b, i, one.run.per_rank_s(site.time_ns) * 1e9);
        }
    });
    std::vector<DifferingSite> list;
    for (const Key& key : calls.keys()) list.push_back({key.first, key.second, calls.of(key), ns.of(key)});
    sort_by_difference(list, &DifferingSite::ns);
    return list;
}

void add_pairs(RunDifference& difference, const Side& a, const Side& b) {
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    Medians<Key> messages(a, b), bytes(a, b);
    Medians<int> all(a, b), between(a, b);
    each_run(a, b, [&](bool is_b, std::size_t i, const ComparedRun& one) {
        all.add(0, is_b, i, static_cast<double>(one.detail.pair_bytes));
        between.add(0, is_b, i, static_cast<double>(one.detail.between_nodes));
        if (difference.are_other_sizes) return;
        for (const RunPair& pair : one.detail.pairs) {
            messages.add({pair.from, pair.to}, is_b, i, static_cast<double>(pair.messages));
            bytes.add({pair.from, pair.to}, is_b, i, static_cast<double>(pair.bytes));
        }
    });
    difference.bytes_of_pairs = all.of(0);
    difference.bytes_between_nodes = between.of(0);
    for (const Key& key : bytes.keys()) {
        const DifferingPair pair{key.first, key.second, messages.of(key), bytes.of(key)};
        if (pair.bytes.difference() != 0 || pair.messages.difference() != 0) difference.pairs.push_back(pair);
    }
    sort_by_difference(difference.pairs, &DifferingPair::bytes);
}

std::vector<DifferingRegion> regions_of(const Side& a, const Side& b) {
    using Key = std::pair<std::string, bool>;
    Medians<Key> times(a, b), ns(a, b), mpi(a, b), p50(a, b), p95(a, b);
    each_run(a, b, [&](bool is_b, std::size_t i, const ComparedRun& one) {
        for (const RegionRow& row : one.run.regions) {
            if (row.path.empty() || row.ranks == 0 || row.entered == 0) continue;
            const Key key{row.path, row.is_iteration};
            const double parts = row.is_iteration ? static_cast<double>(row.entered) : row.ranks;
            times.add(key, is_b, i, static_cast<double>(row.entered) / row.ranks);
            ns.add(key, is_b, i, static_cast<double>(row.time_ns) / parts);
            // Marks hold no calls: what was done between them belongs to the regions around them.
            if (!row.is_iteration) mpi.add(key, is_b, i, static_cast<double>(row.inner_mpi_ns) / parts);
            if (row.p50_ns) p50.add(key, is_b, i, *row.p50_ns);
            if (row.p95_ns) p95.add(key, is_b, i, *row.p95_ns);
        }
    });
    std::vector<DifferingRegion> list;
    for (const Key& key : ns.keys())
        list.push_back({key.first, key.second, times.of(key), ns.of(key), mpi.of(key), p50.of(key), p95.of(key)});
    return list;
}

}  // namespace

std::pair<std::uint32_t, std::uint32_t> Side::fewest_and_most_ranks() const {
    const auto [fewest, most] = std::minmax_element(
        runs.begin(), runs.end(), [](const ComparedRun& x, const ComparedRun& y) { return x.run.ranks < y.run.ranks; });
    return {fewest->run.ranks, most->run.ranks};
}

Gate gate_of(const TestedTime& tested, double share) {
    if (!tested.is_certain()) return Gate::cannot_tell;
    if (*tested.ratio.low > 1 + share) return Gate::failed;
    return *tested.ratio.high <= 1 + share ? Gate::passed : Gate::cannot_tell;
}

RunDifference difference_of(const Side& a, const Side& b, const std::optional<TimeChoice>& time) {
    const ComparedRun &first_a = a.runs.front(), &first_b = b.runs.front();
    RunDifference difference{.facts = facts_of(a, b),
                             .counts = {},
                             .tested = tested_time(a, b, time),
                             .parts = parts_of(a, b),
                             .calls = calls_of(a, b),
                             .sites = sites_of(a, b),
                             .pairs = {},
                             .bytes_between_nodes = {},
                             .bytes_of_pairs = {},
                             .regions = regions_of(a, b)};
    difference.is_same_run = a.runs.size() == 1 && b.runs.size() == 1 && first_a.detail.source == first_b.detail.source;
    // mpitrace's text names none.
    const std::string &program_a = first_a.detail.program, &program_b = first_b.detail.program;
    difference.are_other_programs = !program_a.empty() && !program_b.empty() && program_a != program_b;
    difference.are_other_sizes = first_a.run.ranks != first_b.run.ranks;
    add_counts(difference, a, b);
    add_pairs(difference, a, b);
    std::vector<double> runs;
    for (const ComparedRun& one : a.runs) runs.push_back(one.run.process_s * 1e9);
    difference.run_ns = median_of(std::move(runs));
    return difference;
}

}  // namespace mpiprof::report
