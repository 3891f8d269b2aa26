// Waiting that is for no rank in particular: for the partner of a message, a lock or a target, for now one rank and now
// another.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;

namespace {

constexpr std::size_t most_items = Spoken::most_items;

// "rank 0, then 1, 2 and 3", or the first few of many.
std::string turns_text(const std::vector<std::uint32_t>& turns) {
    std::string text = fmt::format("rank {}, then {}", turns[0], turns[1]);
    for (std::size_t i = 2; i < std::min(turns.size(), most_items); ++i) text += fmt::format(", then {}", turns[i]);
    return text + (turns.size() > most_items ? " ..." : "");
}

// Then it is not another one each time.
bool is_mostly_one(const evidence::Varying& e) { return e.last && e.last_waiting_share >= 2.0 / 3; }

}  // namespace

namespace {
// What may make ranks late, where the kernel kept an account of it.
std::string possible_cause(const evidence::Varying& e, const Spoken& s) {
    std::string text;
    if (e.processor_share && e.is_processor_outside)
        text += fmt::format(" The ranks were runnable without a CPU for {} of the run outside {}: a possible cause.",
                            human_share(*e.processor_share), s.words.library);
    else if (e.processor_share)
        text += fmt::format(
            " The ranks were runnable without a CPU for {} of the run, inside {} or outside: harmless if they yield "
            "while they wait for each other, otherwise a possible cause.",
            human_share(*e.processor_share), s.words.library);
    if (e.pushed_off_per_s && !e.is_of_crowd)  // which says for how long
        text += fmt::format(
            " There were {} context switches per second and rank: a possible cause (the time without a CPU is not "
            "known).",
            human_count(std::round(*e.pushed_off_per_s)));
    return text;
}

// What ranks wait in, and what that is waiting for.
struct PartnerWords {
    std::string_view says, begins, waits;
};
PartnerWords partner_words(Rule rule) {
    if (rule == Rule::passive_target)
        return {"in locks that another rank holds, or for a target that is outside MPI, mostly", "Passive target",
                "in one-sided calls that wait for a lock or their target"};
    if (rule == Rule::pipeline)
        return {"in receives of a pipeline, mostly", "Pipeline", "waiting for it to fill and to run empty again"};
    if (rule == Rule::late_sender)
        return {"in receives whose message is sent later, mostly", "Late senders", "waiting for messages to be sent"};
    return {"in sends whose receive is posted later, mostly", "Late receivers", "in sends that wait for the receiver"};
}

std::string says_of_partners(const evidence::Varying& e, const Spoken& s) {
    return fmt::format(
        "{} of the time in {} is spent waiting, {} of the run{}; {} of it {} {}.{} Call sites: "
        "mpiprof-report sites.",
        human_share(e.mpi_share), s.words.library, human_share(e.run_share), e.is_known ? "" : " (an estimate)",
        human_share(e.partner_share), partner_words(s.finding.rule).says, s.call(), possible_cause(e, s));
}

std::string begins_of_partners(const evidence::Varying& e, const Spoken& s) {
    const PartnerWords words = partner_words(s.finding.rule);
    const bool has_size = s.finding.rule != Rule::passive_target;
    const bool is_posted = !s.finding.calls.empty() && s.job.calls[s.finding.calls.front()].is_posted;
    return fmt::format("{}: {} of the run is spent {}, mostly {} {}{}; {}.", words.begins, human_share(e.run_share),
                       words.waits, is_posted ? "posted by" : "in", s.call(),
                       has_size ? " of " + human_bytes(e.partner_bytes) : "",
                       e.slow_share > 0 ? "its slowest rank sets the pace" : "no rank is slow overall");
}
}  // namespace

const RuleWords rule_words::late_sender{
    .means = "Late senders: ranks wait in receives for messages that are sent later.",
    .evidence =
        "Wait time is at least 5 % of the run and a quarter of the time in MPI, two thirds of it in receives, or in the "
        "MPI_Wait and MPI_Test that complete them (less where some ranks alone wait in them, for at least half the mean "
        "time in MPI), and no rank is slow over the whole run.",
    .check =
        "mpiprof-report sites has the lines, mpiprof-report peers the senders. Send as soon as the data is ready, "
        "and compute what does not need the message before waiting for it (MPI_Irecv early, MPI_Wait late).",
    .says = of<evidence::Varying, says_of_partners>,
    .begins = of<evidence::Varying, begins_of_partners>,
};

