// summary: the first thing people see: what ran, is the profile whole, where the MPI time went, how even the ranks
// are, and what deserves a look.
#include <algorithm>
#include <set>
#include <tuple>

#include "report/analysis/analysed.h"
#include "report/analysis/finding_fields.h"
#include "report/model/units.h"
#include "report/sections/budget_bars.h"
#include "report/sections/call_columns.h"
#include "report/sections/rule_words.h"
#include "report/sections/run_headline.h"
#include "report/sections/section.h"
#include "report/sections/verdict_table.h"
#include "report/sections/vocabulary.h"
#include "report/sections/words_of_gpu_times.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_top_rows = 8;
constexpr std::size_t problems_shown = 5;

// The calls that most of the MPI time is in: name and share, largest first.
std::vector<std::pair<double, std::string>> leading_calls(const Analysed& all) {
    const Job& job = all.job;
    std::vector<std::pair<double, std::string>> calls;
    std::vector<double> ns(job.calls.size());
    for (const Row& row : job.rows) ns[row.sum.call] += static_cast<double>(row.sum.time_ns);
    for (const Row& row : all.unfinished()) ns[row.sum.call] += static_cast<double>(row.sum.time_ns);
    for (std::size_t i = 0; i < ns.size(); ++i)
        if (ns[i] > 0) calls.emplace_back(ns[i] / static_cast<double>(all.figures().inside_ns()), job.calls[i].name);
    std::sort(calls.rbegin(), calls.rend());
    return calls;
}

// Of mpitrace's texts, which are of a few ranks.
std::string whose_calls(const Job& job, const Figures& figures) {
    if (figures.ranks != 1) return fmt::format("{} of {} ranks", human_count(figures.ranks), human_count(job.size));
    const auto it = std::find_if(job.ranks.begin(), job.ranks.end(), [](const Rank& rank) { return rank.has_profile; });
    return fmt::format("rank {}", it->rank);
}

std::string time_inside(const Analysed& all) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    const Vocabulary& words = vocabulary_of(job);
    const double share = figures.inside_share;
    const auto calls = leading_calls(all);
    if (figures.wall_ns == 0 && figures.inside_ns() != 0)
        return fmt::format("{} inside {}; the length of the run is not known",
                           human_time(static_cast<double>(figures.inside_ns()) / figures.ranks), words.library);
    if (figures.wall_ns == 0 || (calls.empty() && figures.unfinished_ns == 0))
        return fmt::format("No time in {} was recorded", words.library);
    std::string whole(figures.was_paused() ? "recorded time" : "run");
    if (job.is_text && figures.ranks < job.size) whole += " of " + whose_calls(job, figures);
    std::string text =
        figures.is_mpi_beside()
            ? fmt::format("{} is active for {} of the {}, on a thread other than the main thread", words.library,
                          human_share(share), whole)
            : fmt::format("{}{} of the {} is inside {}", at_least(job), human_share(share), whole, words.library);
    if (share < 0.01 || calls.empty()) return text;
    if (figures.unfinished_ns > figures.mpi_ns) return text + ", mostly in calls that have not returned";
    if (calls[0].first >= 0.9)
        text += ", nearly all in " + calls[0].second;
    else if (calls[0].first >= 0.5)
        text += ", mostly in " + calls[0].second;
    else if (calls.size() > 1 && calls[0].first + calls[1].first >= 0.5)
        text += fmt::format(", mostly in {} and {}", calls[0].second, calls[1].second);
    else if (calls.size() > 2 && calls[0].first + calls[1].first + calls[2].first >= 0.5)
        text += fmt::format(", mostly in {}, {} and {}", calls[0].second, calls[1].second, calls[2].second);
    return text;
}

// Of the bar, of %WALL and of what sentences say.
std::string what_shares_are_of(const Budget& budget, const Figures& figures, const Vocabulary& words) {
    const std::string whole = figures.was_paused() ? "recorded time, without pauses" : "the run";
    const std::string from = budget.has(Part::finalize) ? fmt::format("{} to {}", words.begin, words.end)
                                                        : fmt::format("from {} on", words.init);
    return fmt::format("bar and %WALL: {}, {}", whole, from);
}

