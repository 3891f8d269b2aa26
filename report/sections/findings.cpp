// The rules, one function each, and the list of them.
#include "report/sections/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/model/units.h"
#include "report/sections/nccl_gpu.h"
#include "report/sections/placement_rules.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

using Findings = std::vector<Finding>;

// Below this share of the wall time nothing is worth a person's minute.
constexpr double worth_a_look = 0.05;

std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ") + rank_list(ranks, 4);
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string how_it_ended(const Rank& rank) {
    switch (rank.state) {
        case State::finalized:
            return "reached MPI_Finalize";
        case State::aborted:
            return fmt::format("called MPI_Abort({})", rank.exit_code);
        case State::exited:
            return "ended without MPI_Finalize";
        case State::running:
            break;
    }
    if (rank.life == Life::running) return "still running";
    return rank.life == Life::ended ? "killed" : "killed, or still running on another node";
}

// How each unfinished rank ended, ranks that ended alike together.
void unfinished(const Job& job, const Figures&, Findings& findings) {
    struct Group {
        std::string how;
        std::vector<std::uint32_t> ranks;
        std::uint64_t longest_ns = 0;
    };
    std::vector<Group> groups;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.state == State::finalized) continue;
        std::string how = how_it_ended(rank);
        if (rank.in_call) how += ", inside " + job.calls[*rank.in_call].name;
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.how == how; });
        Group& group = same != groups.end() ? *same : groups.emplace_back(Group{how, {}, 0});
        group.ranks.push_back(rank.rank);
        group.longest_ns = std::max(group.longest_ns, rank.in_call ? rank.in_call_ns : 0);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.ranks.size() < b.ranks.size(); });
    const bool are_inside = std::any_of(job.ranks.begin(), job.ranks.end(),
                                        [](const Rank& rank) { return rank.has_profile && rank.in_call; });
    for (const Group& group : groups) {
        std::string text = fmt::format("{}: {}", capital(ranks_text(group.ranks)), group.how);
        if (group.longest_ns >= 1'000'000'000)
            text += fmt::format(" for {}", human_time(static_cast<double>(group.longest_ns)));
        text += are_inside && &group == &groups.back() ? ". Who waits for whom: mpiprof-report hang." : ".";
        findings.push_back({true, text, "unfinished"});
    }
}

void dropped(const Job& job, const Figures&, Findings& findings) {
    const struct {
        std::uint64_t count;
        std::string_view what;
        bool is_serious;
    } kinds[] = {
        {job.drops.threads, "calls were made by threads that got no ledger: they are counted nowhere", true},
        {job.drops.write_errors, "writes of profiles failed (disk full, quota?): newer numbers may be missing", true},
        {job.drops.cells, "calls were not told apart by size, buffer and site (table full); totals are right", false},
        {job.drops.backwards, "calls were booked without a time: their clock ran backwards", false},
        {job.drops.histograms, "calls are in no histogram: percentiles leave them out", false},
        {job.drops.requests, "completed requests could not be told to the call that posted them", false},
        {job.drops.peers, "messages are of peers that were not told apart (4096 are)", false},
        {job.drops.sites, "call sites were not told apart", false},
        {job.drops.communicators, "communicators were not told apart", false},
        {job.drops.strings, "names were cut or left out", false},
    };
    for (const auto& kind : kinds)
        if (kind.count)
            findings.push_back({kind.is_serious,
                                fmt::format("{} {}.", human_count(static_cast<double>(kind.count)), kind.what),
                                "dropped"});
}

void errors(const Job& job, const Figures&, Findings& findings) {
    std::vector<std::pair<std::uint64_t, std::uint16_t>> by_call;
    for (const Row& row : job.rows) {
        if (row.sum.errors == 0) continue;
        if (by_call.empty() || by_call.back().second != row.sum.call) by_call.emplace_back(0, row.sum.call);
        by_call.back().first += row.sum.errors;
    }
    if (by_call.empty()) return;
    std::sort(by_call.rbegin(), by_call.rend());
    std::vector<std::uint32_t> ranks;
    for (const Rank& rank : job.ranks)
        if (rank.errors) ranks.push_back(rank.rank);
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(by_call.size(), 3); ++i)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", job.calls[by_call[i].second].name,
                            plural(by_call[i].first, "time", "times"));
    findings.push_back(
        {true, fmt::format("Calls returned errors on {}: {}. They are in no other figure.", ranks_text(ranks), text),
         "errors"});
}

