// line: a launch as one line of JSON, for the log collector of a computing centre and for `cat *.ndjson | duckdb`. What
// one asks of a thousand jobs: who, when, how large, how much of it was MPI, what is wrong and whether it is all there.
// It looks at no single rank again.
#include <array>
#include <ctime>
#include <span>

#include "report/analysis/analysed.h"
#include "report/analysis/finding_fields.h"
#include "report/exports/export.h"
#include "report/model/json_value.h"

namespace mpiprof::report {
namespace {

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
std::string list_text(const std::vector<NumberList::Range>& ranges) {
    std::string text;
    for (const auto& [first, last] : ranges) {
        if (!text.empty()) text += ',';
        text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    }
    return text;
}

std::string list_text(const std::vector<std::uint32_t>& ranks) {
    std::vector<NumberList::Range> ranges;
    for (const std::uint32_t rank : ranks) {
        if (!ranges.empty() && rank == ranges.back().last + 1)
            ++ranges.back().last;
        else
            ranges.push_back({rank, rank});
    }
    return list_text(ranges);
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

void write_identity(JsonWriter& json, const Job& job) {
    json.field("schema", 1);
    json.field("mpiprof", MPIPROF_VERSION);
    json.field("job", job.job);
    json.field("launch", job.launch);
    json.field("started_at", moment(started_at_ns(job)));
    json.field("started_at_ns", known(started_at_ns(job)));
    json.field("command", job.command);
    json.field("executable", job.executable);
    json.field("directory", job.directory);
    json.field("launcher", job.launcher);
    json.field("mpi_family", job.mpi_family);
    json.field("mpi_library", job.mpi_library);
    json.field("library_version", job.library_version);
    json.object("labels", [&] {
        for (const SettingRow& label : job.labels) json.field(label.name, label.values.front().value);
    });
}

void write_figures(JsonWriter& json, const Job& job, const Figures& figures) {
    std::uint64_t message_bytes = 0, file_bytes = 0, errors = 0;
    for (const Rank& rank : job.ranks) {
        message_bytes += rank.message_bytes;
        file_bytes += rank.file_bytes;
        errors += rank.errors;
    }
    json.field("ranks", job.size);
    const bool are_all_placed = !job.is_text || job.ranks_on_named_nodes() == job.size;
    json.field("nodes", are_all_placed ? std::optional(job.nodes.size()) : std::nullopt);
    json.field("elapsed_ns", figures.largest_elapsed_ns);
    json.field("process_ns", known(figures.largest_process_ns));
    json.field("is_elapsed_estimated", figures.is_elapsed_estimated);
    json.field("mpi_ns", figures.inside_ns());
    json.field("mpi_share", figures.share_of_wall(figures.inside_ns()));
    json.field("load_balance", figures.efficiency ? std::optional(figures.efficiency->load_balance) : std::nullopt);
    json.field("message_bytes", message_bytes);
    json.field("file_bytes", file_bytes);
    json.field("errors", errors);
}

void write_verdict(JsonWriter& json, const Analysed& all) {
    const Finding& cause = all.cause();
    json.object("verdict", [&] {
        json.field("rule", id_of(cause.rule));
        json.field("is_serious", cause.is_serious);
        json.field("ranks", list_text(cause.ranks));
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

void write_completeness(JsonWriter& json, const Completeness& all) {
    json.object("completeness", [&] {
        json.field("is_complete", all.is_complete);
        json.field("profiles", all.profiles);
        json.field("expected", all.expected);
        json.field("missing", list_text(all.missing));
        json.field("running", all.running);
        json.field("unfinished", all.unfinished);
        json.field("problems", all.problems);
    });
}

}  // namespace

std::vector<std::string> export_line(const Analysed& all, const ProfileSource&, const Sink& sink, const Complaint&) {
    const Job& job = all.job;
    JsonWriter json(sink);
    json.object([&] {
        write_identity(json, job);
        write_figures(json, job, all.figures());
        write_verdict(json, all);
        write_completeness(json, all.completeness());
    });
    json.raw("\n");
    return {};
}

}  // namespace mpiprof::report
