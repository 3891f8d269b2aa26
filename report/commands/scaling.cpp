// `mpiprof-report scaling`: operands to series, series to tables.
#include "report/commands/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "report/commands/command.h"
#include "report/commands/operands.h"
#include "report/commands/present.h"
#include "report/commands/say.h"
#include "report/compare/scaling.h"
#include "report/compare/scaling_tables.h"
#include "report/model/joined.h"

namespace mpiprof::report {
namespace {

struct Countable {
    std::string_view name;
    UnitWords words;
    std::optional<std::uint64_t> (*of)(const Run&);
};
constexpr double usual_worth = 0.25;

constexpr Countable units[] = {
    {"rank", {"rank", "ranks"}, [](const Run& run) { return std::optional<std::uint64_t>(run.ranks); }},
    {"node", {"node", "nodes"}, [](const Run& run) { return std::optional<std::uint64_t>(run.nodes); }},
    {"core", {"core", "cores"}, [](const Run& run) { return run.cores; }},
    {"gpu", {"GPU", "GPUs"}, [](const Run& run) { return run.gpus; }},
};

const Countable* find_unit(std::string_view name) {
    const auto* const found =
        std::find_if(std::begin(units), std::end(units), [&](const Countable& u) { return u.name == name; });
    return found == std::end(units) ? nullptr : found;
}

// core=1,gpu=2: what is charged for, and how much.
struct Weight {
    const Countable* unit;
    double weight;
    std::string text;  // as it was given
};

Result<std::vector<Weight>> weights_of(const std::string& text) {
    std::vector<Weight> weights;
    std::istringstream in(text);
    for (std::string item; std::getline(in, item, ',');) {
        const auto equals = item.find('=');
        const std::string number = equals == std::string::npos ? "" : item.substr(equals + 1);
        const Countable* unit = find_unit(item.substr(0, equals));
        const auto weight = positive_of(number);
        if (!unit || !weight) return problem("--su " + text, "is no list of weights", "try core=1,gpu=2");
        weights.push_back({unit, *weight, number});
    }
    return weights;
}

// What is charged for this run by the second; empty: it does not say how much it had.
std::optional<double> resources_of(const Run& run, const std::vector<Weight>& weights) {
    double sum = 0;
    for (const Weight& weight : weights) {
        const auto count = weight.unit->of(run);
        // A node without GPUs is charged for none.
        if (!count && weight.unit->name != "gpu") return std::nullopt;
        sum += weight.weight * static_cast<double>(count.value_or(0));
    }
    return sum > 0 ? std::optional(sum) : std::nullopt;
}

std::string su_text(const std::vector<Weight>& weights, bool is_weak) {
    if (weights.empty()) return is_weak ? "t / t1" : "N x t / t1";
    std::string sum;
    for (const Weight& weight : weights)
        sum += fmt::format("{}{}{}", sum.empty() ? "" : " + ", weight.weight == 1 ? "" : weight.text + " x ",
                           weight.unit->words.many);
    return fmt::format("({}) x t, relative to the same of the smallest N, by the resources of each run", sum);
}

// A series that is being read.
struct Building {
    std::string name;
    std::vector<Sample> samples;
    std::vector<SizedRun> runs;
    std::size_t decimals = 0;
};

// "MPI_Finalize"; where runs of a series end in different ways, "exit or MPI_Finalize".
std::string ends_of(const std::vector<Building>& all, std::string_view Vocabulary::*moment) {
    std::set<std::string_view> moments;
    for (const Building& series : all)
        for (const SizedRun& sized : series.runs) moments.insert(sized.run.words->*moment);
    return joined(moments, " or ");
}

std::string time_text(const TimeChoice& time, const std::vector<Building>& series) {
    const std::string end = ends_of(series, &Vocabulary::finalize);
    if (end.empty()) return "as it was given";
    switch (time.kind) {
        case TimeChoice::Kind::process:
            return fmt::format("of the process, from its start to {}, of the rank that took longest", end);
        case TimeChoice::Kind::mpi:
            return fmt::format("from {} to {}, of the rank that took longest", ends_of(series, &Vocabulary::init), end);
        case TimeChoice::Kind::iteration:
            return "of one iteration, the mean";
        case TimeChoice::Kind::region:
            return fmt::format("in the region {}, of the rank that spent most there", time.region);
    }
    return "";
}

std::size_t decimals_in(const std::string& number) {
    const auto point = number.find('.');
    return point == std::string::npos ? 0 : number.size() - point - 1;
}

bool is_directory(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
}

class Reader {
  public:
    Reader(const Options& options, const ScalingOptions& own)
        : options_(options), own_(own), unit_(*find_unit(own.unit)), time_(own.time.value_or(TimeChoice{})) {
        remarks_.or_else = "nor N=SECONDS";
    }