// The budget of all ranks together, from the end of MPI_Init to MPI_Finalize.
Table share_bar(const Analysed& all, const Question& question) {
    Table table = picture_table("shares", bar_of(all.budget(), all), time_inside(all));
    if (table.is_empty())
        table.notes.push_back("the length of the run is not known");
    else if (question.wants_details)
        table.notes.push_back(what_shares_are_of(all.budget(), all.figures(), vocabulary_of(all.job)));
    return table;
}

// The rows of timed calls that are worth a line, those with most time first.
std::vector<Row> top_rows(const Analysed& all, std::optional<std::size_t> asked) {
    const Job& job = all.job;
    std::vector<Row> rows;
    for (const Row& row : job.rows)
        if (job.calls[row.sum.call].treatment == Treatment::timed && row.sum.calls != 0) rows.push_back(row);
    rows.insert(rows.end(), all.unfinished().begin(), all.unfinished().end());
    const auto timed_ns = [](const Row& row) { return row.sum.is_untimed() ? 0 : row.sum.time_ns; };
    std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        return std::tuple(timed_ns(a), a.sum.calls) > std::tuple(timed_ns(b), b.sum.calls);
    });
    // Below a thousandth of the run a line says nothing; three are shown to see what there is.
    std::size_t worth = 0;
    while (worth < rows.size() && worth < most_top_rows &&
           (worth < 3 || all.figures().share_of_wall(timed_ns(rows[worth])) >= 0.001))
        ++worth;
    rows.resize(std::min(rows.size(), asked.value_or(worth)));
    return rows;
}

// Where a column says nothing of all rows, it is left to csv and json.
bool has_device_buffers(const Job& job) {
    return std::ranges::any_of(job.rows, [&](const Row& row) {
        return row.sum.buffer != Buffer::host && row.sum.calls != 0 &&
               job.calls[row.sum.call].treatment == Treatment::timed;
    });
}

// How many calls are not shown, and what the columns are.
void explain_top(Table& table, const Analysed& all, bool wants_details) {
    const Job& job = all.job;
    const std::uint32_t ranks = all.figures().ranks;
    const auto rows = all.unfinished().size() +
                      static_cast<std::size_t>(std::count_if(job.rows.begin(), job.rows.end(),
                                                             [](const Row& row) { return row.sum.calls != 0; }));
    Note note{};
    if (wants_details && ranks > 1)
        note.parts = {{fmt::format("CALLS: all ranks together; TIME: mean of {} ranks", human_count(ranks))},
                      {"the rank with most time", "largest_ns"}};
    else if (ranks > 1)
        note.parts = {{"CALLS: of all ranks; TIME: their mean"}};
    else if (wants_details)
        note.parts = {{fmt::format("rank {}", job.ranks.empty() ? 0 : job.ranks.front().rank)}};
    if (rows > table.rows.size()) note.add({fmt::format("{} more: mpiprof-report calls", rows - table.rows.size())});
    if (!wants_details) note.add({"what the figures are: --details"});
    table.notes.push_back(std::move(note));
}

Table top_table(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    struct Line : CallLine {
        Buffer buffer;
    };
    using L = const Line&;
    std::vector<Line> lines;
    std::set<std::uint16_t> of_calls;
    for (const Row& row : top_rows(all, question.top)) {
        Line& line = lines.emplace_back(Line{line_of(row, job), row.sum.buffer});
        line.ranks = std::max(1u, figures.ranks);
        line.wall_ns = static_cast<double>(figures.wall_ns);
        of_calls.insert(row.sum.call);
    }
    const auto fields = side_by_side<Line>({
        columns::call(question.is_for_screen),
        columns::size(),
        {{.id = "buffer", .title = "BUFFER", .only_data = !has_device_buffers(job)},
         [](L l) { return l.is_unfinished ? Value() : Value(std::string(name_of(l.buffer))); }},
        columns::calls(),
        columns::time(),
        columns::wall_share(),
        {bar(3), [&](L l) { return figures.share_of_wall(l.time_ns); }},
        columns::per_call(2),
        columns::largest(1),
        columns::calls_total(),
        columns::unfinished(),
    });
    Table table = table_of("top", fields, lines);
    explain_top(table, all, question.wants_details);
    note_exchanges(table.notes, job, of_calls);
    if (!all.unfinished().empty()) table.notes.push_back(std::string(unfinished_note));
    if (job.has(Family::nccl)) table.notes.push_back(host_time_note(job));
    return table;
}

