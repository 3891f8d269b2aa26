// comms: every communicator, or every call and size on each: how it was made, its members, calls, bytes, time, and
// whether its members entered the same collectives. On a screen those of one making are one line.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "report/analysis/analysed.h"
#include "report/analysis/figures.h"
#include "report/model/sums.h"
#include "report/model/units.h"
#include "report/sections/call_columns.h"
#include "report/sections/comm_labels.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 40;
constexpr std::size_t differences_on_screen = 8;

// What the ranks' profiles together allow to say.
struct Context {
    const Job& job;
    std::unordered_map<std::uint64_t, const Comm*> by_id;
    double mpi_ns = 0;
    bool is_whole = false;  // every rank has a profile
    // Calls that are only counted (MPI_Comm_rank) have a communicator that nobody notes: csv and json have them on the
    // line of the calls without one, on a screen they would be taken for such.
    bool shows_counted = false;

    Context(const Job& j, bool with_counted) : job(j), shows_counted(with_counted) {
        for (const Comm& comm : job.comms) {
            if (comm.id) by_id.emplace(comm.id, &comm);
            for (const CommSum& sum : comm.sums) mpi_ns += static_cast<double>(sum.time_ns);
        }
        is_whole = job.profiles() == job.size;
    }
    std::string parent_of(const Comm& comm) const {
        const auto found = by_id.find(comm.parent);
        return comm.parent == 0 || found == by_id.end() ? "" : label_of(*found->second);
    }
    // Fewer members than it has have used it: the others have entered nothing.
    bool some_never_used(const Comm& comm) const { return is_whole && !comm.is_inter && comm.seats < comm.size; }
    bool differs(const Comm& comm, const CommEntries& entries) const {
        return entries.fewest != entries.most || (some_never_used(comm) && entries.most != 0);
    }
    bool can_judge(const Comm& comm) const {
        return comm.kind == CommKind::known && comm.members > 1 && !comm.entries.empty() &&
               job.drops.communicators == 0 && job.drops.threads == 0;
    }
    bool is_unequal(const Comm& comm) const {
        return can_judge(comm) &&
               std::ranges::any_of(comm.entries, [&](const CommEntries& e) { return differs(comm, e); });
    }
};

// One communicator, or those of one making: `ranks` are its members.
struct Line : CallLine {
    const Context* context = nullptr;
    const Comm* comm = nullptr;  // the first
    std::string label;
    std::string parent;
    std::size_t lines = 0;  // communicators that are kept apart
    std::uint64_t communicators = 0;
    std::uint64_t counted_calls = 0;  // of calls: local queries, of which nobody notes the communicator
    std::size_t judged = 0;
    std::size_t unequal = 0;
    std::vector<CommSum> sums;  // sorted by call, bin

    std::uint64_t shown_calls() const { return context->shows_counted ? calls : calls - counted_calls; }
};

void add_comm(Line& line, const Comm& comm, const Context& context) {
    ++line.lines;
    line.communicators += comm.communicators;
    line.ranks += comm.members;
    for (const CommSum& sum : comm.sums) {
        add_counts(line, sum);
        if (context.job.calls[sum.call].treatment == Treatment::counted) line.counted_calls += sum.calls;
    }
    line.is_timed = line.time_ns != 0;
    if (comm.largest_ns > line.largest_ns.value_or(0)) {
        line.largest_ns = comm.largest_ns;
        line.largest_rank = comm.largest_rank;
    }
    line.judged += context.can_judge(comm);
    line.unequal += context.is_unequal(comm);
    for (const CommSum& sum : comm.sums) add_sum(line.sums, sum);
}

std::vector<Line> lines_of(const Context& context, bool grouped) {
    std::vector<Line> lines;
    std::map<std::tuple<CommKind, std::string, std::string, std::string, std::uint32_t, bool>, std::size_t> line_of;
    for (const Comm& comm : context.job.comms) {
        std::string label = label_of(comm), parent = context.parent_of(comm);
        std::size_t at = lines.size();
        if (grouped)
            at = line_of.try_emplace({comm.kind, label, comm.made_by, parent, comm.size, comm.is_inter}, at)
                     .first->second;
        if (at == lines.size()) {
            Line& line = lines.emplace_back();
            line.ranks = 0;
            line.mpi_ns = context.mpi_ns;
            line.context = &context;
            line.comm = &comm;
            line.label = std::move(label);
            line.parent = std::move(parent);
        }
        add_comm(lines[at], comm, context);
    }
    return lines;
}

std::string equality(const Line& line) {
    if (line.judged == 0) return "";
    if (line.unequal == 0) return "equal";
    return line.judged == 1 ? "DIFFER" : fmt::format("{} of {} DIFFER", line.unequal, line.judged);
}

std::string hexadecimal(std::uint64_t id) { return id ? fmt::format("{:016x}", id) : std::string(); }

