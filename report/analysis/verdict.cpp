// Two tables: how early a rule speaks, and which rules another one explains.
#include "report/analysis/verdict.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "report/analysis/causes.h"
#include "report/analysis/findings.h"

namespace mpiprof::report {
namespace {

// What may begin a report, the first kind before all others; within a kind what costs most comes first.
enum class Kind { no_job, hang, wrong, ended, not_lost, cause, remark };

Kind kind_of(const Finding& finding) {
    switch (finding.rule) {
        case Rule::wrong_launcher:
            return Kind::no_job;
        case Rule::hang:
            return Kind::hang;
        case Rule::unfinished:  // the one that costs all: with whom the end began
            return finding.run_share > 0 ? Kind::ended : Kind::remark;
        case Rule::order:
            return Kind::wrong;
        case Rule::overlap: {
            const auto& overlap = std::get<evidence::Overlap>(finding.evidence);
            if (!overlap.background_share) return Kind::not_lost;  // perhaps: the text tells no threads apart
            return *overlap.background_share * overlap.beside_share >= 0.5 ? Kind::not_lost : Kind::remark;
        }
        case Rule::crowded:
        case Rule::slow_rank:
        case Rule::slow_node:
        case Rule::imbalance:
        case Rule::growing_work:
        case Rule::varying:
        case Rule::serial_chain:
        case Rule::one_serves_all:
        case Rule::small_messages:
        case Rule::cheap_calls:
        case Rule::polling:
        case Rule::init:
        case Rule::setup:
        case Rule::file_io:
        case Rule::nccl_waiting:
            return finding.run_share >= worth_a_look ? Kind::cause : Kind::remark;
        default:
            return Kind::remark;
    }
}

struct Explains {
    Rule cause;
    std::initializer_list<Rule> others;
};
constexpr std::initializer_list<Rule> waiting_as_such{Rule::waiting, Rule::waits, Rule::requests};
constexpr std::initializer_list<Rule> late_ranks{Rule::waiting, Rule::waits, Rule::requests, Rule::polling,
                                                 Rule::unequal_comms};
const Explains table[] = {
    {Rule::hang,
     {Rule::unfinished, Rule::order, Rule::slow_rank, Rule::slow_node, Rule::imbalance, Rule::growing_work,
      Rule::varying, Rule::serial_chain, Rule::one_serves_all, Rule::waiting, Rule::waits, Rule::requests,
      Rule::polling}},
    {Rule::unfinished,
     {Rule::unfinished, Rule::slow_rank, Rule::slow_node, Rule::imbalance, Rule::growing_work, Rule::varying,
      Rule::waiting, Rule::waits, Rule::requests}},
    {Rule::overlap, {Rule::waiting, Rule::waits, Rule::requests}},
    {Rule::one_serves_all,
     {Rule::slow_rank, Rule::imbalance, Rule::varying, Rule::serial_chain, Rule::waiting, Rule::waits, Rule::requests,
      Rule::polling}},
    {Rule::serial_chain,
     {Rule::slow_rank, Rule::imbalance, Rule::varying, Rule::waiting, Rule::waits, Rule::requests, Rule::polling}},
    {Rule::slow_rank, late_ranks},
    {Rule::slow_node, late_ranks},
    {Rule::imbalance, late_ranks},
    {Rule::growing_work, late_ranks},
    {Rule::varying, {Rule::waiting, Rule::waits, Rule::requests, Rule::polling}},
    {Rule::small_messages, {Rule::waiting, Rule::waits, Rule::requests, Rule::varying}},
    {Rule::polling, waiting_as_such},
    {Rule::crowded, {Rule::placement, Rule::waiting, Rule::waits, Rule::requests, Rule::varying, Rule::serial_chain}},
};

// Ranks without a processor are slow for that; where all are, some may be slow besides.
bool crowds_only_these(const Finding& crowd, const Finding& slow, const Job& job) {
    return crowd.rule == Rule::crowded && crowd.ranks.size() < job.ranks.size() &&
           std::holds_alternative<evidence::Imbalance>(slow.evidence) &&
           std::includes(crowd.ranks.begin(), crowd.ranks.end(), slow.ranks.begin(), slow.ranks.end());
}

// The others wait, too, where some have no processor; but they may wait for something that costs far more.
bool is_too_cheap(const Finding& cause, const Finding& other) {
    return cause.rule == Rule::crowded && (other.rule == Rule::serial_chain || other.rule == Rule::varying) &&
           cause.run_share < other.run_share / 2;
}

// Each of many calls takes as long as its partners wait for a processor, inside MPI too, where that is most of it.
bool makes_calls_long(const Finding& cause, const Finding& other) {
    if (cause.rule != Rule::crowded || other.rule != Rule::small_messages) return false;
    return cause.run_share + std::get<evidence::Crowded>(cause.evidence).inside_share >= other.run_share / 2;
}

// Somebody who serves all need not be the one that is slow.
bool speaks_of_others(const Finding& cause, const Finding& other) {
    return cause.rule == Rule::one_serves_all && std::holds_alternative<evidence::Imbalance>(other.evidence) &&
           cause.ranks != other.ranks;
}

bool explains(const Finding& cause, const Finding& other, const Job& job) {
    if (crowds_only_these(cause, other, job) || makes_calls_long(cause, other)) return true;
    if (speaks_of_others(cause, other) || is_too_cheap(cause, other)) return false;
    for (const Explains& row : table)
        if (row.cause == cause.rule && std::find(row.others.begin(), row.others.end(), other.rule) != row.others.end())
            return true;
    return false;
}

// How long the longest rank ran, if that is too short to tell a slow rank from one that was disturbed: a few slices of
// the kernel's. Otherwise 0.
std::uint64_t short_run_ns(const Job& job) {
    constexpr std::uint64_t shortest_ns = 20'000'000;
    std::uint64_t longest = 0;
    for (const Rank& rank : job.ranks) longest = std::max(longest, rank.elapsed_ns);
    return longest < shortest_ns ? longest : 0;
}

Finding too_short(std::uint64_t elapsed_ns) {
    evidence::Healthy nothing;
    nothing.too_short_ns = elapsed_ns;
    return {.rule = Rule::healthy, .is_serious = false, .calls = {}, .ranks = {}, .nodes = {}, .evidence = nothing};
}

// Whoever made errors or lost calls is not told that all is well.
bool forbids_healthy(const Finding& finding) {
    return finding.is_serious && (finding.rule == Rule::errors || finding.rule == Rule::dropped);
}

}  // namespace

std::vector<Verdict> verdicts_of(const Job& job, const Figures& figures) {
    std::vector<Finding> findings = findings_of(job, figures);
    const std::uint64_t too_short_ns = short_run_ns(job);
    const auto is_remark = [too_short_ns](const Finding& finding) {
        const Kind kind = kind_of(finding);
        return kind == Kind::remark || (kind == Kind::cause && too_short_ns != 0);
    };
    if (std::all_of(findings.begin(), findings.end(), is_remark)) {
        find_remainder(job, figures, findings);
        if (too_short_ns != 0) findings.back() = too_short(too_short_ns);
        const auto wrong = std::find_if(findings.begin(), findings.end(), forbids_healthy);
        const bool is_well = findings.back().rule == Rule::healthy || findings.back().rule == Rule::unseen;
        if (wrong != findings.end() && is_well) {
            findings.pop_back();
            std::rotate(findings.begin(), wrong, wrong + 1);
        } else {
            std::rotate(findings.begin(), findings.end() - 1, findings.end());
        }
    } else {
        std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
            const bool is_said_of_cost = kind_of(a) == Kind::cause && kind_of(b) == Kind::cause;
            return is_said_of_cost ? a.run_share > b.run_share : kind_of(a) < kind_of(b);
        });
    }
    // One that explains a larger one comes before it: the server before the rank that is slow because it serves.
    std::vector<Verdict> verdicts;
    std::vector<bool> is_taken(findings.size());
    const auto is_explained_by_another = [&](std::size_t i) {
        for (std::size_t j = 0; j < findings.size(); ++j)
            if (j != i && !is_taken[j] && !is_remark(findings[j]) && explains(findings[j], findings[i], job) &&
                !explains(findings[i], findings[j], job))
                return true;
        return false;
    };
    const auto take = [&](std::size_t i) {
        is_taken[i] = true;
        Verdict& verdict = verdicts.emplace_back(Verdict{.finding = findings[i], .explained = {}});
        if (is_remark(findings[i])) return;
        for (std::size_t j = 0; j < findings.size(); ++j)
            if (!is_taken[j] && explains(findings[i], findings[j], job)) {
                is_taken[j] = true;
                verdict.explained.push_back(findings[j]);
            }
    };
    for (std::size_t i = 0; i < findings.size(); ++i) {
        // What explains it may stand further behind: take that first.
        for (std::size_t j = i + 1; !is_taken[i] && is_explained_by_another(i) && j < findings.size(); ++j)
            if (!is_taken[j] && !is_remark(findings[j]) && explains(findings[j], findings[i], job) &&
                !is_explained_by_another(j))
                take(j);
        if (!is_taken[i]) take(i);
    }
    return verdicts;
}

}  // namespace mpiprof::report
