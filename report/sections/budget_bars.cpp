// One scale for all bars: each is the whole run of its rank.
#include "report/sections/budget_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/budget_words.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

// It is said that ranks lacked a processor, inside MPI too: then some of what looks like waiting for others is that.
bool may_lack_processors_inside(const Analysed& all) {
    return std::ranges::any_of(all.verdicts(), [](const Verdict& verdict) {
        const auto* crowd = std::get_if<evidence::Crowded>(&verdict.finding.evidence);
        return crowd && !crowd->is_outside;
    });
}

}  // namespace

StackedBar bar_of(const Budget& budget, const Analysed& all) {
    StackedBar bar{.label_id = "part", .share_id = "share", .segments = {}};
    const Vocabulary& words = vocabulary_of(all.job);
    const double run = budget.run();
    const auto add = [&](Part part, std::string text) {
        if (run <= 0) return;  // nothing has no parts
        const double ns = part == Part::profiler ? budget.profiler_in_run() : budget.of(part);
        bar.segments.push_back({{std::string(id_of(part)), std::move(text)}, std::max(ns, 0.0) / run});
    };
    const auto line = [&](Part part) { add(part, line_of(part, words)); };
    add(Part::computing,
        all.figures().may_be_beside() ? fmt::format("main thread outside {}", words.library) : "computing");
    line(Part::blocked);
    const bool is_bound = !all.figures().is_waiting_known() && budget.of(Part::waiting) >= 0.0005 * run;
    add(Part::waiting, line_of(Part::waiting, words) + (may_lack_processors_inside(all) ? " or for a CPU" : "") +
                           (is_bound ? ", at most" : ""));
    line(Part::moving);
    add(Part::waiting_or_moving, "waiting or moving");
    for (const Part part : {Part::processor, Part::file, Part::other, Part::unreturned, Part::profiler}) line(part);
    return bar;
}

namespace {

// A share of a rank's run, over the ranks.
struct ShareSpread {
    double least = 0, most = 0;
    std::uint32_t least_rank = 0, most_rank = 0;
};

ShareSpread shares_of(const Job& job, double (*share)(const Rank& rank)) {
    ShareSpread spread;
    bool is_first = true;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.recorded_ns() == 0) continue;
        const double value = share(rank) / static_cast<double>(rank.recorded_ns());
        if (is_first || value < spread.least) spread = {value, spread.most, rank.rank, spread.most_rank};
        if (is_first || value > spread.most) spread = {spread.least, value, spread.least_rank, rank.rank};
        is_first = false;
    }
    return spread;
}

// Limits: the POP project calls efficiencies above 80 % acceptable; a tenth of the run lost is what most centres look
// into.
struct Glance {
    std::string id, what;
    double value;
    double good, poor;  // from here on, as far as is larger or smaller
    ShareSpread spread;
    std::string of;  // what the ranks' shares are

    std::string word() const {
        const double shown = std::round(1000 * value) / 1000;  // 60.0 % is not below 60 %
        const bool more_is_good = good > poor;
        if (more_is_good ? shown >= good : shown <= good) return "good";
        return (more_is_good ? shown < poor : shown > poor) ? "poor" : "fair";
    }
    std::string limits() const { return fmt::format("good {:.0f}%, poor {:.0f}%", 100 * good, 100 * poor); }
};

std::vector<Glance> glances_of(const Analysed& all) {
    const Job& job = all.job;
    const Budget& budget = all.budget();
    const double run = budget.run();
    if (!all.figures().efficiency || all.completeness().unfinished != 0 || run <= 0) return {};
    const Efficiency& efficiency = *all.figures().efficiency;
    const ShareSpread outside = shares_of(job, [](const Rank& rank) { return static_cast<double>(rank.outside_ns()); });
    const std::string library(vocabulary_of(job).library);
    std::vector<Glance> glances{
        {"parallel", "parallel efficiency", efficiency.parallel, 0.8, 0.6, outside, "outside " + library},
        {"load_balance", "load balance", efficiency.load_balance, 0.8, 0.6, outside, "outside " + library}};
    // Where the two are not separated, the bar says so.
    if (budget.of(Part::waiting_or_moving) > 0.05 * run) return glances;
    glances.push_back({"waiting", "waiting for other ranks", budget.of(Part::waiting) / run, 0.1, 0.25,
                       shares_of(job, [](const Rank& rank) { return budget_of(rank).of(Part::waiting); }), "waiting"});
    glances.push_back({"moving", "moving data", budget.of(Part::moving) / run, 0.1, 0.25,
                       shares_of(job, [](const Rank& rank) { return budget_of(rank).of(Part::moving); }),
                       "moving data"});
    return glances;
}

}  // namespace

std::vector<Table> bars_of_ends(const Analysed& all) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    const std::string library(vocabulary_of(job).library);
    std::vector<Table> tables;
    // Three bars that look the same would only be looked at for their difference.
    const double run = all.budget().run(),
                 spread = static_cast<double>(figures.outside.most.ns) - static_cast<double>(figures.outside.least.ns);
    if (spread < 0.05 * run) return tables;
    const auto add = [&](const char* id, const Spread::At& at, const std::string& where) {
        const Rank* rank = job.find(at.rank);
        if (job.ranks.size() < 2 || !rank || !rank->has_profile) return;
        const Budget budget = budget_of(*rank);
        const auto ns = static_cast<double>(at.ns);
        tables.push_back(picture_table(id, bar_of(budget, all),
                                       fmt::format("Rank {}: most time {}, {} of its {}", at.rank, where,
                                                   human_time(ns), human_time(budget.run()))));
    };
    add("most_outside", figures.outside.most, "outside " + library);
    if (figures.in_mpi.most.rank != figures.outside.most.rank) add("most_inside", figures.in_mpi.most, "in " + library);
    return tables;
}

Table standing_table(const Analysed& all) {
    using L = const Glance&;
    const auto rank = [](std::uint32_t number) { return Value(std::uint64_t{number}); };
    return table_of(
        "standing",
        std::vector<Field<Glance>>{
            {{.id = "figure", .title = "AT A GLANCE"},
             [](L l) {
                 return Named{l.id, l.what};
             }},
            {{.id = "share", .title = "SHARE", .unit = Unit::share}, [](L l) { return l.value; }},
            {bar(3, Draw::full_bar), [](L l) { return l.value; }},
            {{.id = "rating", .title = "RATING"}, [](L l) { return l.word(); }},
            {{.id = "limits", .title = "LIMITS", .drop = 2}, [](L l) { return l.limits(); }},
            {{.id = "of", .title = "PER RANK", .drop = 1}, [](L l) { return l.of; }},
            {{.id = "least", .title = "MIN", .unit = Unit::share}, [](L l) { return l.spread.least; }},
            {{.id = "least_rank", .title = "RANK", .unit = Unit::rank}, [&](L l) { return rank(l.spread.least_rank); }},
            {{.id = "most", .title = "MAX", .unit = Unit::share}, [](L l) { return l.spread.most; }},
            {{.id = "most_rank", .title = "RANK", .unit = Unit::rank}, [&](L l) { return rank(l.spread.most_rank); }},
        },
        glances_of(all));
}

}  // namespace mpiprof::report
