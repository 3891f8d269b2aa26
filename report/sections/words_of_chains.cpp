// Ranks that work one after the other, and one that serves all others.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;

namespace {
std::string says(const evidence::SerialChain& e, const Spoken& s) {
    return fmt::format(
        "On average {:.2f} of {} ranks are outside {} at a time, and the time inside far exceeds what the messages "
        "need: at least {} of the run is spent waiting. Communication pattern: mpiprof-report peers.",
        e.at_work, s.job.ranks.size(), s.words.library, human_share(e.run_share));
}

std::string begins(const evidence::SerialChain& e, const Spoken& s) {
    return fmt::format(
        "The ranks work one after another: on average {:.1f} of {} at a time are outside {}; for {} of the run "
        "ranks wait for each other.",
        e.at_work, s.job.ranks.size(), s.words.library, human_share(e.run_share));
}

}  // namespace

const RuleWords rule_words::serial_chain{
    .means = "Serialisation: the ranks work one after another.",
    .evidence =
        "The times outside MPI of all ranks add up to about one run (0.2 to 1.15 of it), no rank has most of it, and "
        "the time in MPI far exceeds what the messages need; with fewer than four ranks, even the fastest calls do. Sends "
        "have less than a third of the wait time: what is passed on is waited for in receives.",
    .check =
        "mpiprof-report peers has the communication pattern, mpiprof-report sites the lines at which ranks wait. Cut "
        "each rank's work into blocks and send each block on at once, so that the next rank begins after the first one.",
    .says = of<evidence::SerialChain, says>,
    .begins = of<evidence::SerialChain, begins>,
};

namespace {
// "0, 1, 2, 3", or the first few of many.
std::string turns_text(const evidence::InTurn& e) {
    std::string text = fmt::format("{}", e.turns.front());
    for (std::size_t i = 1; i < std::min(e.turns.size(), Spoken::most_items); ++i)
        text += fmt::format(", {}", e.turns[i]);
    return text + (e.turns.size() > Spoken::most_items ? " ..." : "");
}

std::string says(const evidence::InTurn& e, const Spoken& s) {
    return fmt::format(
        "{} of the wait time in {} is in calls before which one rank alone has something to do, in the order {}, again "
        "after every {} collectives. Late arrivals: mpiprof-report arrivals; call sites: mpiprof-report sites.",
        human_share(e.alone_share), s.call(), turns_text(e), e.period);
}

std::string begins(const evidence::InTurn& e, const Spoken& s) {
    return fmt::format(
        "The ranks take turns ({}): one works while all others wait in {}; {} of the run is spent waiting like that.",
        turns_text(e), s.call(), human_share(e.run_share));
}

}  // namespace

const RuleWords rule_words::in_turn{
    .means = "The ranks take turns: one after another has something to do, and all others wait in a collective.",
    .evidence =
        "Of the wait time in the collectives of the communicator with the most of it, at least half is in calls before "
        "which all but the last rank waited for at least 80 % of the time since the collective before. The same rank is "
        "last again after a fixed number of collectives, in 90 % of the calls that were compared, and at least half of "
        "the ranks take their turn.",
    .check =
        "mpiprof-report sites has the line, mpiprof-report arrivals the order. Let all ranks do it at the same time: one "
        "file for each, or collective MPI-IO (MPI_File_write_at_all, MPI_File_write_ordered), or gather what there is to "
        "write on one rank and let the others go on. Drop barriers that only keep an order.",
    .says = of<evidence::InTurn, says>,
    .begins = of<evidence::InTurn, begins>,
};

namespace {
std::string says(const evidence::OneServesAll& e, const Spoken& s) {
    return fmt::format(
        "{} of all messages go to or come from rank {}, which is outside {} for {} of its run, serving one rank at a "
        "time. Communication pattern: mpiprof-report peers.",
        human_share(e.messages_share), s.finding.ranks.front(), s.words.library, human_share(e.busy_share));
}

std::string begins(const evidence::OneServesAll& e, const Spoken& s) {
    return fmt::format(
        "{} is a serial bottleneck: {} of the messages go to or come from it, and {} {} of the run waiting for it.",
        s.who(), human_share(e.messages_share), s.others(), human_share(e.others_run_share));
}

}  // namespace

namespace {
std::string next(const evidence::OneServesAll& e, const Spoken& s) {
    constexpr double mostly = 0.5;
    if (!e.cpu_share || *e.cpu_share >= mostly) return "";
    return fmt::format(
        "Rank {} is mostly off the CPU while the others wait for it: look for sleep, file I/O or locks in what it does "
        "between its messages. Then: larger portions, or several servers. mpiprof-report peers; mpiprof-report time.",
        s.finding.ranks.front());
}
}  // namespace

const RuleWords rule_words::one_serves_all{
    .means = "Serial bottleneck: one rank serves all others in turn, and they wait for it.",
    .evidence =
        "At least 90 % of all messages go to or come from one rank, which communicates with nearly all others and "
        "spends at least half of its run outside MPI, while the others wait in point-to-point calls.",
    .check = "mpiprof-report peers; mpiprof-report ranks. Use several servers, larger portions, or collectives.",
    .says = of<evidence::OneServesAll, says>,
    .begins = of<evidence::OneServesAll, begins>,
    .next = of<evidence::OneServesAll, next>,
};

}  // namespace mpiprof::report