// The lines that are left of a table of mpitrace's are not the job.
std::string over_which_ranks(const Job& job) {
    if (job.ranks.size() < 2) return "";
    if (job.knows_all_ranks()) return "PER RANK";
    return fmt::format("OVER {} OF {} RANKS", human_count(static_cast<double>(job.ranks.size())),
                       human_count(job.size));
}

std::string which_ranks(const Job& job) {
    return job.knows_all_ranks() ? fmt::format("RANKS {}..{}", job.ranks.front().rank, job.ranks.back().rank)
                                 : std::string("THOSE THAT ARE KNOWN");
}

Table spread_table(const Job& job, const Figures& figures) {
    Table table = bare_table(
        "spread", "",
        {{.id = "what", .title = over_which_ranks(job)},
         {.id = "min_ns", .title = "MIN", .unit = Unit::time, .same_unit = true},
         {.id = "min_rank", .title = "RANK", .unit = Unit::rank, .drop = 1},
         {.id = "median_ns", .title = "MEDIAN", .unit = Unit::time, .same_unit = true},
         {.id = "max_ns", .title = "MAX", .unit = Unit::time, .same_unit = true},
         {.id = "max_rank", .title = "RANK", .unit = Unit::rank, .drop = 1},
         {.id = "by_rank", .title = which_ranks(job), .draw = Draw::sparkline, .drop = 2, .only_screen = true}});
    const auto add = [&](std::string id, std::string what, const Spread& spread) {
        table.rows.push_back({Named{std::move(id), std::move(what)}, spread.least.ns, std::uint64_t{spread.least.rank},
                              std::uint64_t(spread.median_ns), spread.most.ns, std::uint64_t{spread.most.rank},
                              Series(spread.by_rank)});
    };
    add("inside", fmt::format("in {}", vocabulary_of(job).library), figures.in_mpi);
    add("outside", fmt::format("outside {}", vocabulary_of(job).library), figures.outside);
    return table;
}

Table efficiency_table(const Efficiency& efficiency, const Vocabulary& words) {
    struct Line {
        std::string id, what;
        std::optional<double> share;
        std::string meaning;
        bool is_below = false;
    };
    using L = const Line&;
    const std::string most = fmt::format("largest time outside {}", words.library);
    const std::vector<Line> lines{
        {"load_balance", "load balance", efficiency.load_balance, fmt::format("mean / {}", most)},
        {"communication", "communication", efficiency.communication, most + " / elapsed"},
        {"serialisation", "serialisation", efficiency.serialisation, most + " / ideal", true},
        {"transfer", "transfer", efficiency.transfer, "ideal / elapsed", true},
        {"parallel", "parallel", efficiency.parallel, "load balance x communication"},
    };
    const auto share = [](L l) { return known(l.share); };
    const std::vector<Field<Line>> fields{
        {{.id = "what", .title = "EFFICIENCY (POP)"},
         [](L l) {
             return Named{l.id, (l.is_below ? "  " : "") + l.what};
         }},
        {{.id = "share", .title = {}, .unit = Unit::share}, share},
        {bar(2, Draw::full_bar), share},
        {{.id = "meaning", .title = {}, .drop = 1, .only_screen = true}, [](L l) { return l.meaning; }},
    };
    Table table = table_of("efficiency", fields, lines);
    table.notes.push_back(efficiency.transfer
                              ? "ideal: elapsed time on an ideal network, estimated from waiting and moving"
                              : "ideal (elapsed time on an ideal network) is not known: waiting and moving are "
                                "not separated here");
    return table;
}

// What the first line has said whole; of what is a remark elsewhere only where it is the first line.
bool is_said_above(const Verdict& verdict, bool is_first) {
    const Finding& cause = verdict.finding;
    switch (row_of(cause.rule).kind) {
        case Kind::remainder:
        case Kind::hang:
            return true;
        case Kind::ended:
            return cause.run_share > 0;
        case Kind::spoiled:
            return is_first;
        default:
            return false;
    }
}

