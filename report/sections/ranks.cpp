// ranks: one line per rank (or per node), slowest outside MPI first. On a screen many ranks become nodes and the
// ranks at both ends.
#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/analysis/figures.h"
#include "report/model/units.h"
#include "report/model/usage_figures.h"
#include "report/sections/call_columns.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t ranks_on_screen = 64;
constexpr std::size_t ranks_at_each_end = 5;
constexpr std::size_t nodes_on_screen = 40;
constexpr double slow_node = 0.10;  // this much longer outside MPI than the median node

struct Line {
    const Rank* rank = nullptr;
    const Job* job = nullptr;

    // A line of mpitrace's table tells less than a profile.
    Value of_profile(std::uint64_t figure) const { return rank->has_profile ? Value(figure) : Value(); }
    double recorded() const { return static_cast<double>(rank->recorded_ns()); }
};

std::string ending(const Rank& rank, const Job& job) {
    if (!rank.has_profile) return "no profile";
    std::string text = rank.state == State::finalized ? "" : std::string(name_of(rank.state));
    if (rank.state == State::aborted) text += fmt::format(" ({})", rank.exit_code);
    if (rank.state == State::running)
        text = rank.life == Life::running ? "running" : rank.life == Life::ended ? "killed" : "killed or running";
    if (rank.state != State::finalized && rank.in_call) text += " in " + job.calls[*rank.in_call].name;
    return text;
}

std::vector<Field<Line>> time_fields(bool has_hosts, bool has_waiting, const Vocabulary& words) {
    using L = const Line&;
    return {
        {{.id = "rank", .title = "RANK", .unit = Unit::rank}, [](L l) { return std::uint64_t{l.rank->rank}; }},
        {{.id = "host", .title = "HOST", .drop = 5, .only_data = !has_hosts},
         [](L l) { return l.job->hosts[l.rank->host]; }},
        {{.id = "outside_ns", .title = std::string(words.outside), .unit = Unit::time, .same_unit = true},
         [](L l) { return l.rank->has_profile || l.rank->elapsed_ns ? Value(l.rank->outside_ns()) : Value(); }},
        {{.id = "mpi_ns", .title = std::string(words.in_library), .unit = Unit::time, .same_unit = true},
         [](L l) { return l.rank->inside_ns(); }},
        {{.id = "mpi_share", .title = "%WALL", .unit = Unit::share},
         [](L l) { return ratio(l.rank->inside_ns(), l.recorded()); }},
        {{.id = "waiting_share", .title = "WAITING", .unit = Unit::share, .drop = 2, .only_data = !has_waiting},
         [](L l) { return waiting_share(l.rank->waiting_ns, l.rank->judged_ns, l.rank->inside_ns()); }},
        {bar(4), [](L l) { return ratio(l.rank->inside_ns(), l.recorded()); }},
        {{.id = "elapsed_ns", .title = "ELAPSED", .unit = Unit::time, .drop = 6, .same_unit = true},
         [](L l) { return l.rank->elapsed_ns; }},
    };
}

// Those in the middle of the table, or those at its end.
std::vector<Field<Line>> usage_fields(const std::vector<Line>& lines, bool is_at_end) {
    std::vector<Field<Line>> fields;
    for (const UsageFigure& figure : usage_figures()) {
        if (figure.column.id.empty() || figure.is_at_end != is_at_end) continue;
        // mpitrace's text has few of these figures, and not the same in all layouts.
        const auto known_of = [&figure](const Line& l) {
            const auto known = figure.of(l.rank->usage);
            return l.rank->is_text && known == 0 ? std::nullopt : known;
        };
        const auto value = [&figure, known_of](const Line& l) {
            const auto known = known_of(l);
            return known ? Value(*known * figure.each) : Value();
        };
        Column column = figure.column;
        const auto is_known = [&](const Line& l) { return known_of(l).has_value(); };
        const bool are_texts = !lines.empty() && lines.front().job->is_text;
        const bool is_always_known = figure.of(Usage{}).has_value() && !are_texts;
        column.only_data |= !is_always_known && std::ranges::none_of(lines, is_known);
        fields.push_back({std::move(column), value});
    }
    return fields;
}

std::vector<Field<Line>> message_fields() {
    return {{{.id = "message_bytes", .title = "MESSAGES", .unit = Unit::bytes, .drop = 3},
             [](const Line& l) { return l.of_profile(l.rank->message_bytes); }}};
}