// Pauses of the program, or a window that the user set.
void not_recorded(const Job& job, const Figures& figures, Findings& findings) {
    if (!figures.was_paused()) return;
    std::string window;
    for (const SettingRow& row : job.settings)
        if ((row.name == "BEGIN_TIME" || row.name == "END_TIME") &&
            row.values.front().source != SettingSource::fallback)
            window += fmt::format("{}MPIPROF_{}={}", window.empty() ? "" : ", ", row.name, row.values.front().value);
    findings.push_back(
        {false,
         fmt::format("Recording was off for {} of the run ({}): what happened then is in no figure, and shares are of "
                     "the rest.",
                     human_share(figures.paused_share), window.empty() ? "the program paused it" : window),
         "paused"});
}

// MPI on a thread beside the program's own work: time in MPI is then not time lost.
void overlap(const Job& job, const Figures& figures, Findings& findings) {
    const bool is_telling = figures.share_of_wall(figures.mpi_ns) >= worth_a_look;
    const std::string busy = figures.cores_busy >= 0.05
                                 ? fmt::format(" ({} cores busy per rank)", human_number(figures.cores_busy))
                                 : std::string();
    if (figures.may_be_beside() && is_telling) {
        findings.push_back(
            {true,
             fmt::format("{} of the MPI time is on a background thread, beside the program's own work{}: not all of "
                         "it is lost. Time outside MPI is not compute time here.",
                         human_share(figures.background_share), busy),
             "overlap"});
    } else if (job.is_text && figures.cores_busy >= 1.5 && is_telling) {
        findings.push_back(
            {true,
             fmt::format("{} cores are busy per rank: if MPI is called by a background thread beside compute, not all "
                         "of its time is lost. mpitrace's text does not tell threads apart.",
                         human_number(figures.cores_busy)),
             "overlap"});
    }
}

// Ranks that had no processor to themselves. A rank that waits busily uses a whole core; one that sleeps in a
// blocking call is not pushed off.
void crowded(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double busy_enough = 0.75;
    constexpr double pushed_off_often = 20;  // times a second
    double switches = 0;
    double seconds = 0;
    double cpu_ns = 0;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.is_text) continue;  // mpitrace's text gives one kind of switches
        cpu_ns += static_cast<double>(rank.usage.user_ns + rank.usage.system_ns);
        switches += static_cast<double>(rank.usage.involuntary_switches);
        seconds += static_cast<double>(rank.process_ns ? rank.process_ns : rank.elapsed_ns) / 1e9;
    }
    if (seconds <= 0 || figures.cores_busy >= busy_enough || switches / seconds < pushed_off_often) return;
    // Less CPU time than time in MPI: a program that only slept or read files between its calls is no such case.
    const bool is_waiting_without = cpu_ns < busy_enough * static_cast<double>(figures.mpi_ns);
    if (!is_waiting_without || figures.share_of_wall(figures.mpi_ns) < worth_a_look) return;
    for (const PlacementFinding& wrong : placement_findings(job)) {
        if (wrong.rule != "too-many") continue;
        findings.push_back({true,
                            fmt::format("{} Each rank had a processor {} of the time. More: mpiprof-report placement.",
                                        wrong.text, human_share(figures.cores_busy)),
                            "crowded"});
        return;
    }
    findings.push_back(
        {true,
         fmt::format("Each rank had a processor {} of the time and lost it {} times a second: {}, and every wait takes "
                     "longer for it.",
                     human_share(figures.cores_busy), human_count(switches / seconds),
                     all_have_own_cores(job) ? "each has cores of its own, but other programs run on them, too"
                                             : "ranks share cores (more ranks than cores, or bound to the same ones)"),
         "crowded"});
}

