// Operands to reports, reports to text.
#include "report/ddp.h"

#include "report/exports/export.h"
#include "report/layouts/ddp.h"
#include "report/operands.h"
#include "report/say.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view layout_name = "ddp", export_name = "ddp-json";

int read(const Options& options, const std::vector<std::string>& words, DdpReport& report, LoadRemarks& remarks) {
    for (const std::string& word : words) {
        const Operand operand = operand_of(word);
        if (operand.is_pair())
            return fail({word, "is a bare time", "these texts are made of jobs that mark iterations"}, usage_error);
        const auto ok = load_runs(
            options, operand,
            [&](LoadedRun&& loaded) {
                const bool was_empty = report.is_empty();
                report.add(loaded.job);
                if (was_empty && report.is_empty()) remarks.lines.push_back(no_marks(loaded.label).line());
            },
            remarks);
        if (!ok) return fail(ok.error(), no_profile);
    }
    return report.is_empty() ? fail(no_marks(words.empty() ? "" : words.front()), usage_error) : fine;
}

int finish_with(const Options& options, const LoadRemarks& remarks, Output& output) {
    if (!options.is_quiet)
        for (const std::string& line : remarks.lines) say(line);
    const int code = finish(output);
    return code == fine && options.is_strict && !remarks.is_complete ? check_failed : code;
}

}  // namespace

bool wants_ddp_of_several(const Options& options) {
    const bool is_ddp = (options.task == Task::text && options.layout == layout_name) ||
                        (options.task == Task::data && options.format == export_name);
    return is_ddp && (options.paths.size() > 1 || options.compare.takes_all_launches);
}

int ddp_of_several(const Options& options) {
    DdpReport report;
    LoadRemarks remarks;
    const std::vector<std::string> here{"."};
    if (const int code = read(options, options.paths.empty() ? here : options.paths, report, remarks); code != fine)
        return code;
    auto output = Output::open(options.task == Task::data ? options.output : "");
    if (!output) return fail(output.error(), check_failed);
    if (options.task == Task::text) {
        output->write(report.text());
    } else {
        const Sink sink = [&](std::string_view text) { output->write(text); };
        JsonWriter json(sink);
        report.write_json(json);
    }
    return finish_with(options, remarks, *output);
}

int ddp_diff(const Options& options) {
    DdpReport base, test;
    LoadRemarks remarks;
    if (const View* view = find_view(options.format); view && !view->is_for_screen)
        return fail({"--format " + options.format, "has no such text for --layout ddp",
                     "leave one of them out, or try export -f ddp-json"},
                    usage_error);
    const auto sides = sides_of(options);
    if (!sides) return fail(sides.error(), usage_error);
    if (const int code = read(options, sides->a, base, remarks); code != fine) return code;
    if (const int code = read(options, sides->b, test, remarks); code != fine) return code;
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
