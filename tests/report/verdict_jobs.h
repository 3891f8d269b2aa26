// Jobs with one known cause each, as specs, and what the report says of them first. For the tests of verdicts.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/sections/rule_words.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {

using report::Job;
using report::Rule;
using report::Verdict;
using Ranks = std::vector<std::uint32_t>;

inline constexpr std::uint64_t us = 1'000;
inline constexpr std::uint64_t ms = 1'000'000;
inline constexpr std::uint64_t s = 1'000'000'000;

inline std::vector<Verdict> verdicts(const Job& job) { return report::Analysed(job).verdicts(); }
inline Verdict top(const Job& job) { return verdicts(job).front(); }
inline Verdict top(const std::vector<ProfileSpec>& ranks) { return top(job_of(ranks)); }
inline std::string sentence(const Job& job) { return report::sentence_of(top(job).finding, job); }
inline std::string sentence(const std::vector<ProfileSpec>& ranks) { return sentence(job_of(ranks)); }
inline std::string name(const Verdict& verdict) { return std::string(report::id_of(verdict.finding.rule)); }

inline bool explains(const Verdict& verdict, Rule rule) {
    return std::any_of(verdict.explained.begin(), verdict.explained.end(),
                       [&](const report::Finding& f) { return f.rule == rule; });
}

inline bool is_said(const Job& job, Rule rule) {
    for (const Verdict& verdict : verdicts(job))
        if (verdict.finding.rule == rule || explains(verdict, rule)) return true;
    return false;
}

// Ranks of a run of 10 s on one node that were busy all the time.
inline std::vector<ProfileSpec> ranks_of_job(std::uint32_t size) {
    std::vector<ProfileSpec> job(size);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        job[rank].rank = rank;
        job[rank].size = size;
        job[rank].elapsed_ns = 10 * s;
        job[rank].usage.user_us = 9'900'000;
        job[rank].usage.involuntary_switches = 30;
        job[rank].usage.voluntary_switches = 10;
    }
    return job;
}

inline CellSpec calls_of(std::uint64_t calls, std::uint64_t size, std::uint64_t total_ns, std::uint64_t least_ns) {
    return {.calls = calls, .bytes = calls * size, .time_ns = total_ns, .min_ns = least_ns, .max_ns = total_ns / 10};
}

// Each rank spends so long in 1000 Allreduces; the fastest of them took 5 us.
inline std::vector<ProfileSpec> in_allreduce(const std::vector<std::uint64_t>& total_ns) {
    auto job = ranks_of_job(static_cast<std::uint32_t>(total_ns.size()));
    for (std::size_t rank = 0; rank < job.size(); ++rank)
        job[rank].calls = {collective("MPI_Allreduce", {calls_of(1000, 8, total_ns[rank], 5 * us)})};
    return job;
}

}  // namespace mpiprof::test
