// Rows of torch's benchmarks/distributed/ddp: percentiles of the seconds that an iteration took, and the examples that
// one rank handled in a second at that pace; both cut and rounded as there.
#include "report/layouts/ddp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "report/model/base_name.h"
#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

constexpr std::array shown{50u, 75u, 90u, 95u};
constexpr std::array compared{75u, 95u};
constexpr std::string_view not_known = "-";  // as diff.py says of a key that a file has not
constexpr std::string_view without_ddp = "no ddp";
// The keys that the benchmark itself writes.
constexpr std::array<std::string_view, 4> own_keys{"bucket_size", "cuda_version", "distributed_backend",
                                                   "pytorch_version"};
constexpr std::string_view results_key = "benchmark_results";

// The value of most ranks; empty: nobody says.
std::string label_of(const Job& job, std::string_view key) {
    for (const SettingRow& row : job.labels)
        if (row.name == key) return row.values.front().value;
    return "";
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at;
}

// "4 GPUs", "1 GPU", "2M|8G" (a slash in a region's name reads so), "no ddp".
bool is_shape(std::string_view name) {
    if (name == without_ddp) return true;
    const std::size_t first = skip_digits(name, 0);
    if (first == 0) return false;
    const std::string_view rest = name.substr(first);
    if (rest == " GPU" || rest == " GPUs") return true;
    if (!rest.starts_with("M|")) return false;
    const std::size_t second = skip_digits(rest, 2);
    return second > 2 && rest.substr(second) == "G";
}

// Where a mark stands: its model and its name among the rows of that.
std::pair<std::string, std::string> place_of(const RegionRow& marks) {
    const auto end = marks.path.rfind('/');
    const std::string around = end == std::string::npos ? "" : marks.path.substr(0, end);
    const auto slash = around.rfind('/');
    const std::string last = slash == std::string::npos ? around : around.substr(slash + 1);
    if (!is_shape(last)) return {around, ""};
    return {slash == std::string::npos ? "" : around.substr(0, slash), last};
}

std::string model_of(const Job& job) {
    const std::string label = label_of(job, "model");
    if (!label.empty()) return label;
    return base_name(job.command.empty() ? job.executable : job.command.substr(0, job.command.find(' ')));
}

// Nodes, and the most ranks on one of them: "2M/8G".
std::string shape_of(const Job& job, const std::vector<std::uint32_t>& ranks) {
    std::map<std::uint32_t, std::uint32_t> on_node;
    for (const std::uint32_t number : ranks)
        if (const Rank* rank = job.find(number)) ++on_node[rank->node];
    std::uint32_t most = 0;
    for (const auto& [node, count] : on_node) most = std::max(most, count);
    return fmt::format("{}M/{}G", on_node.size(), most);
}

// What one rank handled in one iteration.
std::uint64_t batch_of(const RegionRow& marks) {
    return marks.entered == 0 ? 0
                              : static_cast<std::uint64_t>(std::llround(static_cast<double>(marks.items) /
                                                                        static_cast<double>(marks.entered)));
}

// By what ranks talked to each other.
std::string backend_of(const Job& job) {
    if (job.has(Family::nccl)) return "nccl";
    return job.is_serial() ? "" : "mpi";
}

bool is_number(const std::string& text) {
    constexpr std::size_t exact = 15;
    return !text.empty() && text.size() <= exact && skip_digits(text, 0) == text.size() &&
           (text.size() == 1 || text[0] != '0');
}

// Cut, not rounded.
std::uint64_t rate_of(std::uint64_t batch, double seconds) {
    return seconds > 0 ? static_cast<std::uint64_t>(std::min(static_cast<double>(batch) / seconds, 1e18)) : 0;
}

}  // namespace

double DdpReport::Row::seconds_at(unsigned percent) const {
    if (marks.has_exact_percentiles) return percentile_of(marks.times, percent / 100.0);
    const auto ns = percent == 50   ? marks.p50_ns
                    : percent == 75 ? marks.p75_ns
                    : percent == 90 ? marks.p90_ns
                                    : marks.p95_ns;
    return ns.value_or(0) / 1e9;
}