// Small collectives that take many times what the fastest took: waiting for others, not moving data. The 5th
// percentile stands for the undisturbed call, the single fastest where no histogram was kept.
void waiting(const Job& job, const Figures& figures, Findings& findings) {
    struct Case {
        double lost_ns;
        const Row* row;
        double mean_ns;
        double best_ns;
    };
    std::vector<Case> cases;
    for (const Row& row : job.rows) {
        const Traffic traffic = job.calls[row.sum.call].traffic;
        const bool is_small =
            (traffic == Traffic::collective && bin_max_bytes(row.sum.bin) <= small_message) || traffic == Traffic::sync;
        const double best = row.p05_ns.value_or(static_cast<double>(row.sum.min_ns.value_or(0)));
        if (!is_small || row.sum.calls < 20 || best <= 0) continue;
        const double mean = static_cast<double>(row.sum.time_ns) / static_cast<double>(row.sum.calls);
        const double lost = (mean - best) * static_cast<double>(row.sum.calls);
        if (mean >= 5 * best && lost >= worth_a_look * static_cast<double>(figures.wall_ns))
            cases.push_back({lost, &row, mean, best});
    }
    std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.lost_ns > b.lost_ns; });
    for (std::size_t i = 0; i < std::min<std::size_t>(cases.size(), 2); ++i) {
        const Row& row = *cases[i].row;
        const std::string& name = job.calls[row.sum.call].name;
        const std::string what =
            row.sum.bytes
                ? fmt::format("{} of {}", name,
                              human_bytes(static_cast<double>(row.sum.bytes) / static_cast<double>(row.sum.calls)))
                : name;
        findings.push_back(
            {true,
             fmt::format("{}: {} a call, {} when nothing is in its way: ranks wait there for each other, {} of "
                         "the run.",
                         what, human_time(cases[i].mean_ns), human_time(cases[i].best_ns),
                         human_share(figures.share_of_wall(static_cast<std::uint64_t>(cases[i].lost_ns)))),
             "waiting"});
    }
}

// Time in MPI that is mostly waiting, where no rule has said so of the calls in question.
void waits(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double mostly = 0.5;
    const auto waiting = static_cast<double>(figures.waiting_ns);
    if (figures.ranks < 2 || figures.may_be_beside() || 2 * figures.judged_ns < figures.inside_ns()) return;
    if (waiting < mostly * static_cast<double>(figures.inside_ns()) ||
        figures.share_of_wall(figures.waiting_ns) < worth_a_look)
        return;
    std::vector<std::pair<std::uint64_t, std::uint16_t>> by_call;
    for (const Row& row : job.rows) {
        if (by_call.empty() || by_call.back().second != row.sum.call) by_call.emplace_back(0, row.sum.call);
        by_call.back().first += row.waiting_ns;
    }
    const auto most = *std::max_element(by_call.begin(), by_call.end());
    const std::string& name = job.calls[most.second].name;
    for (const Finding& said : findings)
        if (said.rule == "waiting" && (said.text.starts_with(name + " of ") || said.text.starts_with(name + ": ")))
            return;
    findings.push_back(
        {false,
         fmt::format(
             "Up to {} of the time in MPI is waiting rather than moving data: calls took that much longer than the "
             "fastest of their size (an estimate). Most of it is in {}: {} of the run. From where: mpiprof-report sites.",
             human_share(waiting / static_cast<double>(figures.inside_ns())), name,
             human_share(figures.share_of_wall(most.first))),
         "waits"});
}

// What Wait and Test wait for: the requests of one call and size, where that is a good part of the run.
void waited_for(const Job& job, const Figures& figures, Findings& findings) {
    const auto less = [](const Row& a, const Row& b) { return a.blocked_ns < b.blocked_ns; };
    const auto row = std::max_element(job.rows.begin(), job.rows.end(), less);
    if (row == job.rows.end() || figures.share_of_wall(row->blocked_ns) < worth_a_look || row->sum.calls == 0) return;
    std::uint64_t all_ns = 0;
    for (const Row& other : job.rows) all_ns += other.blocked_ns;
    const double size = static_cast<double>(row->sum.bytes) / static_cast<double>(row->sum.calls);
    std::string text = fmt::format("The wait for requests is {} for {} of {}: {} of the run.",
                                   2 * row->blocked_ns > all_ns ? "mostly" : "longest", job.calls[row->sum.call].name,
                                   human_bytes(size), human_share(figures.share_of_wall(row->blocked_ns)));
    if (const auto overlapped = row->overlapped())
        text += fmt::format(" {} of their time in flight was overlapped with something else.",
                            *overlapped < 0.005 ? "Hardly any" : human_share(*overlapped));
    findings.push_back({false, text, "requests"});
}

