// Ranks that wanted to run and waited for a processor: by the kernel's own account where the profile has it. Else the
// evidence is how often the kernel took it away, and for how long: who sleeps gives it up by himself, and who yields
// has it back at once.
#include <algorithm>
#include <optional>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/analysis/foreign_load.h"
#include "report/analysis/placement_findings.h"
#include "report/analysis/processors.h"

namespace mpiprof::report {
namespace {

constexpr double longest_slice_ns = 12'000'000;

struct Loss {
    double per_s = 0;      // the kernel took the processor away
    double waited_ns = 0;  // in all
    double inside_ns = 0;  // besides, inside MPI
    double each_ns = 0;
    double run_ns = 0;
    bool is_counted = false;  // by the kernel
    bool is_at_least = false;
    bool is_outside = false;  // MPI, alone
};

// For how long it may have needed a processor: not while others had not entered the call that it was inside, which is
// known of calls that were compared.
double needed_ns(const Rank& rank) {
    constexpr double nearly_all = 0.9;
    const auto recorded = static_cast<double>(rank.recorded_ns()), inside = static_cast<double>(rank.inside_ns());
    const bool is_known = static_cast<double>(rank.compared_ns) >= nearly_all * inside;
    return is_known ? std::max(0.0, recorded - static_cast<double>(rank.waiting_ns)) : recorded;
}

// What it waited for outside MPI is lost. Inside, a rank that polls and yields waits for its turn all the time,
// microseconds each, and loses nothing by it; where each wait is a slice of the kernel's, messages lie that long. Where
// it is not known how much was outside, a rank that does both has lost at least what does not fit into its calls. While
// the quota of its cgroup is used up it waits, too, but for nobody who is on its processors: that is no crowd.
std::optional<Loss> counted_loss(const Rank& rank, double throttled_ns) {
    const auto run = static_cast<double>(rank.elapsed_ns);
    const double waited = std::max(0.0, static_cast<double>(rank.usage.waited_ns) - throttled_ns);
    if (run <= 0 || waited < worth_a_look * run) return std::nullopt;
    const auto wait = processor_wait(rank);
    const bool is_measured = wait && wait->is_measured;
    const double outside =
        is_measured ? std::max(0.0, wait->outside_ns - throttled_ns) : waited - static_cast<double>(rank.inside_ns());
    const bool is_of_slices = waited >= shortest_slice_ns * static_cast<double>(rank.usage.switches());
    if (outside >= worth_a_look * run && (is_measured || !is_of_slices))
        return Loss{.waited_ns = outside,
                    .inside_ns = waited - outside,
                    .run_ns = run,
                    .is_counted = true,
                    .is_at_least = !is_measured,
                    .is_outside = true};
    if (!is_of_slices) return std::nullopt;
    const double lost = std::min(waited, needed_ns(rank));
    if (lost < worth_a_look * run) return std::nullopt;
    return Loss{.waited_ns = lost, .run_ns = run, .is_counted = true};
}

// What a rank lost; nothing where it may have been off the processor for another reason.
std::optional<Loss> loss_of(const Job& job, const Rank& rank) {
    const RankPlace* place = job.placement.find(rank.rank);
    if (rank.usage.ran_ns != 0) return counted_loss(rank, place ? static_cast<double>(place->throttled_ns) : 0);
    constexpr double often = 25, too_often = 500;  // times a second; more than that is sched_yield
    constexpr double by_itself = 0.25;             // so many times less often it gave the processor up
    const auto run = static_cast<double>(rank.process_ns ? rank.process_ns : rank.elapsed_ns);
    const auto cpu = static_cast<double>(rank.usage.user_ns + rank.usage.system_ns);
    const auto taken = static_cast<double>(rank.usage.involuntary_switches);
    if (!rank.has_profile || rank.is_text || run <= 0 || cpu <= 0 || taken <= 0) return std::nullopt;
    const Loss loss{.per_s = taken / run * 1e9, .waited_ns = run - cpu, .each_ns = (run - cpu) / taken, .run_ns = run};
    const bool gave_it_up = static_cast<double>(rank.usage.voluntary_switches) > by_itself * taken;
    if (loss.per_s < often || loss.per_s > too_often || gave_it_up || loss.waited_ns < worth_a_look * run)
        return std::nullopt;
    if (loss.each_ns < shortest_slice_ns || loss.each_ns > longest_slice_ns) return std::nullopt;
    return loss;
}

}  // namespace

void find_crowds(const Analysed& all, std::vector<Finding>& findings) {
    const Job& job = all.job;
    Finding finding{.rule = Rule::crowded, .is_serious = true, .calls = {}, .ranks = {}, .nodes = {}, .evidence = {}};
    Loss sum;
    double taken = 0, run_of_job = 0;
    for (const Rank& rank : job.ranks) {
        run_of_job += static_cast<double>(rank.process_ns ? rank.process_ns : rank.elapsed_ns);
        const auto loss = loss_of(job, rank);
        if (!loss) continue;
        finding.ranks.push_back(rank.rank);
        if (std::find(finding.nodes.begin(), finding.nodes.end(), rank.node) == finding.nodes.end())
            finding.nodes.push_back(rank.node);
        sum.waited_ns += loss->waited_ns;
        sum.inside_ns += loss->inside_ns;
        sum.run_ns += loss->run_ns;
        sum.is_counted = loss->is_counted;
        sum.is_at_least |= loss->is_at_least;
        sum.is_outside = loss->is_outside && (sum.is_outside || finding.ranks.size() == 1);
        taken += static_cast<double>(rank.usage.involuntary_switches);
    }
    if (finding.ranks.empty() || sum.waited_ns < worth_a_look * run_of_job) return;
    evidence::Crowded crowd{.waited_share = sum.waited_ns / sum.run_ns,
                            .pushed_off_per_s = sum.is_counted ? 0 : taken / sum.run_ns * 1e9,
                            .waited_ns = sum.is_counted || taken <= 0 ? 0 : sum.waited_ns / taken,
                            .is_at_least = sum.is_at_least,
                            .inside_share = sum.inside_ns / run_of_job,
                            .is_outside = sum.is_outside,
                            .have_own_cores = all_have_own_cores(job),
                            .too_many = {},
                            .own_threads = {},
                            .foreign = foreign_load_of(job, placed_nodes(job), finding.ranks)};
    for (const Finding& wrong : all.placement()) {
        if (wrong.rule == Rule::too_many) crowd.too_many = std::get<evidence::TooMany>(wrong.evidence);
        if (wrong.rule == Rule::threads) crowd.own_threads = std::get<evidence::Threads>(wrong.evidence);
    }
    finding.run_share = sum.waited_ns / run_of_job;
    finding.evidence = std::move(crowd);
    findings.push_back(std::move(finding));
}

// Whoever loses its processor comes late, too. Inside MPI it may lose nothing by it: where stretches of the run tell
// the two apart, as in the budget, only what was waited outside is said.
void add_processors(const Job& job, evidence::Varying& e) {
    constexpr double often = 25;  // times a second
    double times = 0, process_ns = 0, waited_ns = 0, outside_ns = 0, run_ns = 0;
    bool is_counted = true, is_measured = true;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.is_text) continue;
        is_counted &= rank.usage.ran_ns != 0;
        times += static_cast<double>(rank.usage.involuntary_switches);
        process_ns += static_cast<double>(rank.process_ns ? rank.process_ns : rank.elapsed_ns);
        const auto waited = static_cast<double>(rank.usage.waited_ns), run = static_cast<double>(rank.elapsed_ns);
        waited_ns += waited;
        run_ns += run;
        const auto wait = processor_wait(rank);
        is_measured &= wait && (wait->is_measured || waited < worth_a_look * run);  // of little it matters little
        outside_ns += wait ? wait->outside_ns : 0;
    }
    const double waited = share(is_measured ? outside_ns : waited_ns, run_ns), per_s = share(times, process_ns / 1e9);
    if (is_counted && waited >= worth_a_look) e.processor_share = waited;
    e.is_processor_outside = is_measured;
    if (!is_counted && per_s >= often) e.pushed_off_per_s = per_s;
}

}  // namespace mpiprof::report