std::vector<Field<Line>> comm_fields(bool grouped, bool has_differences, const Vocabulary& words) {
    using L = const Line&;
    return side_by_side<Line>({
        {{.id = "communicator", .title = "COMMUNICATOR"}, [](L l) { return l.label; }},
        {{.id = "communicators", .title = "NUMBER", .unit = Unit::count, .drop = 1, .only_data = !grouped},
         [](L l) { return known(l.communicators); }},
        {{.id = "size", .title = "SIZE", .unit = Unit::count}, [](L l) { return known(l.comm->size); }},
        {{.id = "all_calls", .title = "CALLS", .unit = Unit::count, .only_screen = true},
         [](L l) { return l.shown_calls(); }},
        {in_data("calls_per_rank", Unit::count), [](L l) { return l.mean(l.calls); }},
        {{.id = "all_bytes", .title = "BYTES", .unit = Unit::bytes, .drop = 4, .only_screen = true},
         [](L l) { return known(l.bytes); }},
        {in_data("bytes", Unit::bytes), [](L l) { return l.bytes ? Value(l.mean(l.bytes)) : Value(); }},
        columns::time(),
        columns::mpi_share(words),
        {bar(7), [](L l) { return ratio(l.time_ns, l.mpi_ns); }},
        columns::largest(3),
        {{.id = "collectives", .title = "COLLECTIVES", .drop = has_differences ? 1 : 6},
         [](L l) { return equality(l); }},
        {{.id = "how", .title = "MADE BY", .drop = 2, .only_screen = true},
         [](L l) { return short_call(l.comm->made_by); }},
        {in_data("made_by"), [](L l) { return l.comm->made_by; }},
        {{.id = "parent", .title = "FROM", .drop = 5}, [](L l) { return l.parent; }},
        {in_data("name"), [](L l) { return l.comm->name; }},
        {in_data("kind"), [](L l) { return std::string(name_of(l.comm->kind)); }},
        {in_data("id"), [](L l) { return hexadecimal(l.comm->id); }},
        {in_data("parent_id"), [](L l) { return hexadecimal(l.comm->parent); }},
        {in_data("first_rank", Unit::rank), [](L l) { return std::uint64_t{l.comm->first_rank}; }},
        {in_data("members", Unit::count), [](L l) { return l.ranks; }},
        {in_data("is_inter"), [](L l) { return Yes{l.comm->is_inter}; }},
        columns::errors(),
        columns::totals(),
    });
}

// ---- --by call ----

struct LineOfCall : CallLine {
    const Line* line = nullptr;
};

LineOfCall line_of(const Line& line, const CommSum& sum) {
    LineOfCall of{{.call = &line.context->job.calls[sum.call], .bin = {}, .min_ns = {}, .largest_ns = {}}, &line};
    add_counts(of, sum);
    const bool is_counted = of.call->treatment != Treatment::timed;
    if (!is_counted) of.bin = sum.bin;
    // Calls that only NCCL told of have no time; one that was timed has some.
    of.is_timed = !is_counted && (sum.time_ns != 0 || sum.calls == 0);
    of.timed_calls = sum.calls;
    of.ranks = line.ranks;
    of.mpi_ns = line.mpi_ns;
    return of;
}

std::vector<Field<LineOfCall>> call_fields(bool grouped, const Vocabulary& words) {
    using L = const LineOfCall&;
    return side_by_side<LineOfCall>({
        {{.id = "communicator", .title = "COMMUNICATOR"}, [](L l) { return l.line->label; }},
        {{.id = "communicators", .title = "NUMBER", .unit = Unit::count, .drop = 3, .only_data = !grouped},
         [](L l) { return known(l.line->communicators); }},
        {{.id = "size", .title = "SIZE", .unit = Unit::count, .drop = 2},
         [](L l) { return known(l.line->comm->size); }},
        columns::call(),
        columns::bin(),
        columns::size(),
        columns::calls(),
        columns::time(),
        columns::mpi_share(words),
        columns::mpi_bar(4),
        columns::per_call(1),
        {in_data("made_by"), [](L l) { return l.line->comm->made_by; }},
        {in_data("id"), [](L l) { return hexadecimal(l.line->comm->id); }},
        {in_data("members", Unit::count), [](L l) { return l.ranks; }},
        columns::traffic(),
        columns::errors(),
        columns::totals(),
    });
}

Table call_table(const Context& context, const std::vector<Line>& lines, bool grouped) {
    std::vector<LineOfCall> rows;
    for (const Line& line : lines)
        for (const CommSum& sum : line.sums)
            if (context.shows_counted || context.job.calls[sum.call].treatment == Treatment::timed)
                rows.push_back(line_of(line, sum));
    return table_of("comms_by_call", call_fields(grouped, vocabulary_of(context.job)), rows);
}

// ---- collectives that not all members entered as often ----

struct Difference {
    const Comm* comm;
    const Call* call;
    CommEntries entries;
};

