// A job that hangs, with whom the end of one began that did not reach MPI_Finalize, and a job that is no job: ranks
// that the launcher of another MPI started, each a world of its own.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/analysis/hangs.h"

namespace mpiprof::report {
namespace {

bool ended_early(const Rank& rank) {
    return rank.has_profile && rank.state != State::finalized &&
           !(rank.state == State::running && rank.life == Life::running);
}

std::uint64_t last_sign_of(const Rank& rank) { return rank.started_at_ns + rank.elapsed_ns; }

// Who ended the others: one that aborted, else one that exited. Launchers kill the rest.
std::vector<std::uint32_t> in_state(const Job& job, State state) {
    std::vector<std::uint32_t> ranks;
    for (const Rank& rank : job.ranks)
        if (ended_early(rank) && rank.state == state) ranks.push_back(rank.rank);
    return ranks;
}

// Those whose record stops clearly before that of all others.
std::vector<std::uint32_t> stopped_first(const Job& job) {
    constexpr std::uint64_t at_least_ns = 2'000'000'000;
    std::uint64_t first = ~std::uint64_t{0}, period = 0;
    for (const Rank& rank : job.ranks) {
        if (!ended_early(rank)) continue;
        first = std::min(first, last_sign_of(rank));
        period = std::max(period, rank.store_period_ns);
    }
    std::vector<std::uint32_t> ranks;
    std::uint64_t next = ~std::uint64_t{0};
    const std::uint64_t apart = std::max(at_least_ns, 2 * period);
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        if (ended_early(rank) && last_sign_of(rank) < first + apart / 2)
            ranks.push_back(rank.rank);
        else
            next = std::min(next, last_sign_of(rank));
    }
    if (next == ~std::uint64_t{0} || next < first + apart) ranks.clear();
    return ranks;
}

// Where they stood, if all of them stood at one place.
void look_where(const Job& job, Finding& finding, evidence::Unfinished& e) {
    const Standing* first = nullptr;
    for (const Standing& standing : job.standings) {
        if (!standing.call || !std::binary_search(finding.ranks.begin(), finding.ranks.end(), standing.rank)) continue;
        if (first &&
            (first->call != standing.call || first->place != standing.place || first->is_inside != standing.is_inside))
            return;
        if (!first) first = &standing;
    }
    if (!first) return;
    finding.calls = {*first->call};
    e.is_inside = first->is_inside;
    e.place = first->place;
}

void killed(const Analysed& all, std::vector<Finding>& findings) {
    const Job& job = all.job;
    std::uint32_t early = 0;
    for (const Rank& rank : job.ranks) early += ended_early(rank);
    if (early == 0 || job.is_text) return;
    // A proven hang says how it ended; which ranks were where, each group of them says.
    if (all.hang()) return;
    evidence::Unfinished e;
    Finding finding{
        .rule = Rule::unfinished, .is_serious = true, .calls = {}, .ranks = {}, .nodes = {}, .evidence = {}};
    finding.ranks = in_state(job, State::aborted);
    if (finding.ranks.empty()) finding.ranks = in_state(job, State::exited);
    const bool are_killed = finding.ranks.empty();
    if (are_killed) {
        // Ranks that all others had waited for when the job was killed, of those that ended.
        for (const Arrival& arrival : all.arrivals()) {
            if (arrival.inside.empty() || arrival.missing.empty()) continue;
            const bool all_ended = std::all_of(arrival.missing.begin(), arrival.missing.end(), [&](std::uint32_t r) {
                const Rank* rank = job.find(r);
                return rank && ended_early(*rank);
            });
            if (!all_ended || arrival.missing.size() >= arrival.inside.size() + arrival.passed) continue;
            finding.ranks = arrival.missing;
            e.waiting = static_cast<std::uint32_t>(arrival.inside.size());
            e.waited_ns = arrival.for_ns;
            e.call = arrival.call;
            break;
        }
    }
    if (are_killed && e.waiting == 0) e.held_by = all.suspicion();
    if (finding.ranks.empty()) finding.ranks = stopped_first(job);
    if (finding.ranks.empty())
        for (const Rank& rank : job.ranks)
            if (ended_early(rank)) finding.ranks.push_back(rank.rank);
    const Rank& first = *job.find(finding.ranks.front());
    e.state = first.state;
    e.life = first.state == State::running ? first.life : Life::ended;
    e.exit_code = first.state == State::aborted ? first.exit_code : 0;
    e.after_ns = first.elapsed_ns;
    e.longest_ns = first.in_call_ns;
    e.alike = early;
    for (const std::uint32_t rank : finding.ranks) finding.nodes.push_back(job.find(rank)->node);
    std::sort(finding.nodes.begin(), finding.nodes.end());
    finding.nodes.erase(std::unique(finding.nodes.begin(), finding.nodes.end()), finding.nodes.end());
    look_where(job, finding, e);
    finding.run_share = 1;
    finding.evidence = e;
    findings.push_back(std::move(finding));
}

// What `hang` proves, during the job and after it. Whose ranks all came to their end did not hang.
void hangs(const Analysed& all, std::vector<Finding>& findings) {
    const Job& job = all.job;
    if (job.standings.empty()) return;
    const std::optional<Hang>& hang = all.hang();
    if (!hang) return;
    Finding& finding = add(findings, Rule::hang, true, evidence::Hung{.hang = *hang, .is_over = is_over(job)});
    for (const Party& party : hang->parties) {
        finding.ranks.insert(finding.ranks.end(), party.ranks.begin(), party.ranks.end());
        finding.calls.push_back(party.call);
    }
    finding.ranks.insert(finding.ranks.end(), hang->gone.begin(), hang->gone.end());
    std::sort(finding.ranks.begin(), finding.ranks.end());
    finding.ranks.erase(std::unique(finding.ranks.begin(), finding.ranks.end()), finding.ranks.end());
    finding.run_share = 1;
}

// Whose launchers make one world of the ranks of whose library. What is not here says nothing.
struct Match {
    std::string_view launcher, family;
};
constexpr std::array matches{Match{"Open MPI", "Open MPI"}, Match{"Hydra", "MPICH"}, Match{"Hydra", "Intel MPI"},
                             Match{"Hydra", "MVAPICH"}};

constexpr std::array<std::string_view, 4> launchers{"Open MPI", "Hydra", "Slurm", "PALS"};

bool is_known_to_fit(const Job& job) {
    return std::any_of(matches.begin(), matches.end(), [&](const Match& match) {
        return match.launcher == job.launcher && match.family == job.mpi_family;
    });
}

void wrong_launcher(const Analysed& all, std::vector<Finding>& findings) {
    const Job& job = all.job;
    constexpr std::uint64_t together_ns = 60'000'000'000;
    if (job.size != 1 || job.is_without_mpi() || job.is_text || job.ranks.empty()) return;
    if (std::find(launchers.begin(), launchers.end(), job.launcher) == launchers.end()) return;
    const std::uint64_t started = job.ranks.front().started_at_ns;
    std::uint32_t alike = 1;
    for (const OtherLaunch& other : job.other_launches) {
        const std::uint64_t apart =
            other.started_at_ns > started ? other.started_at_ns - started : started - other.started_at_ns;
        alike += other.size == 1 && other.job == job.job && other.command == job.command && apart < together_ns;
    }
    if (alike < 2 || is_known_to_fit(job)) return;
    add(findings, Rule::wrong_launcher, true,
        evidence::WrongLauncher{.launches = alike, .launcher = job.launcher, .family = job.mpi_family})
        .run_share = 1;
}

}  // namespace

void find_how_it_ended(const Analysed& all, std::vector<Finding>& findings) {
    for (const auto rule : {wrong_launcher, hangs, killed}) rule(all, findings);
}

}  // namespace mpiprof::report