Table findings(const Analysed& all) {
    const Job& job = all.job;
    const std::vector<Verdict>& verdicts = all.verdicts();
    Remarks remarks;
    const auto add = [&](bool is_serious, std::string text, std::string rule) -> Remarks::Remark& {
        return remarks.remarks.emplace_back(Remarks::Remark{is_serious, std::move(text), std::move(rule)});
    };
    for (std::size_t i = 0; i < std::min(job.problems.size(), problems_shown); ++i) add(true, job.problems[i], "file");
    if (job.problems.size() > problems_shown)
        add(true, fmt::format("{} more files with problems", job.problems.size() - problems_shown), "file");
    for (const Verdict& verdict : verdicts) {
        const Finding& cause = verdict.finding;
        const std::string rule(id_of(cause.rule));
        if (!is_said_above(verdict, &verdict == &verdicts.front()))
            add(cause.is_serious, words_of(cause, job), rule).data = fields_of(cause, all).named();
        for (const Finding& follows : verdict.explained) {
            const bool is_part = follows.rule == cause.rule;  // of how it ended: group by group
            remarks.remarks.push_back({is_part && follows.is_serious, words_of(follows, job),
                                       std::string(id_of(follows.rule)), is_part ? "" : rule,
                                       fields_of(follows, all).named()});
        }
    }
    for (std::size_t i = 0; i < std::min(job.notes.size(), problems_shown); ++i)
        add(false, text_of(job.notes[i]), "note");
    if (job.notes.size() > problems_shown)
        add(false, fmt::format("{} more such notes (export -f json has them)", job.notes.size() - problems_shown),
            "note");
    Table table = remark_table("FINDINGS", std::move(remarks));
    if (!table.is_empty()) table.notes.push_back("details of a [tag]: mpiprof-report explain TAG");
    return table;
}

// What the findings rest on, for programs.
Table figures_table(const Analysed& all) {
    Table table = bare_table("figures", "", {in_data("verdict"), in_data("rule"), in_data("figure"), in_data("value")});
    std::uint64_t number = 0;
    const auto add = [&](const Finding& finding) {
        for (Figure& figure : figures_of(finding))
            table.rows.push_back({number, std::string(id_of(finding.rule)), std::string(figure.name), figure.value});
    };
    for (const Verdict& verdict : all.verdicts()) {
        ++number;
        add(verdict.finding);
        for (const Finding& follows : verdict.explained) add(follows);
    }
    return table;
}

Table other_launches(const Job& job) {
    Table table = bare_table("other_launches", "OTHER LAUNCHES HERE",
                             {{.id = "number", .title = "--launch", .unit = Unit::count},
                              {.id = "job", .title = "JOB"},
                              {.id = "started_at_ns", .title = "STARTED", .unit = Unit::moment},
                              {.id = "ranks", .title = "RANKS", .unit = Unit::count},
                              {.id = "command", .title = "COMMAND"},
                              in_data("launch")});
    for (const OtherLaunch& other : job.other_launches)
        table.rows.push_back({std::uint64_t{other.number}, other.job, known(other.started_at_ns),
                              std::uint64_t{other.size}, other.command, other.launch});
    const std::size_t left_out = keep_top(table, 5);
    if (left_out) table.notes.push_back(fmt::format("and {} more", left_out));
    return table;
}

}  // namespace

Result<std::vector<Table>> summary(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    std::vector<Table> tables;
    tables.push_back(verdict_table(all));
    tables.push_back(run_headline(all));
    tables.push_back(share_bar(all, question));
    tables.push_back(findings(all));
    if (!question.is_for_screen) tables.push_back(figures_table(all));
    tables.push_back(top_table(all, question));
    if (job.ranks.size() > 1) tables.push_back(spread_table(job, figures));
    // Efficiencies of a run that was cut off would be those of its end.
    const bool is_cut_off = all.completeness().unfinished != 0;
    if (figures.efficiency && !is_cut_off) {
        tables.push_back(efficiency_table(*figures.efficiency, vocabulary_of(job)));
        tables.back().only_data = !question.wants_details;
    }
    if (!job.other_launches.empty()) tables.push_back(other_launches(job));
    return tables;
}

}  // namespace mpiprof::report
