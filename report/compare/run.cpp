// A Job to a Run, and the times of one.
#include "report/compare/run.h"

#include <algorithm>
#include <set>

#include "report/analysis/placed_nodes.h"
#include "report/sections/run_headline.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

Ending ending_of(const Job& job) {
    Ending ending = Ending::whole;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.state == State::finalized) continue;
        if (rank.state == State::running && rank.life == Life::running) return Ending::running;
        ending = Ending::stopped;
    }
    return ending;
}

std::optional<std::uint64_t> cores_of(const std::vector<PlacedNode>& nodes) {
    std::uint64_t cores = 0;
    for (const PlacedNode& node : nodes) cores += node.cpus.count();
    return cores != 0 ? std::optional(cores) : std::nullopt;
}

// The names in CUDA_VISIBLE_DEVICES of all ranks of a node.
std::uint64_t visible_gpus(const Placement& placement, const PlacedNode& node) {
    std::set<std::string> devices;
    for (const RankPlace* rank : node.ranks) {
        const std::string* text = placement.variable_of(*rank, "CUDA_VISIBLE_DEVICES");
        if (!text) return node.facts->gpus.size();
        std::string device;
        for (const char c : *text + ',')
            if (c != ',')
                device += c;
            else if (!device.empty())
                devices.insert(std::exchange(device, {}));
    }
    return devices.size();
}

// NCCL gives each GPU a seat in its communicators; else those that the ranks see.
std::optional<std::uint64_t> gpus_of(const Job& job, const std::vector<PlacedNode>& nodes) {
    std::uint64_t gpus = 0;
    for (const Comm& comm : job.comms)
        if (std::ranges::any_of(comm.sums,
                                [&](const CommSum& sum) { return job.calls[sum.call].family == Family::nccl; }))
            gpus = std::max<std::uint64_t>(gpus, comm.size);
    if (gpus == 0)
        for (const PlacedNode& node : nodes) gpus += visible_gpus(job.placement, node);
    return gpus != 0 ? std::optional(gpus) : std::nullopt;
}

std::vector<RunCall> calls_of(const Job& job) {
    std::vector<RunCall> calls;
    for (const Row& row : job.rows) {
        const Call& call = job.calls[row.sum.call];
        calls.push_back({.call = call.name,
                         .traffic = call.traffic,
                         .bin = row.sum.bin,
                         .buffer = row.sum.buffer,
                         .is_timed = call.treatment == Treatment::timed,
                         .is_posted = call.is_posted,
                         .calls = row.sum.calls,
                         .bytes = row.sum.bytes,
                         .time_ns = row.sum.time_ns,
                         .gpu_bytes = row.sum.gpu_bytes,
                         .gpu_ns = row.sum.gpu_ns});
    }
    return calls;
}

}  // namespace

Run run_of(const Job& job, std::string label) {
    Run run{.label = std::move(label),
            .said = {},
            .cores = {},
            .gpus = {},
            .figures = figures_of(job),
            .budget = mean_budget(job),
            .regions = {},
            .calls = {},
            .facts = facts_of(job)};
    for (const Rank& rank : job.ranks)
        if (rank.started_at_ns != 0 && (run.started_at_ns == 0 || rank.started_at_ns < run.started_at_ns))
            run.started_at_ns = rank.started_at_ns;
    for (const SettingRow& row : job.labels) run.said.emplace_back(row.name, row.values.front().value);
    run.in_a_line = run_in_a_line(job);
    run.ending = ending_of(job);
    run.ranks = job.size;
    run.profiles = job.profiles();
    run.expected = job.expected();
    run.nodes = static_cast<std::uint32_t>(job.nodes.size());
    const std::vector<PlacedNode> nodes = placed_nodes(job);
    run.cores = cores_of(nodes);
    run.gpus = gpus_of(job, nodes);
    run.words = &vocabulary_of(job);
    run.mpi_s = static_cast<double>(run.figures.largest_elapsed_ns) / 1e9;
    run.program = job.executable;
    run.is_process_known = run.figures.largest_process_ns != 0;
    run.process_s = static_cast<double>(std::max(run.figures.largest_process_ns, run.figures.largest_elapsed_ns)) / 1e9;
    run.regions = job.regions;
    run.calls = calls_of(job);
    return run;
}

const RegionRow* iterations_of(const Run& run) {
    const RegionRow* most = nullptr;
    for (const RegionRow& row : run.regions)
        if (row.is_iteration && row.entered != 0 && (!most || row.time_ns > most->time_ns)) most = &row;
    return most;
}

std::optional<double> seconds_of(const Run& run, const TimeChoice& choice) {
    const auto positive = [](double seconds) { return seconds > 0 ? std::optional(seconds) : std::nullopt; };
    switch (choice.kind) {
        case TimeChoice::Kind::process:
            return positive(run.process_s);
        case TimeChoice::Kind::mpi:
            return positive(run.mpi_s);
        case TimeChoice::Kind::iteration:
            if (const RegionRow* row = iterations_of(run))
                return positive(static_cast<double>(row->time_ns) / static_cast<double>(row->entered) / 1e9);
            return std::nullopt;
        case TimeChoice::Kind::region:
            for (const RegionRow& row : run.regions)
                if (!row.is_iteration && row.path == choice.region && row.ranks != 0)
                    return positive(static_cast<double>(row.largest_ns) / 1e9);
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace mpiprof::report