std::vector<Field<Line>> ending_fields(bool has_errors) {
    using L = const Line&;
    return {
        {{.id = "errors", .title = "ERRORS", .unit = Unit::count, .only_data = !has_errors},
         [](L l) { return l.rank->is_text ? Value() : Value(l.rank->errors); }},
        {{.id = "ending", .title = "ENDING", .only_screen = true}, [](L l) { return ending(*l.rank, *l.job); }},
        {in_data("state"),
         [](L l) { return l.rank->has_profile ? std::string(name_of(l.rank->state)) : std::string("missing"); }},
    };
}

std::vector<Field<Line>> data_fields() {
    using L = const Line&;
    return {
        {in_data("node"), [](L l) { return l.job->nodes[l.rank->node]; }},
        {in_data("pid", Unit::rank), [](L l) { return l.rank->is_text ? Value() : Value(std::uint64_t{l.rank->pid}); }},
        {in_data("process_ns", Unit::time), [](L l) { return known(l.rank->process_ns); }},
        {in_data("init_ns", Unit::time), [](L l) { return known(l.rank->init_ns); }},
        {in_data("finalize_ns", Unit::time), [](L l) { return known(l.rank->finalize_ns); }},
        {in_data("background_ns", Unit::time),
         [](L l) { return l.rank->is_text ? Value() : Value(l.rank->mpi_other_thread_ns); }},
        {in_data("waiting_ns", Unit::time),
         [](L l) { return l.rank->judged_ns ? Value(l.rank->waiting_ns) : Value(); }},
        {in_data("file_ns", Unit::time), [](L l) { return l.of_profile(l.rank->file_ns); }},
        {in_data("file_bytes", Unit::bytes), [](L l) { return l.of_profile(l.rank->file_bytes); }},
        {in_data("calls", Unit::count), [](L l) { return l.of_profile(l.rank->calls); }},
    };
}

std::vector<Line> lines_of(const Job& job, const Question& question) {
    std::vector<Line> lines;
    for (const Rank& rank : job.ranks)
        if (question.is_about(rank.rank)) lines.push_back({&rank, &job});
    return lines;
}

Table rank_table(const std::vector<Line>& lines, const Vocabulary& words) {
    const bool has_endings = std::ranges::any_of(
        lines, [](const Line& l) { return !l.rank->has_profile || l.rank->state != State::finalized; });
    const bool has_errors = std::ranges::any_of(lines, [](const Line& l) { return l.rank->errors != 0; });
    const bool has_hosts = !lines.empty() && lines.front().job->hosts.size() > 1;
    const bool has_waiting = std::ranges::any_of(lines, [](const Line& l) { return l.rank->judged_ns != 0; });
    auto fields =
        side_by_side<Line>({time_fields(has_hosts, has_waiting, words), message_fields(), usage_fields(lines, false),
                            ending_fields(has_errors), data_fields(), usage_fields(lines, true)});
    if (!has_endings) std::erase_if(fields, [](const auto& field) { return field.column.id == "ending"; });
    Table table = table_of("ranks", fields, lines);
    if (has_waiting)
        table.notes.push_back(
            Note::on("waiting_share",
                     fmt::format("an upper bound, the share of its time in {} above the fastest calls; see calls",
                                 words.library)));
    if (has_waiting && !lines.front().job->comparison.calls.empty())
        table.notes.push_back(Note::on("waiting_share", std::string(waiting_is_known)));
    return table;
}

struct NodeLine {
    std::string host;
    std::string node;
    std::uint64_t ranks = 0;
    double outside_ns = 0;  // mean over its ranks
    double mpi_ns = 0;
    double against_median = 0;
    double message_bytes = 0;
    std::uint64_t most_resident_bytes = 0;
    bool has_profiles = true;
    Series outside;
};

