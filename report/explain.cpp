// One rule, all of them, or their list.
#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/finding.h"
#include "report/compare/compared_rules.h"
#include "report/say.h"
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

}  // namespace

int explain(const Options& options) {
    const std::size_t width = screen_for(stdout, options.screen).width;
    auto output = Output::open("");
    const auto each = [](auto explain_it) {
        for (const Rule rule : all_rules()) explain_it(id_of(rule), text_of(rule));
        for (const ComparedRule& rule : compared_rules()) explain_it(rule.id, rule);
    };
    if (options.rule.empty()) {
        each([&](std::string_view id, const auto& text) {
            output->write(fmt::format("{}\n", id));
            write(*output, text.means, width, "    ");
        });
        return finish(*output);
    }
    constexpr std::string_view every = "all";
    if (options.rule == every) {
        each([&](std::string_view id, const auto& text) {
            explain_one(*output, width, id, text);
            output->write("\n");
        });
        return finish(*output);
    }
    const auto several = compared_rules();
    const auto of_several =
        std::find_if(several.begin(), several.end(), [&](const ComparedRule& rule) { return rule.id == options.rule; });
    if (const auto rule = rule_called(options.rule))
        explain_one(*output, width, id_of(*rule), text_of(*rule));
    else if (of_several != several.end())
        explain_one(*output, width, of_several->id, *of_several);
    else
        return fail({"explain " + options.rule, "no such rule", "mpiprof-report explain lists them"}, usage_error);
    return finish(*output);
}

}  // namespace mpiprof::report
