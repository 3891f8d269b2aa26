// budget: where the time of the ranks went, from the start of the process to the end of MPI_Finalize, in parts that add
// up to all of it.
#include "report/analysis/budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/analysis/beside.h"
#include "report/analysis/figures.h"
#include "report/model/ratio.h"
#include "report/model/units.h"
#include "report/sections/budget_bars.h"
#include "report/sections/budget_words.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t ranks_on_screen = 32;

struct RankBudget {
    const Rank* rank;
    Budget budget;
};

std::vector<RankBudget> budgets_of(const Job& job, const Question& question) {
    std::vector<RankBudget> budgets;
    for (const Rank& rank : job.ranks)
        if (rank.has_profile && question.is_about(rank.rank)) budgets.push_back({&rank, budget_of(rank)});
    return budgets;
}

std::vector<Part> parts_in(const std::vector<RankBudget>& budgets) {
    std::vector<Part> parts;
    for (const Part part : all_parts())
        if (std::ranges::any_of(budgets, [&](const RankBudget& b) { return b.budget.has(part); }))
            parts.push_back(part);
    return parts;
}

double mean_total(const std::vector<RankBudget>& budgets) {
    double sum = 0;
    for (const RankBudget& one : budgets) sum += one.budget.total();
    return budgets.empty() ? 0 : sum / static_cast<double>(budgets.size());
}

// ---- one line a part ----

struct PartLine {
    Part part;
    double mean_ns = 0;
    Spread::At least, most;
};

PartLine part_line(Part part, const std::vector<RankBudget>& budgets) {
    PartLine line{.part = part, .least = {}, .most = {}};
    bool is_first = true;
    for (const RankBudget& one : budgets) {
        const double ns = one.budget.of(part);
        line.mean_ns += ns / static_cast<double>(budgets.size());
        const Spread::At at{whole_ns(ns), one.rank->rank};
        if (is_first || at.ns < line.least.ns) line.least = at;
        if (is_first || at.ns > line.most.ns) line.most = at;
        is_first = false;
    }
    return line;
}

Table parts_table(const std::vector<RankBudget>& budgets, const Job& job) {
    using L = const PartLine&;
    const Vocabulary& words = vocabulary_of(job);
    const double total = mean_total(budgets);
    const bool are_several = budgets.size() > 1;
    std::vector<PartLine> lines;
    for (const Part part : parts_in(budgets)) lines.push_back(part_line(part, budgets));
    const auto rank_of = [](const Spread::At& at) { return Value(std::uint64_t{at.rank}); };
    const std::vector<Field<PartLine>> fields{
        {{.id = "part", .title = "TIME PER RANK"},
         [&](L l) {
             return Named{std::string(id_of(l.part)), line_of(l.part, words)};
         }},
        {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .same_unit = true}, [](L l) { return l.mean_ns; }},
        {{.id = "share", .title = "SHARE", .unit = Unit::share}, [total](L l) { return ratio(l.mean_ns, total); }},
        {bar(3), [total](L l) { return ratio(l.mean_ns, total); }},
        {{.id = "least_ns",
          .title = "MIN",
          .unit = Unit::time,
          .drop = 2,
          .same_unit = true,
          .only_data = !are_several},
         [](L l) { return l.least.ns; }},
        {{.id = "least_rank", .title = "RANK", .unit = Unit::rank, .drop = 2, .only_data = !are_several},
         [&](L l) { return rank_of(l.least); }},
        {{.id = "most_ns", .title = "MAX", .unit = Unit::time, .drop = 1, .same_unit = true, .only_data = !are_several},
         [](L l) { return l.most.ns; }},
        {{.id = "most_rank", .title = "RANK", .unit = Unit::rank, .drop = 1, .only_data = !are_several},
         [&](L l) { return rank_of(l.most); }},
    };
    Table table = table_of("budget", fields, lines);
    table.notes.push_back(fmt::format("{} in all{}, from the start of the process to {}", human_time(total),
                                      are_several ? ", mean of the ranks" : "",
                                      job.is_without_mpi() ? "its end" : "the end of MPI_Finalize"));
    return table;
}

// ---- one line a rank ----