void DdpReport::add_key(const std::string& key, const std::string& value) {
    if (key == results_key || value.empty()) return;
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), key,
                                     [](const auto& known, const std::string& wanted) { return known.first < wanted; });
    if (at == keys_.end() || at->first != key)
        keys_.insert(at, {key, value});
    else if (at->second == not_known)
        at->second = value;
    else if (value != not_known && (", " + at->second + ",").find(", " + value + ",") == std::string::npos)
        at->second += ", " + value;  // another job of the same table
}

void DdpReport::add_keys(const Job& job) {
    for (const SettingRow& row : job.labels) add_key(row.name, row.values.front().value);
    if (label_of(job, "distributed_backend").empty()) add_key("distributed_backend", backend_of(job));
    for (const std::string_view key : own_keys) add_key(std::string(key), std::string(not_known));
}

void DdpReport::add(const Job& job) {
    std::vector<const RegionRow*> marks;
    for (const RegionRow& row : job.regions)
        if (row.is_iteration && row.p50_ns) marks.push_back(&row);
    if (marks.empty()) return;
    std::stable_sort(marks.begin(), marks.end(),
                     [](const RegionRow* a, const RegionRow* b) { return a->first_number < b->first_number; });
    add_keys(job);
    for (const RegionRow* one : marks) {
        const auto [named_model, name] = place_of(*one);
        const std::string model = named_model.empty() ? model_of(job) : std::string(named_model);
        const std::uint64_t batch = batch_of(*one);
        auto found = std::find_if(benchmarks_.begin(), benchmarks_.end(), [&](const Benchmark& benchmark) {
            return benchmark.model == model && benchmark.batch_size == batch;
        });
        if (found == benchmarks_.end())
            found = benchmarks_.insert(benchmarks_.end(), Benchmark{.model = model, .batch_size = batch, .rows = {}});
        const bool is_baseline = name == without_ddp || (job.is_serial() && job.size == 1);
        Row row{.shape = is_baseline ? std::string(without_ddp) : shape_of(job, one->marked_by),
                .is_without_ddp = is_baseline,
                .ranks = one->marked_by,
                .marks = *one};
        const auto before = [](const Row& a, const Row& b) {
            if (a.is_without_ddp != b.is_without_ddp) return a.is_without_ddp;
            return a.ranks.size() < b.ranks.size();
        };
        found->rows.insert(std::upper_bound(found->rows.begin(), found->rows.end(), row, before), std::move(row));
    }
}

// ---- the table ----

std::string DdpReport::row_text(const Benchmark& benchmark, const Row& row) {
    std::string text = fmt::format("{:4} GPUs -- {:>8}:", row.ranks.size(), row.shape);
    for (const unsigned percent : shown) {
        const double seconds = row.seconds_at(percent);
        const std::string rate = benchmark.batch_size != 0 && seconds > 0
                                     ? fmt::format("{}", rate_of(benchmark.batch_size, seconds))
                                     : std::string(not_known);
        text += fmt::format("  p{:02}:  {:1.3f}s  {:>6}/s", percent, seconds, rate);
    }
    return text + "\n";
}

std::string DdpReport::benchmark_text(const Benchmark& benchmark) {
    std::string text = "Benchmark: " + visible(benchmark.model, true);
    if (benchmark.batch_size != 0) text += fmt::format(" with batch size {}", benchmark.batch_size);
    text += fmt::format("\n\n{:22}", "");
    for (std::size_t i = 0; i < shown.size(); ++i) text += fmt::format("{:>14}{:>10}", "sec/iter", "ex/sec");
    text += "\n";
    for (const Row& row : benchmark.rows) text += row_text(benchmark, row);
    return text;
}

std::string DdpReport::text() const {
    std::string text;
    for (const Benchmark& benchmark : benchmarks_) text += (text.empty() ? "" : "\n") + benchmark_text(benchmark);
    return text;
}

// ---- the file ----

// The one without DDP, or null, and the others.
std::vector<const DdpReport::Row*> DdpReport::results_of(const Benchmark& benchmark) {
    std::vector<const Row*> results;
    if (benchmark.rows.empty() || !benchmark.rows.front().is_without_ddp) results.push_back(nullptr);
    for (const Row& row : benchmark.rows) results.push_back(&row);
    return results;
}

