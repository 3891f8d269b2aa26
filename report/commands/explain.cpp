// `mpiprof-report explain`: one rule, all of them, or their list.
#include "report/commands/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/finding.h"
#include "report/commands/say.h"
#include "report/compare/compared_rules.h"
#include "report/sections/rule_words.h"
#include "report/views/fitting.h"
#include "report/views/terminal.h"

namespace mpiprof::report {
namespace {

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

int explain(const Options& options) {
    if (options.paths.size() > 1) return fail({"explain", "one rule at a time", ""}, usage_error);
    const std::string rule_id = options.paths.empty() ? "" : options.paths.front();
    const std::size_t width = screen_for(stdout, options.screen).width;
    auto output = Output::open("");
    const auto each = [](auto explain_it) {
        for (const Rule rule : all_rules()) explain_it(id_of(rule), text_of(rule));
        for (const ComparedRule& rule : compared_rules()) explain_it(rule.id, rule);
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
    const auto several = compared_rules();
    const auto of_several =
        std::find_if(several.begin(), several.end(), [&](const ComparedRule& rule) { return rule.id == rule_id; });
    if (const auto rule = rule_called(rule_id))
        explain_one(*output, width, id_of(*rule), text_of(*rule));
    else if (of_several != several.end())
        explain_one(*output, width, of_several->id, *of_several);
    else
        return fail({"explain " + rule_id, "no such rule", "mpiprof-report explain lists them"}, usage_error);
    return finish(*output);
}

class Explain : public Command {
  public:
    int run(const Options& options) override { return explain(options); }
};

}  // namespace

std::unique_ptr<Command> make_explain() { return std::make_unique<Explain>(); }

}  // namespace mpiprof::report