std::vector<NodeLine> nodes_of(const std::vector<Line>& lines, const Job& job) {
    std::vector<NodeLine> nodes(job.nodes.size());
    for (const Line& line : lines) {
        NodeLine& node = nodes[line.rank->node];
        if (node.ranks++ == 0)
            node.host = job.hosts[line.rank->host].empty() ? "not named" : job.hosts[line.rank->host];
        node.has_profiles &= line.rank->has_profile;
        node.node = job.nodes[line.rank->node];
        node.outside.push_back(static_cast<double>(line.rank->outside_ns()));
        node.outside_ns += node.outside.back();
        node.mpi_ns += static_cast<double>(line.rank->inside_ns());
        node.message_bytes += static_cast<double>(line.rank->message_bytes);
        node.most_resident_bytes = std::max(node.most_resident_bytes, line.rank->usage.max_resident_bytes);
    }
    std::erase_if(nodes, [](const NodeLine& node) { return node.ranks == 0; });
    std::vector<double> means;
    for (NodeLine& node : nodes) {
        node.outside_ns /= static_cast<double>(node.ranks);
        node.mpi_ns /= static_cast<double>(node.ranks);
        means.push_back(node.outside_ns);
    }
    std::sort(means.begin(), means.end());
    const double median = means.empty() ? 0 : means[(means.size() - 1) / 2];
    for (NodeLine& node : nodes) node.against_median = median > 0 ? node.outside_ns / median - 1 : 0;
    return nodes;
}

std::vector<Field<NodeLine>> node_fields(const Vocabulary& words) {
    using N = const NodeLine&;
    return {
        {{.id = "host", .title = "NODE"}, [](N n) { return n.host; }},
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count}, [](N n) { return n.ranks; }},
        {{.id = "outside_ns", .title = std::string(words.outside), .unit = Unit::time, .same_unit = true},
         [](N n) { return n.outside_ns; }},
        {in_data("against_median", Unit::share), [](N n) { return n.against_median; }},
        {{.id = "mpi_ns", .title = std::string(words.in_library), .unit = Unit::time, .same_unit = true},
         [](N n) { return n.mpi_ns; }},
        {{.id = "message_bytes", .title = "MESSAGES", .unit = Unit::bytes, .drop = 2},
         [](N n) { return n.has_profiles ? Value(n.message_bytes) : Value(); }},
        {{.id = "max_resident_bytes", .title = "MAX RSS", .unit = Unit::bytes, .drop = 1},
         [](N n) { return known(n.most_resident_bytes); }},
        {{.id = "spread", .title = "BY RANK", .draw = Draw::shared_sparkline, .drop = 3, .only_screen = true},
         [](N n) { return n.outside; }},
        {{.id = "flag", .title = {}, .only_screen = true},
         [](N n) {
             if (n.against_median < slow_node) return std::string();
             return fmt::format("SLOW: {:+.0f}%", n.against_median * 100);
         }},
        {in_data("node"), [](N n) { return n.node; }},
    };
}

Table node_table(const std::vector<Line>& lines, const Job& job) {
    const auto nodes = nodes_of(lines, job);
    Table table = table_of("nodes", node_fields(vocabulary_of(job)), nodes);
    table.notes.push_back("times are the mean over the ranks of a node");
    return table;
}

// The ranks at both ends of the sorted table.
std::size_t keep_both_ends(Table& table) {
    if (table.rows.size() <= 2 * ranks_at_each_end) return 0;
    const std::size_t left_out = table.rows.size() - 2 * ranks_at_each_end;
    table.rows.erase(table.rows.begin() + ranks_at_each_end, table.rows.end() - ranks_at_each_end);
    return left_out;
}

}  // namespace

Result<std::vector<Table>> ranks(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const std::vector<Line> lines = lines_of(job, question);
    const bool is_crowded =
        question.is_for_screen && !question.top && question.ranks.empty() && lines.size() > ranks_on_screen;
    std::vector<Table> tables;
    if (question.by == "node" || (is_crowded && question.by.empty() && job.nodes.size() > 1)) {
        Table nodes = node_table(lines, job);
        const bool is_answer = question.by == "node";
        if (auto ok = sort_rows(nodes, is_answer && !question.sort.empty() ? question.sort : "outside"); !ok)
            return tl::make_unexpected(ok.error());
        cut(nodes, question, nodes_on_screen, " nodes: ranks --by node");
        tables.push_back(std::move(nodes));
        if (is_answer) return tables;
    }
    Table table = rank_table(lines, vocabulary_of(job));
    const std::string sort = !question.sort.empty() ? question.sort : is_crowded || question.top ? "outside" : "rank";
    if (auto ok = sort_rows(table, sort); !ok) return tl::make_unexpected(ok.error());
    if (is_crowded) {
        if (const std::size_t left_out = keep_both_ends(table))
            table.notes.push_back(fmt::format("the {} ranks at each end; {} more: ranks --top {}", ranks_at_each_end,
                                              left_out, lines.size()));
    } else if (question.top) {
        keep_top(table, *question.top);
    }
    tables.push_back(std::move(table));
    return tables;
}

}  // namespace mpiprof::report