    int read(ScalingReport& report) {
        auto weights = weights_of(own_.su);
        if (!weights) return fail(weights.error(), usage_error);
        weights_ = std::move(*weights);
        if (options_.paths.empty())
            return fail({"scaling", "needs runs to compare", "directories of jobs, pairs like 4=95.2, or a file *.csv"},
                        usage_error);
        for (const std::string& word : options_.paths) {
            const Operand operand = operand_of(word);
            has_names_ |= !operand.label.empty();
            tables_of_times_ += is_table_of_times(operand);
        }
        for (const std::string& word : options_.paths)
            if (const int code = take(word); code != fine) return code;
        for (const Building& series : series_)
            for (std::string& text : cautions_of({series.name, series.runs, own_.is_weak, time_.kind, unit_.words}))
                cautions_.push_back(std::move(text));
        say_all(remarks_.lines, options_.is_quiet);
        if (series_.empty()) return fail({"scaling", "no run is left to compare", ""}, no_profile);
        for (const Building& series : series_)
            if (const auto programs = programs_of(series.runs); programs.size() > 1)
                return fail({"scaling", fmt::format("these are different programs: {}", joined(programs, ", ")),
                             "with a label each (A=DIR B=DIR) they are series of their own"},
                            usage_error);
        report = report_of();
        report.is_complete = remarks_.is_complete;
        return fine;
    }

  private:
    static bool is_table_of_times(const Operand& operand) {
        return operand.path.ends_with(".csv") && !is_directory(operand.path);
    }
    // Directories without labels are the sizes of one series; where others have labels, or there are several files of
    // times, each is a series of its own.
    std::string series_of(const Operand& operand) const {
        const bool is_apart = has_names_ || (is_table_of_times(operand) && tables_of_times_ > 1);
        if (!operand.label.empty() || !is_apart) return operand.label;
        if (operand.is_pair()) return "given times";
        return is_table_of_times(operand) ? std::filesystem::path(operand.path).stem().string() : operand.name();
    }
    Building& series_of(const std::string& name) {
        for (Building& one : series_)
            if (one.name == name) return one;
        return series_.emplace_back(Building{.name = name, .samples = {}, .runs = {}});
    }

    int add_time(const TimeRow& row, const std::string& series) {
        if (!weights_.empty())
            return fail({"--su", "needs directories of jobs", "a bare time does not say what it was charged for"},
                        usage_error);
        Building& to = series_of(series);
        to.samples.push_back({.n = row.n, .seconds = row.seconds});
        to.decimals = std::max(to.decimals, decimals_in(row.seconds_text));
        return fine;
    }

    int take(const std::string& word) {
        const Operand operand = operand_of(word);
        if (operand.is_pair())
            return add_time({*size_of(operand.n), *positive_of(operand.seconds), operand.seconds, {}},
                            series_of(operand));
        if (is_table_of_times(operand)) {
            const auto rows = read_times(operand.path);
            if (!rows) return fail(rows.error(), usage_error);
            for (const TimeRow& row : *rows)
                if (const int code = add_time(row, row.series.empty() ? series_of(operand) : row.series); code != fine)
                    return code;
            return fine;
        }
        int code = fine;
        const auto ok = load_runs(
            options_, operand,
            [&](LoadedRun&& loaded) {
                if (code == fine) code = add_run(run_of(loaded.job, loaded.label), series_of(operand));
            },
            remarks_);
        return ok ? code : fail(ok.error(), no_profile);
    }

