// One row for each block that is a section.
#include "report/commands/page_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "report/compare/charts.h"
#include "report/compare/run.h"
#include "report/model/units.h"
#include "report/page/icicle.h"
#include "report/sections/budget_bars.h"
#include "report/sections/rule_words.h"
#include "report/sections/section.h"
#include "report/symbols/stacks.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t ranks_shown = 200;  // of more ranks those at the ends

std::vector<std::string> strip_of(const Job& job) {
    const std::string svg = within_page(ranks_strip(job));
    return svg.empty() ? std::vector<std::string>{} : std::vector{svg};
}

std::vector<std::string> sizes_of(const Job& job) {
    constexpr std::size_t worth_a_picture = 3;  // sizes, of some function
    const Histograms sizes = sizes_histograms(run_of(job, ""));
    const bool is_worth_it = std::ranges::any_of(sizes.lines, [](const Histograms::Line& line) {
        return static_cast<std::size_t>(std::ranges::count_if(line.counts, [](double calls) { return calls > 0; })) >=
               worth_a_picture;
    });
    return is_worth_it ? std::vector{svg_of(sizes)} : std::vector<std::string>{};
}

std::vector<std::string> call_paths(const Job& job) {
    Symbols symbols;
    std::vector<page::Stack> stacks;
    for (const CallSite& site : job.sites.sites)
        stacks.push_back({stack_of(site, job, symbols), static_cast<double>(site.time_ns)});
    const std::string svg = page::icicle(stacks);
    return svg.empty() ? std::vector<std::string>{} : std::vector{svg};
}

void keep_columns(Table& table, std::initializer_list<std::string_view> ids) {
    for (Column& column : table.columns)
        column.only_data |= std::ranges::find(ids, std::string_view(column.id)) == ids.end();
}

// Beside the nodes and the ends that a screen shows of many ranks.
Result<std::vector<Table>> most_ranks(const Analysed& all) {
    std::vector<Table> tables;
    if (all.job.ranks.size() <= ranks_shown / 2) return tables;
    for (const auto& [column, title] :
         {std::pair{"outside_ns", "Most time outside"}, std::pair{"mpi_ns", "Most time in"}}) {
        auto answer =
            find_section("ranks")->answer(all, {.ranks = {}, .sort = column, .by = {}, .top = ranks_shown / 2});
        if (!answer) return answer;
        Table& table = answer->front();
        table.id = std::string("by_") + column;
        table.title = fmt::format("{} {}", title, vocabulary_of(all.job).library);
        table.notes.clear();
        keep_columns(table,
                     {"rank", "host", "outside_ns", "mpi_ns", "mpi_share", "waiting_share", "message_bytes", "ending"});
        tables.push_back(std::move(table));
    }
    return tables;
}

struct BlockRow {
    const char *section, *title;
    const char* of_pictures = "";
    std::vector<std::string> (*draw)(const Job& job) = nullptr;
    Result<std::vector<Table>> (*more)(const Analysed& all) = nullptr;
};

constexpr BlockRow rows[] = {
    {"calls", "Calls by size", "", sizes_of},
    {"sites", "Where in the program",
     "Callers above what they call, as wide as their share of the time in these calls; click a frame to zoom.",
     call_paths},
    {"ranks", "Ranks and nodes", "A bar for each rank, its time from Init to Finalize; bands are nodes.", strip_of,
     most_ranks},
    {"budget", "Where the time went"},
    {"time", "When"},
    {"steps", "Steps"},
    {"regions", "Regions"},
    {"arrivals", "Late arrivals"},
    {"peers", "Who talks to which rank"},
    {"comms", "Communicators"},
    {"nccl", "NCCL"},
    {"hang", "Where the ranks stand"},
    {"placement", "Placement"},
    {"settings", "Settings"},
};

// The rules that spoke, and what each means.
Table tags_table(const Analysed& all) {
    std::vector<Rule> rules;
    const auto add = [&](const Finding& finding) {
        if (std::ranges::find(rules, finding.rule) == rules.end()) rules.push_back(finding.rule);
    };
    for (const Verdict& verdict : all.verdicts()) {
        add(verdict.finding);
        std::ranges::for_each(verdict.explained, add);
    }
    Table table = bare_table("tags", "",
                             {{.id = "tag", .title = "TAG"},
                              {.id = "means", .title = "MEANS"},
                              {.id = "evidence", .title = "EVIDENCE"},
                              {.id = "check", .title = "WHAT TO DO"}});
    for (const Rule rule : rules) {
        const RuleWords& words = text_of(rule);
        table.rows.push_back({std::string(id_of(rule)), std::string(words.means), std::string(words.evidence),
                              std::string(words.check)});
    }
    return table;
}

