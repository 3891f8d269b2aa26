// Operands to reports, reports to text.
#include "report/commands/ddp.h"

#include "report/commands/present.h"
#include "report/commands/say.h"
#include "report/exports/export.h"
#include "report/layouts/ddp.h"

namespace mpiprof::report {
namespace {

int read(const Options& options, const std::vector<std::string>& words, DdpReport& report, LoadRemarks& remarks) {
    const auto add = [&](LoadedRun&& loaded) {
        const bool was_empty = report.is_empty();
        report.add(loaded.job);
        if (was_empty && report.is_empty()) remarks.lines.push_back(no_marks(loaded.label).line());
    };
    const int code = load_each(options, words, "these texts are made of jobs that mark iterations", add, remarks);
    if (code != fine) return code;
    return report.is_empty() ? fail(no_marks(words.empty() ? "" : words.front()), usage_error) : fine;
}

int finish_with(const Options& options, const LoadRemarks& remarks, Output& output) {
    say_all(remarks.lines, options.is_quiet);
    const int code = finish(output);
    return code == fine && options.is_strict && !remarks.is_complete ? check_failed : code;
}

}  // namespace

bool are_several_runs(const Options& options) { return options.paths.size() > 1 || options.takes_all_launches; }

int ddp_text(const Options& options) {
    DdpReport report;
    LoadRemarks remarks;
    if (const int code = read(options, words_of(options), report, remarks); code != fine) return code;
    auto output = Output::open("");
    output->write(report.text());
    return finish_with(options, remarks, *output);
}

int ddp_json(const Options& options, const std::string& to) {
    DdpReport report;
    LoadRemarks remarks;
    if (const int code = read(options, words_of(options), report, remarks); code != fine) return code;
    auto output = Output::open(to);
    if (!output) return fail(output.error(), check_failed);
    const Sink sink = [&](std::string_view text) { output->write(text); };
    JsonWriter json(sink);
    report.write_json(json);
    return finish_with(options, remarks, *output);
}

int ddp_diff(const Options& options, const Sides& sides) {
    DdpReport base, test;
    LoadRemarks remarks;
    if (!view_of(options).is_for_screen)
        return fail({"--format " + options.format, "has no such text for --layout ddp",
                     "leave one of them out, or try export -f ddp-json"},
                    usage_error);
    if (const int code = read(options, sides.a, base, remarks); code != fine) return code;
    if (const int code = read(options, sides.b, test, remarks); code != fine) return code;
    auto output = Output::open("");
    const DdpReport::Difference difference = DdpReport::difference(base, test);
    output->write(difference.text);
    if (difference.compared == 0)
        remarks.lines.push_back(
            "diff --layout ddp: nothing to compare: the sides have no model with one batch size on one number of GPUs in "
            "common");
    return finish_with(options, remarks, *output);
}

}  // namespace mpiprof::report