void DdpReport::write_json(JsonWriter& json) const {
    json.object([&] {
        for (const auto& [key, value] : keys_) {
            if (is_number(value))
                json.field(key, std::strtoull(value.c_str(), nullptr, 10));
            else
                json.field(key, value);
        }
        json.array(results_key, benchmarks_, [&](const Benchmark& benchmark) {
            json.item([&] {
                json.field("model", benchmark.model);
                json.field("batch_size", benchmark.batch_size);
                json.array("result", results_of(benchmark), [&](const Row* row) {
                    static const Row none{};
                    const Row& result = row ? *row : none;
                    json.item([&] {
                        json.array(
                            "ranks", result.ranks, [&](std::uint32_t rank) { json.put(rank); }, " ");
                        // Of ranks that kept every fourth iteration each time stands for four.
                        std::uint64_t each = result.marks.stride;
                        for (const RegionRow::Times& time : result.marks.times) each = std::gcd(each, time.count);
                        std::vector<double> seconds;
                        for (const RegionRow::Times& time : result.marks.times)
                            seconds.insert(seconds.end(), time.count / each, time.us / 1e6);
                        json.array(
                            "measurements", seconds, [&](double one) { json.raw(fmt::format("{:.6f}", one)); }, " ");
                    });
                });
            });
        });
    });
    json.raw("\n");
}

// ---- what differs ----

void DdpReport::add_difference(const Benchmark& base, const Benchmark& test, Difference& difference) {
    std::string& text = difference.text;
    text += fmt::format("Benchmark: {} with batch size {}\n\n{:>10}", visible(base.model, true), base.batch_size, "");
    for (std::size_t i = 0; i < compared.size(); ++i)
        text += fmt::format("{:>16}{:>10}{:>10}", "sec/iter", "ex/sec", "diff");
    text += "\n";
    const auto a = results_of(base), b = results_of(test);
    for (std::size_t i = 1; i < std::min(a.size(), b.size()); ++i) {
        if (a[i]->ranks.size() != b[i]->ranks.size()) continue;
        ++difference.compared;
        text += fmt::format("{:4} GPUs:", a[i]->ranks.size());
        for (const unsigned percent : compared) {
            const double before = a[i]->seconds_at(percent), now = b[i]->seconds_at(percent);
            const double change = before > 0 ? -100 * ((now - before) / before) : 0;
            text +=
                fmt::format("  p{:02}: {:8.3f}s {:7}/s {:+8.1f}%", percent, now, rate_of(base.batch_size, now), change);
        }
        text += "\n";
    }
    text += "\n";
}

DdpReport::Difference DdpReport::difference(const DdpReport& base, const DdpReport& test) {
    Difference difference;
    std::string& text = difference.text;
    text = fmt::format("{:20} {:>20}      {:>20}\n", "", "baseline", "test");
    text += fmt::format("{:20} {:>20}      {:>20}\n", "", std::string(20, '-'), std::string(20, '-'));
    std::map<std::string, std::pair<std::string, std::string>> keys;
    for (const auto& [key, value] : base.keys_) keys.try_emplace(key, value, not_known);
    for (const auto& [key, value] : test.keys_)
        keys.try_emplace(key, not_known, not_known).first->second.second = value;
    for (const auto& [key, values] : keys)
        text += fmt::format("{:20} {:>20}  vs  {:>20}\n", visible(key, true) + ":", visible(values.first, true),
                            visible(values.second, true));
    text += "\n";
    for (std::size_t i = 0; i < std::min(base.benchmarks_.size(), test.benchmarks_.size()); ++i) {
        const Benchmark &a = base.benchmarks_[i], &b = test.benchmarks_[i];
        if (a.model == b.model && a.batch_size == b.batch_size) add_difference(a, b, difference);
    }
    return difference;
}

// ---- of one job ----

Problem no_marks(const std::string& what) {
    return {what, "the program marks no iterations", "mpiprof_mark(examples) of mpiprof.h at the end of each does"};
}

Result<std::string> ddp_text(const Job& job) {
    DdpReport report;
    report.add(job);
    if (report.is_empty()) return tl::make_unexpected(no_marks("text --layout ddp"));
    return report.text();
}

}  // namespace mpiprof::report