std::string sentence(std::string_view about) {
    std::string text = fmt::format("{}.", about);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

class Blocks {
  public:
    Blocks(const Analysed& all, bool has_pictures, std::vector<page::Block>& to)
        : all_(all), has_pictures_(has_pictures), to_(to) {}

    // Of the summary: the verdict, what ran, how its time divides, what was found, and the rest.
    void add_summary() {
        Question question;
        question.wants_details = true;
        auto answer = find_section("summary")->answer(all_, question);
        if (!answer) return;
        const auto taken = [&](std::initializer_list<std::string_view> ids) { return take(ids, *answer); };
        add("run", "What ran", "", "", taken({"job", "other_launches"}));
        add("verdict", "Verdict", "", "--brief", taken({"verdict"}));
        std::vector<Table> shares = taken({"shares"});
        for (Table& table : shares)
            if (!table.is_empty()) table.notes.clear();  // the caption says it
        for (Table& table : bars_of_ends(all_)) shares.push_back(std::move(table));
        add("shares", "How the run divides",
            "From Init to Finalize, or to the last sign of life: all ranks together; where they differ, the ranks with most "
            "time outside and in MPI.",
            "budget --by rank", std::move(shares));
        std::vector<Table> standing;
        if (auto budget = find_section("budget")->answer(all_, {})) standing = take({"standing"}, *budget);
        add("standing", "At a glance", "Efficiencies are those of the POP project; MIN and MAX are single ranks.",
            "budget", std::move(standing));
        to_.back().when_empty = "Not rated: it is one rank, or some ranks did not reach their end.";
        std::vector<Table> findings = taken({"findings"});
        for (Table& table : findings) table.title.clear();  // the block's
        add("findings", "Findings", "", "", std::move(findings));
        add("summary", "Summary tables", "", "--details", taken({"top", "spread", "efficiency"}));
    }

    void add_part(const BlockRow& part) {
        const Section& section = *find_section(part.section);
        Question question;
        question.wants_details = true;
        auto tables = section.answer(all_, question);
        std::vector<std::string> pictures;
        if (part.draw && has_pictures_) pictures = part.draw(all_.job);
        if (tables) std::erase_if(*tables, [](const Table& table) { return table.id == "standing"; });  // it is above
        if (tables && part.more)
            if (auto more = part.more(all_)) std::ranges::move(*more, std::back_inserter(*tables));
        add(part.section, part.title, tables ? sentence(section.about) : tables.error().line(),
            fmt::format("{}{}", part.section, section.details.empty() ? "" : " --details"),
            tables ? std::move(*tables) : std::vector<Table>{});
        to_.back().of_pictures = part.of_pictures;
        to_.back().pictures = std::move(pictures);
    }

    void add_tags() {
        add("tags", "What the tags mean", "The rules that spoke above.", "explain TAG", {tags_table(all_)});
    }

  private:
    static std::vector<Table> take(std::initializer_list<std::string_view> ids, std::vector<Table>& from) {
        std::vector<Table> tables;
        for (Table& table : from)
            if (std::ranges::find(ids, std::string_view(table.id)) != ids.end()) tables.push_back(std::move(table));
        return tables;
    }
    void add(std::string id, std::string title, std::string caption, std::string_view words,
             std::vector<Table> tables) {
        to_.push_back({.id = std::move(id),
                       .title = std::move(title),
                       .caption = std::move(caption),
                       .command = fmt::format("mpiprof-report{}{}", words.empty() ? "" : " ", words),
                       .tables = std::move(tables)});
    }

    const Analysed& all_;
    bool has_pictures_;
    std::vector<page::Block>& to_;
};

}  // namespace

page::Page page_of(const Analysed& all, bool has_pictures) {
    const Job& job = all.job;
    const std::string program = job.command.empty() ? job.executable : job.command;
    const std::string elapsed = human_time(static_cast<double>(all.figures().largest_elapsed_ns));
    page::Page made{.title = fmt::format("{} - {} - {} - mpiprof", elapsed, program, job.job), .heading = program};
    Blocks blocks(all, has_pictures, made.blocks);
    blocks.add_summary();
    // Where a hang is the verdict, where the ranks stand is what a reader asks next.
    const auto is_next = [&](const BlockRow& row) {
        return row_of(all.cause().rule).kind == Kind::hang && std::string_view(row.section) == "hang";
    };
    for (const bool comes_next : {true, false})
        for (const BlockRow& row : rows)
            if (is_next(row) == comes_next) blocks.add_part(row);
    blocks.add_tags();
    return made;
}

}  // namespace mpiprof::report
