// Ranks that come late, and why others wait for them.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;
namespace {

constexpr std::size_t most_items = Spoken::most_items;

std::string time(std::uint64_t ns) { return human_time(static_cast<double>(ns)); }

// " from 14:32:07 to 14:40:10 (2460 s to 2943 s after the first MPI_Init)", or since the one, or until the other.
std::string when(const evidence::Imbalance& e, const Spoken& s) {
    if (!e.when) return "";
    const Stretch& when = *e.when;
    const std::string began = time(when.began_ns), ended = time(when.ended_ns);
    if (when.began_ns && when.ended_ns)
        return fmt::format(" from {} to {} ({} to {} after {})", human_clock(when.began_at), human_clock(when.ended_at),
                           began, ended, s.words.first_init);
    if (when.began_ns)
        return fmt::format(" since {} ({} after {})", human_clock(when.began_at), began, s.words.first_init);
    if (when.ended_ns)
        return fmt::format(" until {} ({} after {})", human_clock(when.ended_at), ended, s.words.first_init);
    return "";
}

// "computes 36% longer than the others", or "spends 2.4x as long outside MPI as the others": whether ranks compute is
// known where CPU time covers what they spend outside the library.
std::string longer_than(const evidence::Imbalance& e, const Spoken& s, std::string_view others) {
    const bool computes = e.cpu_share && *e.cpu_share >= 0.7;
    const char* verb = computes ? s.verb("computes", "compute") : s.verb("spends", "spend");
    const std::string outside = computes ? "" : fmt::format(" outside {}", s.words.library);
    const std::string_view bound = e.is_at_least ? "at least " : "";
    if (e.longer_share < 1)
        return fmt::format("{} {}{} longer{} than {}", verb, bound, human_share(e.longer_share), outside, others);
    if (e.longer_share >= 9) return fmt::format("{} more than 10x as long{} as {}", verb, outside, others);
    return fmt::format("{} {}{:.1f}x as long{} as {}", verb, bound, e.longer_share + 1, outside, others);
}

// Of several ranks the longest is known.
std::string_view up_to(const Spoken& s) { return s.is_one() ? "" : "up to "; }

}  // namespace

namespace {
std::string says(const evidence::Imbalance& e, const Spoken& s) {
    const std::string who = !e.is_all_of_node
                                ? s.ranks()
                                : fmt::format("All ranks of node {} ({})", host_of(s.job, s.finding.nodes.front()),
                                              rank_list(s.finding.ranks, most_items));
    std::string text =
        fmt::format("{} {} up to {} more outside {} than the average rank (load balance {}).", who,
                    s.verb("spends", "spend"), human_time(e.longer_ns), s.words.library, human_share(e.load_balance));
    if (s.job.is_text ? s.job.knows_all_ranks() : !s.job.lacks_ranks())  // else they may wait for one of the others
        text += fmt::format(" About {} of the other ranks' time in {} is spent waiting for that.",
                            human_share(e.others_share), s.words.library);
    if (e.cpu_share && *e.cpu_share < 0.7)
        text += fmt::format(" {} on a CPU for at most {} of {} time outside {}{}.", s.verb("It was", "They were"),
                            human_share(*e.cpu_share), s.verb("its", "their"), s.words.library,
                            e.lacks_processors()
                                ? fmt::format(", and runnable without one for {}", human_share(e.runnable_share))
                                : "; the rest is sleep, I/O or preemption");
    if (e.last && e.last->share >= 0.5)
        text += fmt::format(" {} arrived last in {} of the sampled {} calls: mpiprof-report arrivals.",
                            s.verb("It", "One of them"), human_share(e.last->share), s.job.calls[e.last->call].name);
    return text + " Per rank: mpiprof-report ranks; over time: mpiprof-report time.";
}

// "rank 0", where all ranks but one are named.
std::string only_other(const Spoken& s) {
    if (s.finding.ranks.size() + 1 != s.job.ranks.size()) return "";
    for (const Rank& rank : s.job.ranks)
        if (!std::binary_search(s.finding.ranks.begin(), s.finding.ranks.end(), rank.rank))
            return fmt::format("rank {}", rank.rank);
    return "";
}

std::string begins(const evidence::Imbalance& e, const Spoken& s) {
    const std::string waiting = fmt::format("{}{} of the run waiting for {}.", e.is_at_least ? "at least " : "",
                                            human_share(e.others_run_share), s.verb("it", "them"));
    const bool is_two = s.job.ranks.size() == 2;
    if (s.finding.rule == Rule::growing_work)
        return fmt::format("Load imbalance: work {} with the rank number ({} {}); the other ranks spend {}",
                           s.finding.ranks.front() > e.least_rank ? "grows" : "falls", s.who(At::middle),
                           longer_than(e, s, fmt::format("rank {}", e.least_rank)), waiting);
    if (s.finding.rule == Rule::imbalance) {
        const std::string one = only_other(s);
        return fmt::format("Load imbalance: {} {}, which {} {}", s.who(At::middle),
                           longer_than(e, s, one.empty() ? "the average of the others" : one),
                           one.empty() ? "spend" : "spends", waiting);
    }
    const std::string who_it_is =
        s.finding.rule == Rule::slow_node
            ? fmt::format("All ranks of node {} ({})", host_of(s.job, s.finding.nodes.front()),
                          rank_list(s.finding.ranks, most_items))
            : s.who();
    const std::string why = e.throttled_ns == 0
                                ? std::string()
                                : fmt::format(" (the quota of {} cgroup throttled {} for {})", s.verb("its", "their"),
                                              s.verb("it", "them"), time(e.throttled_ns));
    // That they share a node proves nothing of it: their work may be more.
    const bool is_undecided = s.finding.rule == Rule::slow_node && e.throttled_ns == 0;
    return fmt::format("{} {}{}{}; {} {}{}", who_it_is,
                       longer_than(e, s, is_two ? "the other rank" : "the other ranks"), when(e, s), why,
                       is_two ? "the other one spends" : "the others spend", waiting,
                       is_undecided ? " Uneven work or a slower node: one run cannot tell." : "");
}
}  // namespace

