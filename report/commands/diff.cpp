// `mpiprof-report diff`: operands to two sides, sides to a difference, and what a gate says of it.
#include "report/commands/diff.h"

#include <fmt/format.h>

#include <charconv>

#include "report/commands/command.h"
#include "report/commands/ddp.h"
#include "report/commands/operands.h"
#include "report/commands/present.h"
#include "report/commands/say.h"
#include "report/compare/difference.h"
#include "report/compare/difference_tables.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 8;

int load_side(const Options& options, const std::vector<std::string>& words, Side& side, Symbols& symbols,
              LoadRemarks& remarks) {
    const auto add = [&](LoadedRun&& loaded) {
        side.runs.push_back({run_of(loaded.job, loaded.label), detail_of(loaded.job, symbols)});
        side.runs.back().detail.source = loaded.source;
    };
    return load_each(options, words, "diff compares jobs; scaling takes times", add, remarks);
}

}  // namespace

int read_sides(const Options& options, const Sides& words, ReadSides& sides) {
    Symbols symbols;
    LoadRemarks remarks;
    auto& [a, b, is_complete] = sides;
    for (const auto& [from, side] : {std::pair(&words.a, &a), std::pair(&words.b, &b)})
        if (const int code = load_side(options, *from, *side, symbols, remarks); code != fine) return code;
    name_sides(a, b);
    is_complete = remarks.is_complete;
    say_all(remarks.lines, options.is_quiet);
    return fine;
}

namespace {

// "5%" or "5" as 0.05.
std::optional<double> share_of(std::string text) {
    if (text.ends_with('%')) text.pop_back();
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_all = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return is_all && value >= 0 && value <= 1e6 ? std::optional(value / 100) : std::nullopt;
}

std::string percent(double share) { return fmt::format("{:g}%", 100 * share); }

class Diff : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.compared(time_);
        arguments.texts("--against", against_, "The runs of side B", "RUN...");
        arguments.choice("--layout", layout_, "ddp: as diff.py of PyTorch's DDP benchmark prints it, and no more",
                         {"ddp"}, "NAME");
        take_share(arguments, "--fail-on", fail_on_,
                   "Exit code 1 if it is slower by more than this (95% confidence), 4 if inconclusive");
        take_share(arguments, "--fail-on-point", fail_on_point_,
                   "Exit code 1 if the point estimate of the change exceeds this");
        arguments.footer(
            "diff A B, or with repeats: diff A1 A2 ... --against B1 B2 ...; each [LABEL=]DIR[:JOB] or a profile.");
    }

    int run(const Options& options) override {
        const auto words = sides_of(options, against_);
        if (!words) return fail(words.error(), usage_error);
        if (!layout_.empty())  // its text is all that is printed
            if (const int code = ddp_diff(options, *words); code != fine || !(fail_on_ || fail_on_point_)) return code;
        ReadSides sides;
        if (const int code = read_sides(options, *words, sides); code != fine) return code;
        const RunDifference difference = difference_of(sides.a, sides.b, time_);
        const TestedTime& tested = difference.tested;
        const bool names_region = time_ && time_->kind == TimeChoice::Kind::region;
        if (names_region && tested.a.empty() && tested.b.empty())
            return fail({"--time region:" + time_->region, "no run that reached its end has such a region",
                         "mpiprof-report regions lists them"},
                        usage_error);
        if (layout_.empty())
            if (const int code = show(options, sides, difference); code != fine) return code;
        const int code = gate(tested, sides.a.name, sides.b.name);
        return code == fine && layout_.empty() && options.is_strict && !sides.is_complete ? check_failed : code;
    }

  private:
    static void take_share(Arguments& arguments, const char* name, std::optional<double>& to, const char* about) {
        arguments.value(name, about, "PERCENT", [&to](const std::string& word) -> std::string {
            to = share_of(word);
            return to ? "" : "is not a percentage; try 5%";
        });
    }

    static int show(const Options& options, const ReadSides& sides, const RunDifference& difference) {
        const bool is_for_screen = view_of(options).is_for_screen;
        const std::size_t everything = ~std::size_t{0};
        const DifferenceQuestion question{.top = options.top.value_or(is_for_screen ? lines_on_screen : everything),
                                          .is_for_screen = is_for_screen};
        return present(options, "diff", difference_tables(sides.a, sides.b, difference, question));
    }

    int gate(const TestedTime& tested, const std::string& a, const std::string& b) const {
        int code = fine;
        if (fail_on_) {
            const std::string which = "--fail-on " + percent(*fail_on_);
            const Gate result = gate_of(tested, *fail_on_);
            if (result == Gate::cannot_tell)
                return fail({which, "inconclusive: " + verdict_text(tested, a, b), ""}, cannot_tell);
            if (result == Gate::failed) code = fail({which, verdict_text(tested, a, b), ""}, check_failed);
        }
        if (fail_on_point_) {
            const std::string which = "--fail-on-point " + percent(*fail_on_point_);
            if (!tested.has_ratio()) return fail({which, verdict_text(tested, a, b), ""}, cannot_tell);
            if (tested.ratio.estimate > 1 + *fail_on_point_)
                code = fail({which, verdict_text(tested, a, b), ""}, check_failed);
        }
        return code;
    }

    std::optional<TimeChoice> time_;
    std::vector<std::string> against_;
    std::string layout_;                             // empty: tables of ours
    std::optional<double> fail_on_, fail_on_point_;  // 0.05 is 5 %
};

}  // namespace

std::unique_ptr<Command> make_diff() { return std::make_unique<Diff>(); }

}  // namespace mpiprof::report
