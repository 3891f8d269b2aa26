// One rule, or the list of them.
#include "report/explain.h"

#include <fmt/format.h>

#include "report/analysis/finding.h"
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

}  // namespace

int explain(const Options& options) {
    const std::size_t width = screen_for(stdout, options.screen).width;
    auto output = Output::open("");
    if (options.rule.empty()) {
        for (const Rule rule : all_rules()) {
            output->write(fmt::format("{}\n", id_of(rule)));
            write(*output, text_of(rule).means, width, "    ");
        }
        return finish(*output);
    }
    const auto rule = rule_called(options.rule);
    if (!rule)
        return fail({"explain " + options.rule, "no such rule", "mpiprof-report explain lists them"}, usage_error);
    const RuleText& text = text_of(*rule);
    output->write(fmt::format("{}\n", id_of(*rule)));
    write(*output, text.means, width, "  ");
    write(*output, fmt::format("Evidence: {}", text.evidence), width, "  ");
    write(*output, fmt::format("Check: {}", text.check), width, "  ");
    return finish(*output);
}

}  // namespace mpiprof::report
