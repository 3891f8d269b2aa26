// The rows of torch's benchmarks/distributed/ddp/benchmark.py: percentiles of the seconds that an iteration took, and
// the examples that one rank handled in a second at that pace. A job is one row; rows of several sizes stand below each
// other as they do there if their texts are put together.
#include "report/layouts/ddp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

constexpr std::array<std::pair<int, std::optional<double> RegionRow::*>, 4> percentiles{{
    {50, &RegionRow::p50_ns},
    {75, &RegionRow::p75_ns},
    {90, &RegionRow::p90_ns},
    {95, &RegionRow::p95_ns},
}};

std::string base(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The region around the marks, else the program.
std::string name_of(const RegionRow& row, const Job& job) {
    const auto slash = row.path.rfind('/');
    if (slash != std::string::npos) return row.path.substr(0, slash);
    const std::string command = job.command.empty() ? job.executable : job.command.substr(0, job.command.find(' '));
    return base(command);
}

// What one rank handled in one iteration; 0: the program did not say.
double examples_of(const RegionRow& row) {
    return row.entered ? static_cast<double>(row.items) / static_cast<double>(row.entered) : 0;
}

// Nodes and ranks on each: "2M/8G".
std::string shape_of(const Job& job) {
    std::vector<std::uint32_t> on_node(job.nodes.size());
    for (const Rank& rank : job.ranks) ++on_node[rank.node];
    const auto most = on_node.empty() ? 0 : *std::max_element(on_node.begin(), on_node.end());
    return fmt::format("{}M/{}G", job.nodes.size(), most);
}

std::string block_of(const RegionRow& row, const Job& job) {
    const double examples = examples_of(row);
    std::string text = "Benchmark: " + visible(name_of(row, job), true);
    if (examples > 0) text += fmt::format(" with batch size {}", std::llround(examples));
    text += fmt::format("\n\n{:22}", "");
    for (std::size_t i = 0; i < percentiles.size(); ++i) text += fmt::format("{:>14}{:>10}", "sec/iter", "ex/sec");
    text += fmt::format("\n{:4} GPUs -- {:>8}:", job.size, shape_of(job));
    for (const auto& [number, value] : percentiles) {
        const double seconds = *(row.*value) / 1e9;
        // Cut, not rounded, as there.
        const std::string rate = examples > 0 && seconds > 0
                                     ? fmt::format("{}", static_cast<std::uint64_t>(std::min(examples / seconds, 1e18)))
                                     : "-";
        text += fmt::format("  p{:02}:  {:1.3f}s  {:>6}/s", number, seconds, rate);
    }
    return text + "\n";
}

}  // namespace

Result<std::string> ddp_text(const Job& job) {
    std::string text;
    for (const RegionRow& row : job.regions)
        if (row.is_iteration && row.p50_ns) text += (text.empty() ? "" : "\n") + block_of(row, job);
    if (text.empty())
        return problem("text --layout ddp", "the program marks no iterations",
                       "mpiprof_mark(examples) of mpiprof.h at the end of each does");
    return text;
}

}  // namespace mpiprof::report