    int add_run(Run&& run, const std::string& series) {
        if (run.ending != Ending::whole) {
            remarks_.lines.push_back(
                fmt::format("{}: {}: it is left out", run.label,
                            run.ending == Ending::running
                                ? "still runs"
                                : fmt::format("did not reach {}, so its time says nothing", run.words->finalize)));
            return fine;
        }
        if (run.profiles < run.expected)
            remarks_.lines.push_back(fmt::format("{}: {} of {} ranks have a profile; its time is that of these",
                                                 run.label, run.profiles, run.expected));
        if (time_.kind == TimeChoice::Kind::process && !run.is_process_known)
            remarks_.lines.push_back(fmt::format("{}: does not say when its processes began; its time is from {} on",
                                                 run.label, run.words->init));
        const auto seconds = seconds_of(run, time_);
        if (!seconds)
            return fail(
                {run.label, time_.kind == TimeChoice::Kind::iteration ? "marks no iterations" : "has no such region",
                 "docs/regions.md says how a program names them"},
                usage_error);
        const auto n = unit_.of(run);
        if (!n)
            return fail({run.label, fmt::format("does not say how many {} it had", unit_.words.many),
                         "try --unit rank, or pairs of N=SECONDS"},
                        usage_error);
        Building& to = series_of(series);
        Sample sample{.n = static_cast<double>(*n), .seconds = *seconds, .label = run.label};
        if (!weights_.empty() && !(sample.resources = resources_of(run, weights_)))
            return fail({run.label, "does not say which cores it was allowed", "leave --su out: N is charged for then"},
                        usage_error);
        if (const RegionRow* marks = iterations_of(run);
            marks && marks->items != 0 && marks->ranks != 0 && marks->time_ns != 0)
            // Items of all ranks, over the time that each of them spent in iterations.
            sample.items_per_second =
                static_cast<double>(marks->items) / (static_cast<double>(marks->time_ns) / marks->ranks / 1e9);
        to.samples.push_back(std::move(sample));
        to.runs.push_back({static_cast<double>(*n), std::move(run)});
        return fine;
    }

    // Of measured times four digits, of the shortest.
    static std::size_t decimals_of(const Building& built) {
        if (built.runs.empty()) return built.decimals;
        double least = built.samples.front().seconds;
        for (const Sample& sample : built.samples) least = std::min(least, sample.seconds);
        return static_cast<std::size_t>(std::clamp(3 - static_cast<int>(std::floor(std::log10(least))), 0, 6));
    }

    ScalingReport report_of() {
        ScalingReport report{.series = {},
                             .unit = unit_.words,
                             .time = time_text(time_, series_),
                             .su = su_text(weights_, own_.is_weak),
                             .cautions = cautions_,
                             .is_for_screen = true};
        for (Building& built : series_) {
            ScalingSeries& series = report.series.emplace_back(ScalingSeries{
                .scaling = scaling_of(built.name, built.samples, own_.is_weak, own_.worth.value_or(usual_worth)),
                .decimals = static_cast<int>(decimals_of(built)),
                .runs = {}});
            series.runs = std::move(built.runs);
        }
        return report;
    }

    const Options& options_;
    const ScalingOptions& own_;
    const Countable& unit_;
    TimeChoice time_;
    std::vector<Weight> weights_;
    std::vector<Building> series_;
    LoadRemarks remarks_;
    std::vector<std::string> cautions_;
    bool has_names_ = false;
    int tables_of_times_ = 0;
};

}  // namespace

void ScalingOptions::take(Arguments& arguments) {
    arguments.choice("--unit", unit, "What N counts: rank (default), node, core or gpu",
                     {"rank", "node", "core", "gpu"}, "UNIT");
    arguments.text("--su", su, "Service-unit weights: core=1,gpu=2 (default: N)", "WEIGHTS");
    arguments.flag("--weak", is_weak, "The work grew with N: efficiency is t1 / tN");
    arguments.number("--worth", worth, "Minimum marginal speedup per added unit (default 0.25)", 0.0, 1.0, "GAIN");
}

int read_scaling(const Options& options, const ScalingOptions& own, ScalingReport& report) {
    return Reader(options, own).read(report);
}

namespace {

class ScalingCommand : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.compared(own_.time);
        own_.take(arguments);
        arguments.footer(
            "Operands: [LABEL=]DIR[:JOB] of a job each; [LABEL=]N=SECONDS; files *.csv of n,seconds[,series]. What has\n"
            "one label is one series. mpiprof-report scaling --unit gpu 1=226 2=134 3=95 4=76");
    }

    int run(const Options& options) override {
        ScalingReport report;
        if (const int code = read_scaling(options, own_, report); code != fine) return code;
        report.is_for_screen = view_of(options).is_for_screen;
        const int code = present(options, "scaling", scaling_tables(report));
        return code == fine && options.is_strict && !report.is_complete ? check_failed : code;
    }

  private:
    ScalingOptions own_;
};

}  // namespace

std::unique_ptr<Command> make_scaling() { return std::make_unique<ScalingCommand>(); }

}  // namespace mpiprof::report
