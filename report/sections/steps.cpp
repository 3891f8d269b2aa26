// steps: how fast the program went on, from start to end, where it marks no iterations itself: its steps are found from
// the order in which its collectives recur.
#include "report/analysis/steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/units.h"
#include "report/sections/comm_labels.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t calls_in_words = 4;

// "MPI_Allreduce (2), MPI_Bcast": what a step is made of.
std::string calls_in(const Steps& steps, const Job& job) {
    std::vector<std::pair<std::uint16_t, std::size_t>> calls;
    for (const std::uint16_t call : steps.calls) {
        const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& c) { return c.first == call; });
        if (found != calls.end())
            ++found->second;
        else
            calls.emplace_back(call, 1);
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(calls.size(), calls_in_words); ++i) {
        if (i != 0) text += ", ";
        text += job.calls[calls[i].first].name;
        if (calls[i].second > 1) text += fmt::format(" ({})", calls[i].second);
    }
    return calls.size() > calls_in_words ? text + " ..." : text;
}

Table step_table(const Steps& steps, const Job& job) {
    using S = const Steps&;
    const std::vector<Field<Steps>> fields{
        {{.id = "communicator", .title = "COMMUNICATOR", .drop = 2},
         [&](S) {
             return CommLabels(job).of({CommKind::known, job.pace.comm});
         }},
        {{.id = "steps", .title = "STEPS", .unit = Unit::count}, [](S s) { return s.steps; }},
        {{.id = "collectives", .title = "COLLECTIVES", .unit = Unit::count, .drop = 1},
         [](S s) { return s.collectives; }},
        {{.id = "mean_ns", .title = "MEAN", .unit = Unit::time, .same_unit = true}, [](S s) { return s.mean_ns; }},
        {{.id = "median_ns", .title = "MEDIAN", .unit = Unit::time, .same_unit = true},
         [](S s) { return s.median_ns; }},
        {{.id = "over_time", .title = "FROM START TO END", .draw = Draw::sparkline, .drop = 3, .only_screen = true},
         [](S s) {
             Series each;
             for (const Steps::Part& part : s.parts) each.push_back(part.step_ns);
             return each;
         }},
    };
    Table table = table_of("steps", fields, std::vector<Steps>{steps});
    table.notes.push_back(fmt::format("a step: {}; the same collectives in the same order, on rank {}",
                                      calls_in(steps, job), job.pace.rank));
    const auto [least, most] =
        std::minmax_element(steps.parts.begin(), steps.parts.end(),
                            [](const Steps::Part& a, const Steps::Part& b) { return a.step_ns < b.step_ns; });
    table.notes.push_back(fmt::format(
        "{} to {} in {} parts of the run, of {} steps each: shorter slow phases may not show",
        human_time(least->step_ns), human_time(most->step_ns), steps.parts.size(), human_number(steps.of_part)));
    return table;
}

Table part_table(const std::vector<Steps::Part>& parts, const Steps& steps, std::string id) {
    using P = const Steps::Part&;
    const std::vector<Field<Steps::Part>> fields{
        {{.id = "from_ns", .title = "FROM", .unit = Unit::time}, [](P p) { return p.begin_ns; }},
        {{.id = "to_ns", .title = "TO", .unit = Unit::time}, [](P p) { return p.end_ns; }},
        {{.id = "step_ns", .title = "PER STEP", .unit = Unit::time}, [](P p) { return p.step_ns; }},
        {{.id = "to_median", .title = "TO MEDIAN", .unit = Unit::number, .decimals = 2},
         [&](P p) { return ratio(p.step_ns, steps.median_ns); }},
    };
    return table_of(std::move(id), fields, parts);
}

}  // namespace

Result<std::vector<Table>> steps(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const bool is_marked =
        std::any_of(job.regions.begin(), job.regions.end(), [](const RegionRow& row) { return row.is_iteration; });
    const auto found = is_marked ? std::nullopt : steps_of(job);
    if (!found) {
        Table table{.id = "steps", .title = {}, .columns = {}, .rows = {}, .notes = {}};
        table.notes.push_back(is_marked ? "the program marks its iterations: mpiprof-report regions"
                                        : "no repeating pattern of collectives found; "
                                          "a program can mark its iterations (mpiprof.h)");
        return std::vector{std::move(table)};
    }
    std::vector<Table> tables{step_table(*found, job)};
    if (question.is_for_screen) {
        tables.push_back(part_table(found->slow, *found, "slow"));
        tables.back().title = "SLOW PHASES";
        if (!found->slow.empty())
            tables.back().notes.push_back("at least a quarter above the median; times are since the end of MPI_Init");
    } else {
        tables.push_back(part_table(found->parts, *found, "parts"));
        tables.push_back(part_table(found->slow, *found, "slow"));
    }
    return tables;
}

}  // namespace mpiprof::report
