// One sentence for each verdict.
#include "report/compare/difference_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
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

bool are_whole(const Side& side) { return std::all_of(side.runs.begin(), side.runs.end(), is_whole); }

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

}  // namespace mpiprof::report