const RuleWords rule_words::late_receiver{
    .means = "Late receivers: sends wait until the receive is posted.",
    .evidence =
        "Wait time is at least 5 % of the run and a quarter of the time in MPI, two thirds of it in sends, or in the "
        "MPI_Wait and MPI_Test that complete them (less where some ranks alone wait in them, for at least half the mean "
        "time in MPI), and no rank is slow over the whole run. Messages above the MPI library's eager limit wait for their receiver.",
    .check =
        "mpiprof-report sites has the lines. Post the receive earlier (MPI_Irecv before what the receiver does in "
        "between), or send with MPI_Isend and complete it later.",
    .says = of<evidence::Varying, says_of_partners>,
    .begins = of<evidence::Varying, begins_of_partners>,
};

const RuleWords rule_words::pipeline{
    .means = "Pipeline: messages go one way through the ranks, which wait for it to fill and to run empty.",
    .evidence =
        "As for late-sender, where messages go one way from a first rank to a last one over three ranks or more, and a "
        "collective behind them waits for the last one: at least two thirds of its wait time, and a third of all.",
    .check =
        "mpiprof-report sites has the lines, mpiprof-report peers the order of the ranks. Cut the work into more and "
        "smaller blocks, start the next sweep before the last one is through, or drop the collective between sweeps: "
        "of N blocks over P ranks, P-1 of N+P-1 steps are spent waiting.",
    .says = of<evidence::Varying, says_of_partners>,
    .begins = of<evidence::Varying, begins_of_partners>,
};

const RuleWords rule_words::passive_target{
    .means = "Passive target: one-sided calls wait for a lock, or for a target that is outside MPI.",
    .evidence =
        "Wait time is at least 5 % of the run and a quarter of the time in MPI, two thirds of it in MPI_Win_lock, unlock "
        "and flush (less where some ranks alone wait in them, for at least half the mean time in MPI), and no rank is "
        "slow over the whole run.",
    .check =
        "mpiprof-report sites has the lines. Hold exclusive locks for as short as possible, or share them "
        "(MPI_LOCK_SHARED, MPI_Win_lock_all). Where no lock is contended, the target makes no progress while it "
        "computes: have it call MPI now and then, or use asynchronous progress (MPICH_ASYNC_PROGRESS=1).",
    .says = of<evidence::Varying, says_of_partners>,
    .begins = of<evidence::Varying, begins_of_partners>,
};

