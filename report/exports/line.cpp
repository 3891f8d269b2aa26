// line: a launch as one line of JSON, for the log collector of a computing centre and for `cat *.ndjson | duckdb`. What
// one asks of a thousand jobs: who, when, how large, how much of it was MPI, what is wrong and whether it is all there.
// It looks at no single rank again. A line is less than 4 KiB, which several writers may append to one file.
#include <algorithm>
#include <array>
#include <ctime>
#include <numeric>
#include <span>

#include "report/analysis/analysed.h"
#include "report/analysis/finding_fields.h"
#include "report/analysis/steps.h"
#include "report/exports/export.h"
#include "report/model/json_value.h"
#include "report/model/ratio.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_line = 4095;
constexpr std::size_t most_labels = 12;

// Of what a job may make as long as it likes, in bytes; halved until the line is short enough.
struct Limits {
    std::size_t text = 512;
    std::size_t label() const { return std::max<std::size_t>(text / 8, 8); }
};

bool is_inside_a_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::string begin_of(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most - 3;
    while (end > 0 && is_inside_a_character(text[end])) --end;
    return text.substr(0, end) + "...";
}
// Of a list: "0,2,4,..."
std::string whole_items_of(const std::string& list, std::size_t most) {
    return list.size() <= most ? list : list.substr(0, list.rfind(',', most - 4)) + ",...";
}

std::optional<std::uint64_t> known(std::uint64_t value) { return value ? std::optional(value) : std::nullopt; }

std::uint64_t started_at_ns(const Job& job) {
    std::uint64_t first = 0;
    for (const Rank& rank : job.ranks)
        if (rank.started_at_ns != 0 && (first == 0 || rank.started_at_ns < first)) first = rank.started_at_ns;
    return first;
}

// "2023-11-14T22:13:20Z"
std::optional<std::string> moment(std::uint64_t ns) {
    const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
    std::tm utc{};
    std::array<char, 40> text{};
    if (ns == 0 || !gmtime_r(&seconds, &utc) || !std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc))
        return std::nullopt;
    return text.data();
}

// "0-3,7"; both are sorted.
std::string list_text(const std::vector<NumberList::Range>& ranges, const Limits& limits) {
    std::string text;
    for (const auto& [first, last] : ranges) {
        if (!text.empty()) text += ',';
        text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    }
    return whole_items_of(text, limits.text);
}

std::string list_text(const std::vector<std::uint32_t>& ranks, const Limits& limits) {
    std::vector<NumberList::Range> ranges;
    for (const std::uint32_t rank : ranks) {
        if (!ranges.empty() && rank == ranges.back().last + 1)
            ++ranges.back().last;
        else
            ranges.push_back({rank, rank});
    }
    return list_text(ranges, limits);
}

// Where the ranks of a finding ran, if that was on one machine.
std::optional<std::string> host_of(const Job& job, const Finding& finding) {
    std::optional<std::string> host;
    for (const std::uint32_t number : finding.ranks) {
        const Rank* rank = job.find(number);
        if (!rank || job.hosts[rank->host].empty() || (host && *host != job.hosts[rank->host])) return std::nullopt;
        host = job.hosts[rank->host];
    }
    return host;
}

std::optional<std::string> build_id_of(const Job& job) {
    for (const std::vector<Module>* modules : {&job.sites.modules, &job.modules})
        for (const Module& module : *modules)
            if (!module.is_script && module.path == job.executable && !module.build_id.empty()) return module.build_id;
    return std::nullopt;
}

// Of a variable of the environment, what most ranks have.
std::optional<std::string> usual_value_of(const Job& job, std::string_view name, std::size_t most) {
    const auto& all = job.placement.variables;
    const auto found = std::ranges::find(all, name, &Variable::name);
    if (found == all.end() || !found->values.front().value) return std::nullopt;
    return begin_of(*found->values.front().value, most);
}

std::uint64_t gpus_of(const Job& job) {
    std::uint64_t gpus = 0;
    for (const NodeFacts& node : job.placement.nodes) gpus += node.gpus.size();
    return gpus;
}

// Iterations that the program marks, else the steps that its collectives show: of a rank, in a second.
std::optional<double> steps_per_s(const Job& job) {
    for (const RegionRow& row : job.regions)
        if (row.is_iteration && row.time_ns != 0)
            return 1e9 * static_cast<double>(row.entered) / static_cast<double>(row.time_ns);
    const auto steps = steps_of(job);
    return steps && steps->mean_ns > 0 ? std::optional(1e9 / steps->mean_ns) : std::nullopt;
}

