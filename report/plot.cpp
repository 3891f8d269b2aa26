// Operands to a chart, the chart to a file.
#include "report/plot.h"

#include <fmt/format.h>

#include <filesystem>

#include "report/compare/charts.h"
#include "report/operands.h"
#include "report/plots/picture.h"
#include "report/say.h"
#include "report/scaling.h"

namespace mpiprof::report {
namespace {

int read_runs(const Options& options, std::vector<Run>& runs) {
    LoadRemarks remarks;
    const std::vector<std::string> here{"."};
    for (const std::string& word : options.paths.empty() ? here : options.paths) {
        const Operand operand = operand_of(word);
        if (operand.is_pair()) return fail({word, "is a bare time", "only plot scaling takes times"}, usage_error);
        const auto ok = load_runs(
            options, operand, [&](LoadedRun&& loaded) { runs.push_back(run_of(loaded.job, loaded.label)); }, remarks);
        if (!ok) return fail(ok.error(), no_profile);
    }
    if (!options.is_quiet)
        for (const std::string& line : remarks.lines) say(line);
    return fine;
}

}  // namespace

int plot(const Options& options) {
    const auto format = picture_format(options.output);
    if (!format) return fail(format.error(), usage_error);
    Chart chart;
    if (options.compare.plot == PlotKind::scaling) {
        ScalingReport report;
        if (const int code = read_scaling(options, report); code != fine) return code;
        chart = scaling_chart(report);
    } else {
        std::vector<Run> runs;
        if (const int code = read_runs(options, runs); code != fine) return code;
        chart = options.compare.plot == PlotKind::bandwidth ? bandwidth_chart(runs, options.compare.call)
                                                            : sizes_chart(runs);
    }
    if (chart.curves.empty()) return fail({"plot", "no message of these runs has a size and a time", ""}, no_profile);
    const auto bytes = picture_of(svg_of(chart), *format);
    if (!bytes) return fail(bytes.error(), check_failed);
    auto output = Output::open(options.output);
    if (!output) return fail(output.error(), check_failed);
    output->write(*bytes);
    return finish(*output);
}

}  // namespace mpiprof::report
