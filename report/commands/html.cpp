// `mpiprof-report html`: the sections of a job on one page, a file to look at, to mail and to keep.
#include "report/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "report/analysis/analysed.h"
#include "report/commands/load.h"
#include "report/commands/say.h"
#include "report/compare/charts.h"
#include "report/compare/run.h"
#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/page/page.h"
#include "report/sections/rule_words.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

// In the order of the page. A block that shows the tables of a section, and pictures of the same numbers.
struct Part {
    const char *section, *title;
    std::vector<std::string> (*draw)(const Job& job) = nullptr;
};

std::vector<std::string> ranks_chart(const Job& job) {
    Chart chart;
    add_ranks(chart, job, "", true);
    return chart.curves.empty() || job.ranks.size() < 2 ? std::vector<std::string>() : std::vector{svg_of(chart)};
}

std::vector<std::string> sizes_of(const Job& job) {
    constexpr std::size_t worth_a_picture = 3;
    const Chart chart = sizes_chart({run_of(job, "")});
    const bool is_worth_it =
        std::ranges::any_of(chart.curves, [](const Curve& curve) { return curve.points.size() >= worth_a_picture; });
    return is_worth_it ? std::vector{svg_of(chart)} : std::vector<std::string>{};
}

constexpr Part parts[] = {
    {"calls", "Calls by size", sizes_of},
    {"sites", "Where in the program"},
    {"ranks", "Ranks and nodes", ranks_chart},
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

class Html : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.text("-o,--output", output_, "The page (default: mpiprof-<job>.html here); - is stdout", "FILE");
        arguments.flag("--mail", is_for_mail_, "Without script and pictures, so that mail gateways let it pass");
    }

    int run(const Options& options) override {
        return with_job(options, false, [&](Job& job, RankReader&) { return write(job, options); });
    }

  private:
    int write(const Job& job, const Options& options) const {
        const Analysed all(job);
        const std::string path = output_.empty() ? fmt::format("mpiprof-{}.html", file_name_of(job)) : output_;
        auto output = Output::open(path == "-" ? "" : path);
        if (!output) return fail(output.error(), check_failed);
        const std::string html = page::html_of(page_of(all));
        output->write(html);
        const int code = finish(*output);
        if (code == fine && path != "-" && !options.is_quiet)
            say(fmt::format("{}: {}, to be opened in a browser", path, human_bytes(static_cast<double>(html.size()))));
        return code;
    }

    page::Page page_of(const Analysed& all) const {
        const Job& job = all.job;
        const std::string program = job.command.empty() ? job.executable : job.command;
        const std::string elapsed = human_time(static_cast<double>(all.figures().largest_elapsed_ns));
        page::Page made{.title = fmt::format("{} - {} - {} - mpiprof", elapsed, program, job.job),
                        .heading = program,
                        .blocks = {},
                        .has_script = !is_for_mail_};
        add_summary(made, all);
        for (const Part& part : parts) add(made, part, all);
        made.blocks.push_back({.id = "tags",
                               .title = "What the tags mean",
                               .caption = "The rules that spoke above.",
                               .command = "mpiprof-report explain TAG",
                               .tables = {tags_table(all)}});
        return made;
    }

    // Its first table is the verdict, which gets a block of its own.
    void add_summary(page::Page& made, const Analysed& all) const {
        Question question;
        question.wants_details = true;
        auto tables = find_section("summary")->answer(all, question);
        if (!tables) return;
        std::vector<Table> rest(std::make_move_iterator(tables->begin() + 1), std::make_move_iterator(tables->end()));
        tables->resize(1);
        made.blocks.push_back({.id = "verdict",
                               .title = "Verdict",
                               .caption = "",
                               .command = "mpiprof-report --brief",
                               .tables = std::move(*tables)});
        made.blocks.push_back({.id = "summary",
                               .title = "Summary",
                               .caption = "",
                               .command = "mpiprof-report",
                               .tables = std::move(rest)});
    }

    void add(page::Page& made, const Part& part, const Analysed& all) const {
        const Section& section = *find_section(part.section);
        page::Block block{.id = part.section,
                          .title = part.title,
                          .caption = sentence(section.about),
                          .command = fmt::format("mpiprof-report {}", part.section),
                          .tables = {}};
        auto tables = section.answer(all, {});
        if (tables)
            block.tables = std::move(*tables);
        else
            block.caption = tables.error().line();
        if (part.draw && !is_for_mail_) block.pictures = part.draw(all.job);
        made.blocks.push_back(std::move(block));
    }

    static std::string sentence(std::string_view about) {
        std::string text = fmt::format("{}.", about);
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
        return text;
    }

    static std::string file_name_of(const Job& job) {
        std::string name = job.job.empty() ? "report" : job.job;
        std::ranges::replace_if(
            name, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-' && c != '_'; }, '_');
        return name;
    }

    std::string output_;
    bool is_for_mail_ = false;
};

}  // namespace

std::unique_ptr<Command> make_html() { return std::make_unique<Html>(); }

}  // namespace mpiprof::report