Table difference_table(const Context& context, const Question& question) {
    std::vector<Difference> differences;
    for (const Comm& comm : context.job.comms) {
        if (!context.is_unequal(comm)) continue;
        for (const CommEntries& entries : comm.entries) {
            if (!context.differs(comm, entries)) continue;
            differences.push_back({&comm, &context.job.calls[entries.call], entries});
            if (!context.some_never_used(comm)) continue;
            differences.back().entries.fewest = 0;
            differences.back().entries.fewest_rank.reset();
        }
    }
    using D = const Difference&;
    Table table = table_of(
        "differences",
        std::vector<Field<Difference>>{
            {{.id = "communicator", .title = "COMMUNICATOR"}, [](D d) { return label_of(*d.comm); }},
            {{.id = "first_rank", .title = "OF RANK", .unit = Unit::rank, .drop = 1},
             [](D d) { return std::uint64_t{d.comm->first_rank}; }},
            {{.id = "call", .title = "CALL"}, [](D d) { return d.call->name; }},
            {{.id = "fewest", .title = "FEWEST", .unit = Unit::count}, [](D d) { return d.entries.fewest; }},
            {{.id = "fewest_rank", .title = "RANK", .unit = Unit::rank},
             [](D d) { return d.entries.fewest_rank ? Value(std::uint64_t{*d.entries.fewest_rank}) : Value(); }},
            {{.id = "most", .title = "MOST", .unit = Unit::count}, [](D d) { return d.entries.most; }},
            {{.id = "most_rank", .title = "RANK", .unit = Unit::rank},
             [](D d) { return std::uint64_t{d.entries.most_rank}; }},
            {in_data("id"), [](D d) { return hexadecimal(d.comm->id); }},
        },
        differences);
    table.title = "MISMATCHED COLLECTIVE COUNTS";
    if (question.is_for_screen) cut(table, differences_on_screen, ": comms --format csv");
    const bool has_unfinished = std::ranges::any_of(
        context.job.ranks, [](const Rank& rank) { return rank.has_profile && rank.state != State::finalized; });
    if (has_unfinished && !table.rows.empty())
        table.notes.push_back(fmt::format("ranks without {} are counted up to their end; where they were: hang",
                                          vocabulary_of(context.job).finalize));
    return table;
}

// What the labels in brackets and the stars mean, as far as there are any.
void explain(Table& table, const Context& context, const std::vector<Line>& lines) {
    const auto has = [&](CommKind kind) {
        return std::ranges::any_of(lines, [&](const Line& line) { return line.comm->kind == kind; });
    };
    table.notes.push_back(Note{{"CALLS and BYTES: sum over all members; TIME: mean of the members"},
                               {"the member with most time", "largest_ns"}});
    if (has(CommKind::none)) {
        const std::uint64_t dropped = context.job.drops.communicators;
        const auto& calls = context.job.calls;
        const bool has_polls = std::ranges::any_of(
            calls, [](const Call& call) { return call.is_sampled && call.traffic == Traffic::probe; });
        std::string note = "(none): calls without a communicator (Wait, Test, windows, files, Comm_free)";
        if (has_polls) note += ", unsampled probes";
        if (dropped)
            note += fmt::format(", and those on {} communicators{} beyond the table",
                                human_count(static_cast<double>(dropped)),
                                context.job.profiles() > 1 ? " (summed over ranks)" : "");
        table.notes.push_back(std::move(note));
    }
    if (has(CommKind::by_members))
        table.notes.push_back("*: no global id; all communicators with the same members are merged");
    if (has(CommKind::unknown)) table.notes.push_back("(of several worlds): no id common to all members; merged");
    if (has(CommKind::other)) table.notes.push_back("(others): the smallest communicators, merged");
}

}  // namespace

Result<std::vector<Table>> comms(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    if (!question.ranks.empty())
        return problem("comms --rank", "communicators are summed over their members",
                       "export -f json has the cells of every rank");
    const Context context(job, !question.is_for_screen);
    const bool by_call = question.by == "call";
    const bool grouped = question.is_for_screen;
    std::vector<Line> lines = lines_of(context, grouped);
    std::erase_if(lines, [](const Line& line) { return line.comm->kind == CommKind::none && line.shown_calls() == 0; });
    const bool has_differences = std::ranges::any_of(lines, [](const Line& l) { return l.unequal != 0; });
    Table table = by_call ? call_table(context, lines, grouped)
                          : table_of("comms", comm_fields(grouped, has_differences, vocabulary_of(job)), lines);
    if (auto ok = sort_rows(table, question, "total_time_ns"); !ok) return tl::make_unexpected(ok.error());
    cut(table, question, lines_on_screen);
    explain(table, context, lines);
    if (!unfinished_rows(job, {}).empty()) table.notes.push_back(std::string(unfinished_left_out));
    if (job.is_text) table.notes.push_back("mpitrace's text has no communicators");
    std::vector<Table> tables{std::move(table)};
    if (!by_call) tables.push_back(difference_table(context, question));
    return tables;
}

}  // namespace mpiprof::report