namespace {
// Whoever is off the CPU has neither more to compute nor a slower processor.
std::string next(const evidence::Imbalance& e, const Spoken& s) {
    constexpr double hardly_on_a_cpu = 0.3;
    if (!e.cpu_share || *e.cpu_share >= hardly_on_a_cpu || e.throttled_ns != 0) return "";
    if (e.lacks_processors())
        return fmt::format(
            "mpiprof-report placement. {} without a CPU for {} of {} time outside {}: start fewer ranks or threads per "
            "core, and compare the ranks again.",
            s.verb("It was", "They were"), human_share(e.runnable_share), s.verb("its", "their"), s.words.library);
    return fmt::format(
        "mpiprof-report ranks --sort outside; mpiprof-report time. {} off the CPU outside {}: look for sleep, file I/O, "
        "locks or a GPU that {} for.",
        s.verb("It is mostly", "They are mostly"), s.words.library, s.verb("it waits", "they wait"));
}
}  // namespace

const RuleWords rule_words::slow_rank{
    .means = "Some ranks compute longer, or spend longer outside MPI, and the others wait for them.",
    .evidence =
        "Time outside MPI: at least 5 % of the run above the mean, and clearly separated from the other ranks. The "
        "others wait for as long as their own time outside MPI is shorter; longer, where calls that were compared have nearly "
        "all of the wait time and show that it is for several slow ranks, each late at times. When it began is known to 1/48 of the "
        "run. No slow-rank, slow-node, growing-work or imbalance is reported where the record of a rank that did not "
        "reach MPI_Finalize is so much shorter than the longest that this could explain half of the difference. Where a "
        "different rank is late each time, ranks that came last no more often than by chance are only an imbalance.",
    .check =
        "mpiprof-report ranks --sort outside; mpiprof-report time. Is it more work, or a slower processor? Compare "
        "the work of the ranks, and their CPU time with their time outside MPI.",
    .says = of<evidence::Imbalance, says>,
    .begins = of<evidence::Imbalance, begins>,
    .next = of<evidence::Imbalance, next>,
};

const RuleWords rule_words::slow_node{
    .means = "All ranks of one node, and no others, are slow: the node is slower, or their work is more.",
    .evidence = "As for slow-rank, where the slow ranks are exactly the ranks of one of several nodes.",
    .check =
        "Run again with the ranks in another order over the nodes: if the same ranks are slow, their work is more; if "
        "the same node is, look there at clock rates, other processes and dmesg. mpiprof-report ranks --by node; "
        "mpiprof-report placement (throttled, memory).",
    .says = of<evidence::Imbalance, says>,
    .begins = of<evidence::Imbalance, begins>,
};

const RuleWords rule_words::growing_work{
    .means = "Load imbalance: work grows or falls with the rank number.",
    .evidence = "Time outside MPI correlates with the rank number (0.95 or more, four ranks or more).",
    .check =
        "mpiprof-report ranks. Distribute the work differently: triangular loops and remainders that all go to the "
        "last rank are common reasons.",
    .says = of<evidence::Imbalance, says>,
    .begins = of<evidence::Imbalance, begins>,
};

const RuleWords rule_words::imbalance{
    .means = "Load imbalance without a clear group of slow ranks.",
    .evidence =
        "The longest time outside MPI is at least 5 % of the run above the mean, and the slowest ranks are not "
        "clearly separated from the others.",
    .check = "mpiprof-report ranks --sort outside; mpiprof-report time.",
    .says = of<evidence::Imbalance, says>,
    .begins = of<evidence::Imbalance, begins>,
};

namespace {
std::string says(const evidence::LateInside& e, const Spoken& s) {
    std::string text =
        fmt::format("{} of the wait time in {} is for {}, which {} {}{} more in {} than the others.",
                    human_share(e.waiting_share), s.job.calls[s.finding.calls[1]].name, s.ranks(At::middle),
                    s.verb("spends", "spend"), up_to(s), human_time(e.more_ns), s.call());
    if (e.may_wait)
        text += s.is_one() ? " If it waits there for another rank, that rank is the cause."
                           : " If they wait there for other ranks, those are the cause.";
    return text + " Late arrivals: mpiprof-report arrivals; call sites: mpiprof-report sites.";
}

std::string begins(const evidence::LateInside& e, const Spoken& s) {
    return fmt::format(
        "{} {} late at {} after spending {}{} more in {} than the others; {} {} of the run waiting for {}.", s.who(),
        s.verb("arrives", "arrive"), s.job.calls[s.finding.calls[1]].name, up_to(s), human_time(e.more_ns), s.call(),
        s.others(), human_share(e.others_run_share), s.verb("it", "them"));
}
}  // namespace

const RuleWords rule_words::late_inside{
    .means = "Ranks arrive late at collectives because of time they spend in other MPI calls.",
    .evidence =
        "In the collective with the most wait time, at least two thirds of it (and 5 % of the run) is in calls in "
        "which the same one to four ranks, at most half of all, arrive in the later half. They spend at least half "
        "as much additional time in another call as each of the others waits, and less than that outside MPI.",
    .check =
        "mpiprof-report arrivals; mpiprof-report sites has the line of the call. If one rank writes a file: write it "
        "collectively, or overlap it with computation. If it has more partners or messages than the others: "
        "distribute them.",
    .says = of<evidence::LateInside, says>,
    .begins = of<evidence::LateInside, begins>,
};

}  // namespace mpiprof::report