// The node's label, if these are all its ranks, several, and other nodes have ranks too; else empty.
std::string node_of_all(const Job& job, const std::vector<std::uint32_t>& ranks) {
    if (job.nodes.size() < 2 || ranks.size() < 2) return "";
    const std::uint32_t node = job.find(ranks.front())->node;
    std::size_t on_node = 0;
    for (const Rank& rank : job.ranks) on_node += rank.node == node;
    for (const std::uint32_t rank : ranks)
        if (job.find(rank)->node != node) return "";
    return on_node == ranks.size() ? job.hosts[job.find(ranks.front())->host] : "";
}

// Judged on time outside MPI: time in MPI is its complement and hides imbalance.
void imbalance(const Job& job, const Figures& figures, Findings& findings) {
    if (!figures.efficiency || figures.mpi_ns == 0) return;
    const double mean = figures.outside.mean_ns;
    const double longer = static_cast<double>(figures.outside.most.ns) - mean;
    if (longer < worth_a_look * static_cast<double>(figures.largest_elapsed_ns)) return;
    std::vector<std::uint32_t> slow;
    for (const Rank& rank : job.ranks)
        if (static_cast<double>(rank.outside_ns()) > mean + longer / 2) slow.push_back(rank.rank);
    const std::string node = node_of_all(job, slow);
    const std::string who =
        node.empty() ? capital(ranks_text(slow)) : fmt::format("All ranks of node {} ({})", node, rank_list(slow, 4));
    const double cost = std::min(1.0, longer / figures.in_mpi.mean_ns);
    findings.push_back(
        {true,
         fmt::format("{} {} up to {} longer outside MPI than the mean (load balance {}): at most {} of the others' "
                     "time in MPI is waiting for that.",
                     who, slow.size() == 1 ? "is" : "are", human_time(longer),
                     human_share(figures.efficiency->load_balance), human_share(cost)),
         node.empty() ? "imbalance" : "slow-node"});
}

// Test and Probe called again and again: their time is the calls' own cost more than waiting.
void polling(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double often = 50'000;  // calls a second by each rank
    std::vector<std::pair<double, std::uint16_t>> polled;
    for (const Row& row : job.rows) {
        const Traffic traffic = job.calls[row.sum.call].traffic;
        if ((traffic != Traffic::completion && traffic != Traffic::probe) || figures.wall_ns == 0) continue;
        const double rate = static_cast<double>(row.sum.calls) / (static_cast<double>(figures.wall_ns) / 1e9);
        const double per_call =
            row.sum.calls ? static_cast<double>(row.sum.time_ns) / static_cast<double>(row.sum.calls) : 0;
        if (rate >= often && per_call < 5'000) polled.emplace_back(rate, row.sum.call);
    }
    std::sort(polled.rbegin(), polled.rend());
    if (polled.empty()) return;
    findings.push_back(
        {false,
         fmt::format("Each rank calls {} {} times a second: the program polls. At such rates the calls themselves, and "
                     "timing them, cost time.",
                     job.calls[polled[0].second].name, human_count(std::round(polled[0].first / 1000) * 1000)),
         "polling"});
}

// The first of what is seriously wrong with the placement and not said yet; its section has the rest, and what to do.
void placed(const Job& job, const Figures&, Findings& findings) {
    const auto is_said = [&](const PlacementFinding& wrong) {
        return std::any_of(findings.begin(), findings.end(),
                           [&](const Finding& f) { return f.rule == "crowded" && f.text.starts_with(wrong.text); });
    };
    for (const PlacementFinding& wrong : placement_findings(job)) {
        if (!wrong.is_serious || is_said(wrong)) continue;
        findings.push_back({true, wrong.text + " More: mpiprof-report placement.", "placement"});
        return;
    }
}

}  // namespace

std::vector<Finding> findings_of(const Job& job, const Figures& figures) {
    Findings findings;
    for (const auto rule : {unfinished, errors, not_recorded, overlap, crowded, waiting, waits, waited_for, imbalance,
                            polling, placed, gpu_findings, dropped})
        rule(job, figures, findings);
    std::stable_partition(findings.begin(), findings.end(), [](const Finding& f) { return f.is_serious; });
    return findings;
}

}  // namespace mpiprof::report
