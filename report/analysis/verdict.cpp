// The verdict on a job: which of its findings is the cause of the time lost, and which others it explains, in the order
// of what they cost. How early a rule speaks depends on its kind (rules.def) and on what it costs in this job.
#include <algorithm>
#include <utility>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"

namespace mpiprof::report {
namespace {

// As far as this one may: a row's kind, where it costs what it has to.
Kind kind_of(const Finding& finding) {
    const Kind kind = row_of(finding.rule).kind;
    switch (kind) {
        case Kind::ended:  // the one that costs all: with whom the end began
            return finding.run_share > 0 ? kind : Kind::remark;
        case Kind::not_lost: {
            const auto& overlap = std::get<evidence::Overlap>(finding.evidence);
            if (!overlap.background_share) return kind;  // perhaps: the text tells no threads apart
            return *overlap.background_share * overlap.beside_share >= 0.5 ? kind : Kind::remark;
        }
        case Kind::cause:
            return finding.run_share >= worth_a_look ? kind : Kind::remark;
        case Kind::most_time:
        case Kind::spoiled:
        case Kind::remainder:
            return Kind::remark;
        case Kind::remark: {
            const auto* foreign = std::get_if<evidence::ForeignLoad>(&finding.evidence);
            return foreign && foreign->is_disturbing() ? Kind::disturbed : kind;
        }
        default:
            return kind;
    }
}

// What it ran outside MPI is longer than the others are there at all.
bool is_longer_even_so(const evidence::Imbalance& slow) {
    constexpr double clearly = 1.15;
    return (1 - slow.runnable_share) * (1 + slow.longer_share) >= clearly && slow.runnable_share > 0;
}

// Ranks without a processor are slow for that, unless they are so besides; and so may some be where all lack one.
bool crowds_only_these(const Finding& crowd, const Finding& slow, const Job& job) {
    const auto* imbalance = std::get_if<evidence::Imbalance>(&slow.evidence);
    return crowd.rule == Rule::crowded && crowd.ranks.size() < job.ranks.size() && imbalance &&
           !is_longer_even_so(*imbalance) &&
           std::includes(crowd.ranks.begin(), crowd.ranks.end(), slow.ranks.begin(), slow.ranks.end());
}

// The others wait, too, where some have no processor; but they may wait for something that costs far more.
bool is_too_cheap(const Finding& cause, const Finding& other) {
    return cause.rule == Rule::crowded &&
           (other.rule == Rule::serial_chain || std::holds_alternative<evidence::Varying>(other.evidence)) &&
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
    const std::span<const Rule> follow = row_of(cause.rule).explains;
    return std::find(follow.begin(), follow.end(), other.rule) != follow.end();
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
    return finding.is_serious && row_of(finding.rule).kind == Kind::spoiled;
}

// Where most time goes stands before a cause that costs little beside it.
void lead_with_most_time(std::vector<Finding>& findings) {
    constexpr double by_far = 3, little = 0.1;
    const Finding& first = findings.front();
    if (kind_of(first) != Kind::cause || first.run_share >= little) return;
    const auto most = std::ranges::find_if(findings, [&](const Finding& finding) {
        return row_of(finding.rule).kind == Kind::most_time && finding.run_share >= by_far * first.run_share;
    });
    if (most != findings.end()) std::rotate(findings.begin(), most, most + 1);
}

}  // namespace

std::vector<Verdict> Analysed::judged() const {
    std::vector<Finding> findings = findings_of(*this);
    const std::uint64_t too_short_ns = short_run_ns(job);
    const auto is_remark = [too_short_ns](const Finding& finding) {
        const Kind kind = kind_of(finding);
        return kind == Kind::remark || (kind == Kind::cause && too_short_ns != 0);
    };
    if (std::all_of(findings.begin(), findings.end(), is_remark)) {
        find_remainder(*this, findings);
        if (too_short_ns != 0) findings.back() = too_short(too_short_ns);
        const auto wrong = std::find_if(findings.begin(), findings.end(), forbids_healthy);
        const bool is_well = std::holds_alternative<evidence::Healthy>(findings.back().evidence);
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
        lead_with_most_time(findings);
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