void write_identity(JsonWriter& json, const Job& job, const Limits& limits) {
    const std::size_t label = limits.label();
    json.field("schema", 1);
    json.field("mpiprof", MPIPROF_VERSION);
    json.field("job", job.job);
    json.field("job_ids", job.job_ids);
    json.field("launch", job.launch);
    json.field("started_at", moment(started_at_ns(job)));
    json.field("started_at_ns", known(started_at_ns(job)));
    json.field("command", begin_of(job.command, limits.text));
    json.field("executable", begin_of(job.executable, limits.text));
    json.field("build_id", build_id_of(job));
    json.field("directory", begin_of(job.directory, limits.text));
    json.field("cluster", usual_value_of(job, "SLURM_CLUSTER_NAME", label));
    json.field("launcher", begin_of(job.launcher, label));
    json.field("mpi_family", begin_of(job.mpi_family, label));
    json.field("mpi_library", begin_of(job.mpi_library, limits.text / 2));
    json.field("library_version", begin_of(job.library_version, label));
    json.object("labels", [&] {
        for (const SettingRow& row : std::span(job.labels).first(std::min(job.labels.size(), most_labels)))
            json.field(begin_of(row.name, label), begin_of(row.values.front().value, label));
    });
}

// What all ranks that have a profile spent on something.
std::optional<std::uint64_t> of_all_ranks(const std::optional<double>& mean_ns, const Completeness& completeness) {
    if (!mean_ns) return std::nullopt;
    return whole_ns(*mean_ns * static_cast<double>(completeness.profiles));
}

void write_figures(JsonWriter& json, const Analysed& all) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    std::uint64_t message_bytes = 0, file_bytes = 0, errors = 0;
    for (const Rank& rank : job.ranks) {
        message_bytes += rank.message_bytes;
        file_bytes += rank.file_bytes;
        errors += rank.errors;
    }
    json.field("ranks", job.size);
    const bool are_all_placed = !job.is_text || job.ranks_on_named_nodes() == job.size;
    json.field("nodes", are_all_placed ? std::optional(job.nodes.size()) : std::nullopt);
    json.field("gpus", gpus_of(job));
    json.field("elapsed_ns", figures.largest_elapsed_ns);
    json.field("process_ns", known(figures.largest_process_ns));
    json.field("is_elapsed_estimated", figures.is_elapsed_estimated);
    json.field("mpi_ns", figures.inside_ns());
    json.field("mpi_share", figures.share_of_wall(figures.inside_ns()));
    json.field("load_balance", figures.efficiency ? std::optional(figures.efficiency->load_balance) : std::nullopt);
    json.field("waiting_ns", of_all_ranks(all.budget()[Part::waiting], all.completeness()));
    json.field("profiler_ns", of_all_ranks(all.budget()[Part::profiler], all.completeness()));
    json.field("steps_per_s", steps_per_s(job));
    json.field("message_bytes", message_bytes);
    json.field("file_bytes", file_bytes);
    json.field("errors", errors);
}

void write_verdict(JsonWriter& json, const Analysed& all, const Limits& limits) {
    const Finding& cause = all.cause();
    json.object("verdict", [&] {
        json.field("rule", id_of(cause.rule));
        json.field("is_serious", cause.is_serious);
        json.field("ranks", list_text(cause.ranks, limits));
        json.field("host", host_of(all.job, cause));
        json.field("run_share", cost_share(cause));
        const FindingFields fields = fields_of(cause, all);
        write_value(json, "calls", fields.calls);
        write_value(json, "cost_ns", fields.cost_ns);
        write_value(json, "confidence", fields.confidence);
    });
    const std::span others(all.verdicts().begin() + 1, all.verdicts().end());
    json.array(
        "also", others, [&](const Verdict& verdict) { json.put(id_of(verdict.finding.rule)); }, "");
}

void write_completeness(JsonWriter& json, const Completeness& all, const Limits& limits) {
    json.object("completeness", [&] {
        json.field("is_complete", all.is_complete);
        json.field("profiles", all.profiles);
        json.field("expected", all.expected);
        json.field("missing", list_text(all.missing, limits));
        json.field("running", all.running);
        json.field("unfinished", all.unfinished);
        json.field("problems", all.problems);
    });
}

std::string line_of(const Analysed& all, const Limits& limits) {
    std::string line;
    {
        const Sink append = [&](std::string_view text) { line += text; };
        JsonWriter json(append);
        json.object([&] {
            write_identity(json, all.job, limits);
            write_figures(json, all);
            write_verdict(json, all, limits);
            write_completeness(json, all.completeness(), limits);
        });
    }
    return line + '\n';
}

}  // namespace

std::vector<std::string> export_line(const Analysed& all, const ProfileSource&, const Sink& sink, const Complaint&) {
    constexpr std::size_t least_text = 32;
    Limits limits;
    std::string line = line_of(all, limits);
    for (; line.size() > most_line && limits.text > least_text; line = line_of(all, limits)) limits.text /= 2;
    sink(line);
    return {};
}

}  // namespace mpiprof::report
