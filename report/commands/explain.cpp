// `mpiprof-report explain`: one rule, all of them, or their list. The rules of one job have their texts beside their
// sentences (sections/rule_words.h), those of several have them here.
#include "report/commands/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "report/analysis/finding.h"
#include "report/commands/say.h"
#include "report/model/joined.h"
#include "report/sections/column_meanings.h"
#include "report/sections/rule_words.h"
#include "report/views/fitting.h"
#include "report/views/terminal.h"

namespace mpiprof::report {
namespace {

// What the words in brackets mean that diff prints, and then those of scaling. No figure of any run is in them.
struct ComparedRule {
    std::string_view id;
    std::string_view means;     // one sentence
    std::string_view evidence;  // what it rests on
    std::string_view check;     // how to see for oneself, and what to do
};

constexpr std::string_view interval =
    "The median of the changes of all pairs of runs, one of each side, and its interval (Hodges and Lehmann; docs/metrics.md).";

constexpr std::array compared_rules{
    ComparedRule{"slower", "B is significantly slower than A.", interval,
                 "The parts of the time, the calls and the sites below show where."},
    ComparedRule{"faster", "B is significantly faster than A.", interval,
                 "The parts of the time, the calls and the sites below show where."},
    ComparedRule{"none-seen", "No significant difference: the change is within the noise of the runs.", interval,
                 "More runs of each side, A and B in turn, narrow the interval."},
    ComparedRule{"one-run", "One run per side: a change cannot be separated from noise.",
                 "The run-to-run variation is not known.",
                 "mpiprof-report diff A1 A2 A3 A4 A5 --against B1 B2 B3 B4 B5. Counts and sizes need one run only."},
    ComparedRule{"too-few", "Too few runs for a significant result.", "No ordering of these few runs is rarer than 5%.",
                 "Five runs per side, A and B in turn."},
    ComparedRule{"not-in-turns", "One side ran before the other: a drift of the machine looks like a change.",
                 "When each run began.", "Run A B B A A B ..., so that a drift affects both."},
    ComparedRule{"mixed-sizes", "The runs of a side have different numbers of ranks: they are not repeats.",
                 "The size of MPI_COMM_WORLD of each run.", "mpiprof-report scaling compares numbers of ranks."},
    ComparedRule{"no-time", "The requested time is not known for one side.",
                 "No run of that side reached its end, or none marks iterations or such a region.",
                 "mpiprof-report check lists ranks without MPI_Finalize; --time selects another time."},
    ComparedRule{"caution", "The runs differ in more than the change under test.",
                 "Program, number of ranks, and whether both are the same run.",
                 "DIFFERENCES IN SETUP has settings, environment, libraries and code."},
    ComparedRule{"plateau", "Scaling levels off here: one more adds little.",
                 "The marginal speedup per added unit falls below --worth (0.25).",
                 "TIME PER RANK and SCALING LOSS BY CALL say why; sizes that were not measured are not judged."},
};

void write(Output& output, std::string_view text, std::size_t width, std::string_view margin) {
    for (const std::string& line : wrapped(text, width - margin.size()))
        output.write(fmt::format("{}{}\n", margin, line));
}

// Of a rule of one job or of several.
void explain_one(Output& output, std::size_t width, std::string_view id, const auto& text) {
    output.write(fmt::format("{}\n", id));
    write(output, text.means, width, "  ");
    write(output, fmt::format("Evidence: {}", text.evidence), width, "  ");
    write(output, fmt::format("Check: {}", text.check), width, "  ");
}

std::string upper(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

// Of a heading, as it stands on the screen, or of a column's name in csv and json: each meaning, and where it is so.
bool explain_column(Output& output, std::size_t width, const std::string& name) {
    std::vector<std::pair<std::string, std::vector<std::string>>> meanings;
    for (const ColumnMeaning& column : column_meanings()) {
        if (!has_title(column, upper(name)) && column.id != name) continue;
        const std::string title(column.title.empty()             ? ""
                                : has_title(column, upper(name)) ? upper(name)
                                                                 : first_title(column));
        const std::string text = fmt::format("{}{}{}: {}", title, title.empty() ? "" : ", ", column.id, column.text);
        auto known = std::ranges::find(meanings, text, &std::pair<std::string, std::vector<std::string>>::first);
        if (known == meanings.end()) known = meanings.insert(known, {text, {}});
        if (std::ranges::find(known->second, column.section) == known->second.end())
            known->second.emplace_back(column.section);
    }
    for (const auto& [text, sections] : meanings) {
        write(output, text, width, "");
        write(output, "In " + joined(sections, ", "), width, "  ");
    }
    return !meanings.empty();
}

int explain(const Options& options) {
    if (options.paths.size() > 1)
        return fail({"explain", "one tag, or one column in quotes, at a time", ""}, usage_error);
    const std::string rule_id = options.paths.empty() ? "" : options.paths.front();
    const std::size_t width = screen_for(stdout, options.screen).width;
    auto output = Output::open("");
    const auto each = [](auto explain_it) {
        for (const Rule rule : all_rules()) explain_it(id_of(rule), text_of(rule));
        for (const ComparedRule& rule : compared_rules) explain_it(rule.id, rule);
    };
    if (rule_id.empty()) {
        each([&](std::string_view id, const auto& text) {
            output->write(fmt::format("{}\n", id));
            write(*output, text.means, width, "    ");
        });
        return finish(*output);
    }
    constexpr std::string_view every = "all";
    if (rule_id == every) {
        each([&](std::string_view id, const auto& text) {
            explain_one(*output, width, id, text);
            output->write("\n");
        });
        return finish(*output);
    }
    const auto of_several = std::find_if(compared_rules.begin(), compared_rules.end(),
                                         [&](const ComparedRule& rule) { return rule.id == rule_id; });
    const auto rule = rule_called(rule_id);
    if (rule)
        explain_one(*output, width, id_of(*rule), text_of(*rule));
    else if (of_several != compared_rules.end())
        explain_one(*output, width, of_several->id, *of_several);
    // [waiting] is a rule, and WAITING a column.
    if (!explain_column(*output, width, rule_id) && !rule && of_several == compared_rules.end())
        return fail({"explain " + rule_id, "no such rule or column",
                     "mpiprof-report explain lists the rules, COMMAND --help its columns"},
                    usage_error);
    return finish(*output);
}

class Explain : public Command {
  public:
    int run(const Options& options) override { return explain(options); }
};

}  // namespace

std::unique_ptr<Command> make_explain() { return std::make_unique<Explain>(); }

}  // namespace mpiprof::report
