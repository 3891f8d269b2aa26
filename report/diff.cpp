// Operands to two sides, sides to a difference, and what a gate says of it.
#include "report/diff.h"

#include <fmt/format.h>

#include "report/compare/difference.h"
#include "report/compare/difference_tables.h"
#include "report/compare/difference_words.h"
#include "report/compare/side_names.h"
#include "report/ddp.h"
#include "report/operands.h"
#include "report/say.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 8;

int load_side(const Options& options, const std::vector<std::string>& words, Side& side, Symbols& symbols,
              LoadRemarks& remarks) {
    for (const std::string& word : words) {
        const Operand operand = operand_of(word);
        if (operand.is_pair())
            return fail({word, "is a bare time", "diff compares jobs; scaling takes times"}, usage_error);
        const auto ok = load_runs(
            options, operand,
            [&](LoadedRun&& loaded) {
                side.runs.push_back({run_of(loaded.job, loaded.label), detail_of(loaded.job, symbols)});
                side.runs.back().detail.source = loaded.source;
            },
            remarks);
        if (!ok) return fail(ok.error(), no_profile);
    }
    return fine;
}

int gate(const Options& options, const TestedTime& tested, const Side& a, const Side& b) {
    const CompareOptions& compare = options.compare;
    int code = fine;
    if (compare.fail_on) {
        const Gate result = gate_of(tested, *compare.fail_on);
        if (result == Gate::cannot_tell)
            return fail({fmt::format("--fail-on {:g}%", 100 * *compare.fail_on),
                         "cannot tell: " + verdict_text(tested, a.name, b.name), ""},
                        cannot_tell);
        if (result == Gate::failed)
            code =
                fail({fmt::format("--fail-on {:g}%", 100 * *compare.fail_on), verdict_text(tested, a.name, b.name), ""},
                     check_failed);
    }
    if (compare.fail_on_point) {
        const std::string which = fmt::format("--fail-on-point {:g}%", 100 * *compare.fail_on_point);
        if (!tested.has_ratio()) return fail({which, verdict_text(tested, a.name, b.name), ""}, cannot_tell);
        if (tested.ratio.estimate > 1 + *compare.fail_on_point)
            code = fail({which, verdict_text(tested, a.name, b.name), ""}, check_failed);
    }
    return code;
}

}  // namespace

int read_sides(const Options& options, ReadSides& sides) {
    const auto words = sides_of(options);
    if (!words) return fail(words.error(), usage_error);
    Symbols symbols;
    LoadRemarks remarks;
    auto& [a, b, is_complete] = sides;
    for (const auto& [from, side] : {std::pair(&words->a, &a), std::pair(&words->b, &b)})
        if (const int code = load_side(options, *from, *side, symbols, remarks); code != fine) return code;
    name_sides(a, b);
    is_complete = remarks.is_complete;
    if (!options.is_quiet)
        for (const std::string& line : remarks.lines) say(line);
    return fine;
}

int diff(const Options& options) {
    const bool has_layout = !options.layout.empty(),
               is_gated = options.compare.fail_on || options.compare.fail_on_point;
    if (has_layout)
        if (const int code = ddp_diff(options); code != fine || !is_gated) return code;
    ReadSides sides;
    if (const int code = read_sides(options, sides); code != fine) return code;
    const Side &a = sides.a, &b = sides.b;
    const RunDifference difference = difference_of(a, b, options.compare.time);
    const TestedTime& tested = difference.tested;
    const bool names_region = options.compare.time && options.compare.time->kind == TimeChoice::Kind::region;
    if (names_region && tested.a.empty() && tested.b.empty())
        return fail({"--time region:" + options.compare.time->region, "no run that reached its end has such a region",
                     "mpiprof-report regions lists them"},
                    usage_error);
    if (has_layout) return gate(options, difference.tested, a, b);  // its text has been printed
    const View& view = *find_view(options.format);
    const std::size_t everything = ~std::size_t{0};
    const DifferenceQuestion question{
        .top = options.question.top.value_or(view.is_for_screen ? lines_on_screen : everything),
        .is_for_screen = view.is_for_screen};
    auto output = Output::open("");
    output->write(
        view.show({"diff", difference_tables(a, b, difference, question)}, screen_for(stdout, options.screen)));
    if (const int code = finish(*output); code != fine) return code;
    const int code = gate(options, difference.tested, a, b);
    return code == fine && options.is_strict && !sides.is_complete ? check_failed : code;
}

}  // namespace mpiprof::report