namespace {
// "rank 0, then 1, then 2, then 3, again after every 32 collectives"
std::string order_text(const evidence::Varying& e) {
    return fmt::format("{}, again after every {} collectives", turns_text(e.order), e.period);
}

std::string who_is_late(const evidence::Varying& e) {
    if (!e.turns.empty()) return ": the straggler moves from rank to rank (mpiprof-report time)";
    if (e.is_said_for_whom || is_mostly_one(e)) return "";
    if (e.order.size() > 1) return fmt::format(": the ranks are late in a fixed order ({})", order_text(e));
    if (e.stays > 0)
        return fmt::format(": the same rank is late for about {:.0f} calls in a row, then another", e.stays);
    return e.is_by_chance && !e.is_of_crowd ? ": a different rank is late each time" : "";
}

std::string says(const evidence::Varying& e, const Spoken& s) {
    const std::string_view estimate = e.is_known ? "" : " (an estimate)";
    const std::string who = who_is_late(e);
    std::string text =
        e.slow_share > 0
            ? fmt::format("{} of the time in {} is spent waiting; for {} of the run slow ranks do not explain it{}{}.",
                          human_share(e.mpi_share), s.words.library, human_share(e.run_share), estimate, who)
            : fmt::format(
                  "The ranks are balanced over the run (load balance {}), yet {} of their time in {} is spent "
                  "waiting, {} of the run{}{}.",
                  human_share(e.load_balance), human_share(e.mpi_share), s.words.library, human_share(e.run_share),
                  estimate, who);
    text += possible_cause(e, s);
    // One that comes last as often as by chance is nobody's cause.
    if (e.last && e.last->share * static_cast<double>(s.job.ranks.size()) >= 1.5)
        text += fmt::format(
            " Rank {} arrived last in {} of the sampled {} calls, with {} of their wait time: mpiprof-report "
            "arrivals.",
            e.last_rank, human_share(e.last->share), s.job.calls[e.last->call].name, human_share(e.last_waiting_share));
    return text + " Call sites: mpiprof-report sites.";
}

std::string begins(const evidence::Varying& e, const Spoken& s) {
    if (!e.turns.empty())
        return fmt::format("The straggler changes during the run ({}): {} of the run is spent waiting for it.",
                           turns_text(e.turns), human_share(e.run_share));
    if (is_mostly_one(e))
        return fmt::format("{} of the run is spent waiting{}; {} of the wait time in {} is for rank {}.",
                           human_share(e.run_share), e.slow_share > 0 ? " beyond what slow ranks explain" : "",
                           human_share(e.last_waiting_share), s.job.calls[e.last->call].name, e.last_rank);
    const std::string waiting = human_share(e.run_share);
    const std::string_view overall = e.slow_share > 0 ? "" : "no rank is slow overall, but ";
    std::string text = "Transient imbalance: ";
    if (e.order.size() > 1)
        text +=
            fmt::format("{}the ranks are late in a fixed order ({}); {} of the run is spent waiting for the last one",
                        overall, order_text(e), waiting);
    else if (e.stays > 0)
        text += fmt::format(
            "{}one is late for about {:.0f} calls in a row, then another; {} of the run is spent waiting for it",
            overall, e.stays, waiting);
    else if (e.is_by_chance && !e.is_of_crowd)
        text += fmt::format("{}a different {} is late each time; {} of the run is spent waiting for the last rank",
                            overall, e.slow_share > 0 ? "rank" : "one", waiting);
    else
        text += fmt::format("{}{} of the run is spent waiting for ranks that are late at times",
                            e.slow_share > 0 ? "" : "no rank is slow overall, yet ", waiting);
    if (e.slow_share > 0) text += fmt::format(", plus {} for ranks that are always slow", human_share(e.slow_share));
    if (e.pushed_off_per_s)
        text += fmt::format(" (possibly oversubscribed: {} context switches per second and rank)",
                            human_count(std::round(*e.pushed_off_per_s)));
    return text + ".";
}

std::string next(const evidence::Varying& e, const Spoken& s) {
    constexpr double more_than_one_thread = 1.5;
    if (e.turns.empty() && !e.is_said_for_whom && !is_mostly_one(e) && e.order.size() > 1)
        return fmt::format(
            "mpiprof-report arrivals; mpiprof-report sites, column WAITING. Look for what depends on the number of the "
            "step or on whose turn it is: output, an owner that changes, blocks that are dealt out in turn. Give every "
            "rank a share of it in each step.");
    if (e.cores_busy >= more_than_one_thread)
        return fmt::format(
            "{} Each rank keeps {} cores busy: if its other threads compute meanwhile, less is lost. Time the steps.",
            rule_words::varying.check, human_number(e.cores_busy));
    return "";
}

}  // namespace

const RuleWords rule_words::varying{
    .means = "Transient imbalance: no rank is slow over the whole run, but now one and now another is late.",
    .evidence =
        "Wait time (time above the fastest call, and above what the slowest network would take) is at least 5 % of "
        "the run beyond what slow ranks explain, and a quarter of the time in MPI. Stragglers that follow each "
        "other, each for at least a twelfth of the run, are named in their order; so are those that come last again after "
        "a fixed number of collectives, call by call. That a different rank is late each time is said only where "
        "collectives were compared (mpiprof-report arrivals) and show no order.",
    .check =
        "mpiprof-report sites, column WAITING; mpiprof-report time if the straggler moves. Usual reasons: random "
        "work, system noise, a hot spot that moves. Fewer collectives mean fewer such waits.",
    .says = of<evidence::Varying, says>,
    .begins = of<evidence::Varying, begins>,
    .next = of<evidence::Varying, next>,
};

}  // namespace mpiprof::report