Result<Table> ranks_table(const std::vector<RankBudget>& budgets, const Job& job, const Question& question) {
    using L = const RankBudget&;
    const bool has_hosts = job.hosts.size() > 1;
    std::vector<Field<RankBudget>> fields{
        {{.id = "rank", .title = "RANK", .unit = Unit::rank}, [](L l) { return std::uint64_t{l.rank->rank}; }},
        {{.id = "host", .title = "HOST", .drop = 4, .only_data = !has_hosts},
         [&](L l) { return job.hosts[l.rank->host]; }},
        {{.id = "total_ns", .title = "ALL", .unit = Unit::time, .same_unit = true},
         [](L l) { return l.budget.total(); }}};
    for (const Part part : parts_in(budgets))
        fields.push_back({{.id = std::string(id_of(part)) + "_ns",
                           .title = std::string(column_of(part)),
                           .unit = Unit::time,
                           .drop = drop_of(part),
                           .same_unit = true},
                          [part](L l) { return known(l.budget[part]); }});
    Table table = table_of("ranks", fields, budgets);
    if (auto ok = sort_rows(table, question, "rank"); !ok) return tl::make_unexpected(ok.error());
    cut(table, question, ranks_on_screen, " ranks: budget --by rank");
    return table;
}

// ---- what the figures are, and are not ----

// How well the part of waiting is known.
std::string waiting_note(const std::vector<RankBudget>& budgets) {
    double judged = 0, compared = 0;
    for (const RankBudget& one : budgets) {
        judged += static_cast<double>(one.rank->judged_ns);
        compared += static_cast<double>(one.rank->compared_ns);
    }
    const std::string estimate = "an upper bound, the time above the fastest call of the same size";
    if (compared <= 0) return "waiting is an estimate: " + estimate;
    if (compared >= 0.999 * judged)
        return "waiting: until the last rank had entered a collective, measured on calls that all ranks sampled (arrivals)";
    return fmt::format(
        "waiting: {} of waiting and moving is in collectives that were compared (arrivals); otherwise {}",
        human_share(compared / judged), estimate);
}

void add_notes(Table& table, const std::vector<RankBudget>& budgets, const Job& job) {
    const auto mean = [&](Part part) { return part_line(part, budgets).mean_ns; };
    const auto any = [&](auto is) { return std::ranges::any_of(budgets, is); };
    const Vocabulary& words = vocabulary_of(job);
    if (mean(Part::waiting) > 0) table.notes.push_back(waiting_note(budgets));
    table.notes.push_back(fmt::format(
        "file I/O other than MPI-IO is included in {}computing{}", mean(Part::blocked) > 0 ? "blocked and " : "",
        mean(Part::processor) > 0
            ? "; inside " + std::string(words.library) + " a rank without a CPU counts as waiting or moving data"
            : ""));
    if (any([](const RankBudget& b) { return !b.budget[Part::processor]; }))
        table.notes.push_back(
            fmt::format("the time spent runnable without a CPU is not known: it is included in {}computing",
                        mean(Part::blocked) > 0 ? "blocked and " : ""));
    if (any([](const RankBudget& b) { return !b.budget[Part::before_init]; }))
        table.notes.push_back(fmt::format("process start is not known: time before {} is missing", words.init));
    std::uint64_t beside = 0;
    bool is_acting = false;
    for (const RankBudget& one : budgets) {
        const bool acts = whose_mpi(*one.rank) == WhoseMpi::acting;
        is_acting |= acts;
        beside += acts ? 0 : one.rank->mpi_other_thread_ns;
    }
    if (is_acting)
        table.notes.push_back(fmt::format(
            "the thread that calls {}, which is not the main one: it ran alone, or nearly so", words.library));
    if (beside > 0)
        table.notes.push_back(
            fmt::format("main thread only; other threads spent a further {1} in {0}", words.library,
                        human_time(static_cast<double>(beside) / static_cast<double>(budgets.size()))));
    if (any([](const RankBudget& b) { return b.rank->is_end_estimated; }))
        table.notes.push_back("some ranks were killed: their time ends at their last profile update");
}

}  // namespace

Result<std::vector<Table>> budget(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const std::vector<RankBudget> budgets = budgets_of(job, question);
    Table table = parts_table(budgets, job);
    if (question.by == "rank") {
        Result<Table> ranks = ranks_table(budgets, job, question);
        if (!ranks) return tl::make_unexpected(ranks.error());
        table = std::move(*ranks);
    } else if (!question.sort.empty()) {
        if (auto ok = sort_rows(table, question.sort); !ok) return tl::make_unexpected(ok.error());
    }
    if (question.by != "rank" && question.top) keep_top(table, *question.top);
    add_notes(table, budgets, job);
    std::vector<Table> tables{std::move(table)};
    if (question.by != "rank" && question.ranks.empty()) tables.push_back(standing_table(all));
    return tables;
}

}  // namespace mpiprof::report
