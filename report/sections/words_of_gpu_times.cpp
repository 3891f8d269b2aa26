// A tenth of what ran without a time is enough to say that a sum is too small.
#include "report/sections/words_of_gpu_times.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>

#include "report/model/units.h"

namespace mpiprof::report {
namespace {

bool lacks_a_tenth(const Job& job) {
    const std::uint64_t replayed = job.gpu.replayed_operations();
    std::uint64_t timed = 0, replays_timed = 0, missing = 0;
    for (const GpuRow& row : job.gpu.rows) (row.is_replayed ? replays_timed : timed) += row.operations;
    if (replayed > replays_timed) missing = replayed - replays_timed;
    for (const auto& [why, operations] : job.gpu.not_timed) missing += operations;
    return missing != 0 && 9 * missing >= timed;
}

// What ranks said; and how many said so, where they differ.
std::string said_by_ranks(const std::map<std::string, std::uint32_t>& words) {
    std::string text;
    for (const auto& [word, ranks] : words)
        text += fmt::format("{}{}{}", text.empty() ? "" : "; ", word,
                            words.size() > 1 ? fmt::format(" ({})", plural(ranks, "rank", "ranks")) : std::string());
    return text;
}

}  // namespace

std::string source_of(bool by_events, bool by_cupti, bool by_launches) {
    std::string sources;
    const auto add = [&](bool is, const char* source) {
        if (is) sources += (sources.empty() ? "" : ", ") + std::string(source);
    };
    add(by_cupti, "CUPTI");
    add(by_launches, "kernel launches");
    add(by_events, "events");
    return sources;
}

std::string how_known(const Job& job) {
    const bool is_at_most = job.gpu.ranks_by_events != 0, is_at_least = lacks_a_tenth(job);
    return is_at_most && is_at_least ? "about " : is_at_most ? "at most " : is_at_least ? "at least " : "";
}

std::vector<std::string> gpu_time_notes(const Job& job) {
    std::vector<std::string> notes;
    const std::string sources = said_by_ranks(job.gpu.sources);
    const bool may_ask_cupti = !job.gpu.rows.empty() && job.gpu.ranks_by_cupti == 0;
    if (!sources.empty())
        notes.push_back("GPU times: " + sources +
                        (may_ask_cupti
                             ? "; for kernel times and overlap with computation on NVIDIA GPUs: MPIPROF_CUPTI=sample"
                             : ""));
    std::string missing;
    for (const auto& [why, operations] : job.gpu.not_timed)
        missing +=
            fmt::format("{}{} {}", missing.empty() ? "" : ", ", human_count(static_cast<double>(operations)), why);
    if (!missing.empty())
        notes.push_back("launches without a time on the GPU: " + missing +
                        (lacks_a_tenth(job) ? ", a tenth of all or more: not included in GPU TIME" : "") +
                        " (docs/nccl.md)");
    if (!job.gpu.plugins_behind.empty())
        notes.push_back("NCCL profiler plugin chained behind mpiprof: " + said_by_ranks(job.gpu.plugins_behind));
    if (job.gpu.records_dropped != 0)
        notes.push_back(
            fmt::format("CUPTI dropped {}: kernels are missing", plural(job.gpu.records_dropped, "record", "records")));
    return notes;
}

std::string gpu_heading(const Job& job, std::string heading) {
    return heading + (job.gpu.ranks_by_events != 0 ? " <=" : "");
}

std::string gpu_sum_heading(const Job& job, std::string heading) {
    if (job.gpu.rows.empty() || !lacks_a_tenth(job)) return gpu_heading(job, std::move(heading));
    return heading + (job.gpu.ranks_by_events != 0 ? " ~" : " >=");
}

std::string host_time_note(const Job& job) {
    std::string note = "nccl...: TIME is host time inside the call; the time on the GPU is ";
    if (job.gpu.rows.empty()) return note + "not recorded";
    note += job.gpu.ranks_by_events != 0 ? "an upper bound, by " : "known by ";
    note += source_of(job.gpu.ranks_by_events != 0, job.gpu.ranks_by_cupti != 0, job.gpu.has_launches());
    return note + ": mpiprof-report nccl";
}

}  // namespace mpiprof::report
