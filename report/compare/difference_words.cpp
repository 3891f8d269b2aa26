// One sentence for each verdict.
#include "report/compare/difference_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "report/model/units.h"

namespace mpiprof::report {
namespace {

bool is_whole(const ComparedRun& one) {
    return one.run.ending == Ending::whole && one.run.profiles >= one.run.expected;
}

// "is slower than before by 9.8%"
std::string change_words(double ratio, const std::string& than) {
    if (std::abs(ratio - 1) < 0.0005) return "takes as long as " + than;
    return fmt::format("is {} than {} by {:.1f}%", ratio > 1 ? "slower" : "faster", than, 100 * std::abs(ratio - 1));
}

}  // namespace

std::string time_name(const TimeChoice& time) {
    switch (time.kind) {
        case TimeChoice::Kind::process:
            return "wall time of the process";
        case TimeChoice::Kind::mpi:
            return "time from MPI_Init to MPI_Finalize";
        case TimeChoice::Kind::iteration:
            return "mean time of an iteration";
        case TimeChoice::Kind::region:
            return fmt::format("time in {}", time.region);
    }
    return "";
}

std::string signed_share(double share) { return fmt::format("{}{:.1f}%", share >= 0 ? "+" : "", 100 * share); }

bool are_whole(const Side& side) { return std::ranges::all_of(side.runs, is_whole); }

std::vector<std::string> cautions_of(const Side& a, const Side& b, const RunDifference& difference) {
    std::vector<std::string> texts;
    if (difference.is_same_run) texts.push_back("Both sides are the same run: there is nothing to compare.");
    if (difference.are_other_programs)
        texts.push_back(
            fmt::format("These are different programs, {} and {}: only what they have in common can be compared.",
                        a.runs.front().detail.program, b.runs.front().detail.program));
    if (difference.are_other_sizes)
        texts.push_back(fmt::format(
            "{} against {}: times below are per rank, calls are over all ranks. How time depends on "
            "the number of ranks: mpiprof-report scaling.",
            plural(a.runs.front().run.ranks, "rank", "ranks"), plural(b.runs.front().run.ranks, "rank", "ranks")));
    // A run that is on both sides is told of once.
    std::set<std::pair<std::string, Ending>> ended;
    std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> partial;
    for (const Side* side : {&a, &b})
        for (const ComparedRun& one : side->runs) {
            if (one.run.ending != Ending::whole && ended.emplace(one.run.label, one.run.ending).second)
                texts.push_back(fmt::format(
                    "{} {}: its numbers are those up to then, and its time is not compared.", one.run.label,
                    one.run.ending == Ending::running ? "is still running"
                                                      : fmt::format("did not reach {}", one.run.words->finalize)));
            if (one.run.profiles < one.run.expected &&
                partial.emplace(one.run.label, one.run.profiles, one.run.expected).second)
                texts.push_back(fmt::format("{}: {} of {} ranks have a profile; its counts are of these only.",
                                            one.run.label, one.run.profiles, one.run.expected));
        }
    return texts;
}

std::string verdict_text(const TestedTime& tested, const std::string& a, const std::string& b) {
    const std::string what = time_name(tested.time);
    if (!tested.has_ratio())
        return fmt::format("{} has no run that reached its end with a {}: nothing can be compared.",
                           tested.a.empty() ? a : b, what);
    const std::string change = fmt::format("{}: {} {}", what, b, change_words(tested.ratio.estimate, a));
    const auto interval = [&] {
        return fmt::format("{} to {}", signed_share(*tested.ratio.low - 1), signed_share(*tested.ratio.high - 1));
    };
    switch (tested.verdict) {
        case TimeVerdict::slower:
        case TimeVerdict::faster:
            return fmt::format("{}; with 95% confidence {}.", change, interval());
        case TimeVerdict::none_seen:
            return fmt::format("{}, not significant: the 95% confidence interval of the change is {}.", change,
                               interval());
        case TimeVerdict::one_run:
            return fmt::format("{}. {}: significance cannot be assessed.", change,
                               tested.a.size() == 1 && tested.b.size() == 1 ? "One run each" : "One run on one side");
        case TimeVerdict::too_few:
            return fmt::format("{}. {} and {} runs: too few to assess significance; 5 of each are enough.", change,
                               tested.a.size(), tested.b.size());
        case TimeVerdict::not_in_turns:
            return fmt::format(
                "{}. The two sides did not take turns: the change cannot be separated from a drift over time; run "
                "A B B A A B B A ...",
                change);
        case TimeVerdict::mixed_sizes:
            return fmt::format(
                "{}. But the runs of a side have different sizes, so they are not repeats: compare runs with the same "
                "number of ranks, or their iterations size by size with --layout ddp.",
                change);
        case TimeVerdict::no_time:
            break;
    }
    return change + ".";
}

// ---- what the sides are called: from what users said to what they merely typed ----

namespace {

constexpr std::size_t least_beginning = 3;  // "a" of a1 and a2 says nothing to anybody

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool are_of_one_word(char x, char y) { return (is_digit(x) && is_digit(y)) || (is_letter(x) && is_letter(y)); }

const std::string& name_of(const ComparedRun& one) { return one.run.label; }

std::string shared_name(const Side& side) {
    const std::string& name = name_of(side.runs.front());
    const bool is_shared = std::ranges::all_of(side.runs, [&](const ComparedRun& one) { return name_of(one) == name; });
    return is_shared ? name : "";
}

// What the names have in common, to the end of a word: "tuned" of tuned-9 and tuned-10, "run" of run1 and run12.
std::string beginning_of(const Side& side) {
    std::string common = name_of(side.runs.front());
    for (const ComparedRun& one : side.runs) {
        const auto [end, other] = std::mismatch(common.begin(), common.end(), name_of(one).begin(), name_of(one).end());
        common.erase(end, common.end());
    }
    const auto goes_on = [&](std::size_t end) {
        return std::ranges::any_of(side.runs, [&](const ComparedRun& one) {
            return end < name_of(one).size() && are_of_one_word(name_of(one)[end - 1], name_of(one)[end]);
        });
    };
    while (!common.empty() && goes_on(common.size())) common.pop_back();
    while (!common.empty() && std::string_view("-_.,: ").find(common.back()) != std::string_view::npos)
        common.pop_back();
    return common.size() >= least_beginning ? common : "";
}

// The labels that all runs of a side agree in.
std::map<std::string, std::string> said_of(const Side& side) {
    std::map<std::string, std::set<std::string>> values;
    for (const ComparedRun& one : side.runs) {
        const std::map<std::string, std::string> said(one.run.said.begin(), one.run.said.end());
        for (const auto& [key, value] : said) values[key].insert(value);
    }
    std::map<std::string, std::string> agreed;
    for (const auto& [key, of] : values) {
        const auto says = [&key = key](const ComparedRun& one) {
            return std::ranges::any_of(one.run.said, [&](const auto& said) { return said.first == key; });
        };
        if (of.size() == 1 && std::ranges::all_of(side.runs, says)) agreed[key] = *of.begin();
    }
    return agreed;
}

// "bucket_size=25" and "bucket_size=1".
std::pair<std::string, std::string> names_by_labels(const Side& a, const Side& b) {
    const auto of_a = said_of(a), of_b = said_of(b);
    std::pair<std::string, std::string> names;
    for (const auto& [key, value] : of_a) {
        const auto other = of_b.find(key);
        if (other == of_b.end() || other->second == value) continue;
        names.first += fmt::format("{}{}={}", names.first.empty() ? "" : ", ", key, value);
        names.second += fmt::format("{}{}={}", names.second.empty() ? "" : ", ", key, other->second);
    }
    return names;
}

}  // namespace

void name_sides(Side& a, Side& b) {
    a.name = shared_name(a);
    b.name = shared_name(b);
    const bool have_shared = !a.name.empty() && !b.name.empty();
    if (a.name == b.name)
        if (auto said = names_by_labels(a, b); !said.first.empty()) std::tie(a.name, b.name) = std::move(said);
    if (a.name.empty()) a.name = beginning_of(a);
    if (b.name.empty()) b.name = beginning_of(b);
    if (a.name == b.name && have_shared) {
        a.name += " (A)";
        b.name += " (B)";
    } else if (a.name == b.name) {
        a.name = b.name = "";
    }
    for (const auto& [side, letter] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
        side->is_named = !side->name.empty();
        if (!side->is_named) side->name = letter;
    }
}

}  // namespace mpiprof::report
