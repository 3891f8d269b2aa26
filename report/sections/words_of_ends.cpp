// How a job ended, and what is wrong with it or with its record.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/analysis/hangs.h"
#include "report/model/units.h"
#include "report/sections/hang_conclusion.h"
#include "report/sections/hang_words.h"
#include "report/sections/section.h"
#include "report/symbols/left_over_lines.h"

namespace mpiprof::report {

using rule_words::of;
namespace {

constexpr std::size_t most_items = Spoken::most_items;
constexpr std::uint64_t worth_a_word_ns = 1'000'000'000;

std::string time(std::uint64_t ns) { return human_time(static_cast<double>(ns)); }

std::string how_it_ended(const evidence::Unfinished& e, const Vocabulary& words) {
    switch (e.state) {
        case State::finalized:
            return fmt::format("reached {}", words.finalize);
        case State::aborted:
            return fmt::format("called MPI_Abort({})", e.exit_code);
        case State::exited:
            return fmt::format("ended without {}", words.finalize);
        case State::running:
            break;
    }
    if (e.life == Life::running) return "still running";
    return e.life == Life::ended ? "killed" : "killed, or on a node that cannot be checked from here";
}

struct DropWords {
    std::string_view key, things, text;
    bool is_shared;
};
constexpr auto drop_words = [] {
    constexpr bool own = false, shared = true;
    return std::to_array<DropWords>({
#define DROP(name, gravity, things, text, sum) {#name, things, text, sum},
#include "report/model/drops.def"
#undef DROP
    });
}();

// "3 requests of MPI_Irecv (halo.c:12) were never completed"
std::string left_over_text(const LeftOverLine& line, const Job& job) {
    struct Words {
        const char *one, *several, *what;
    };
    static constexpr Words words[] = {{"request", "requests", "never completed"},
                                      {"persistent request", "persistent requests", "never freed"},
                                      {"communicator", "communicators", "never freed"},
                                      {"datatype", "datatypes", "never freed"}};
    const LeftOver& left = line.sum;
    const Words& w = words[static_cast<std::size_t>(left.kind)];
    const std::string where =
        left.ranks == 1 ? fmt::format(" on rank {}", left.first_rank) : fmt::format(" on {} ranks", left.ranks);
    return fmt::format("{} of {}{}{} {} {}", plural(left.count, w.one, w.several), job.calls[left.call].name,
                       in_brackets(line.place), job.profiles() > 1 ? where : std::string(),
                       left.count == 1 ? "was" : "were", w.what);
}

std::string ended(std::uint32_t ranks, const Spoken& s) {
    if (ranks == s.finding.ranks.size() && ranks != s.job.size) return s.who();
    return of_all(ranks, s.job);
}

std::string last_call(const evidence::Unfinished& e, const Spoken& s) {
    if (s.finding.calls.empty()) return "";
    return fmt::format(", {} {}{}", e.is_inside ? "inside" : "outside MPI, last call", s.call(),
                       in_brackets(line_text(s.job, e.place)));
}

std::string rest(const evidence::Unfinished& e, const Spoken& s) {
    const auto more = e.alike - std::min<std::size_t>(e.alike, s.finding.ranks.size());
    return more ? fmt::format("; {} ended with {}.", plural(more, "other rank", "other ranks"), s.verb("it", "them"))
                : ".";
}

}  // namespace

namespace {
std::string says(const evidence::Hung& e, const Spoken& s) {
    return words_of(e.hang, s.job, e.is_over) + ". Where every rank is: mpiprof-report hang.";
}

}  // namespace

const RuleWords rule_words::hang{
    .means = "Deadlock: ranks wait for each other, or for something that will never come. Proven, not guessed.",
    .evidence =
        "Where each rank is, what it has entered and enqueued, and which ranks have ended, for at least a second. A "
        "job that merely waits, however long, is never reported.",
    .check = "mpiprof-report hang has the source line of every rank.",
    .says = of<evidence::Hung, says>,
};

namespace {
std::string says(const evidence::Unfinished& e, const Spoken& s) {
    std::string text = s.ranks() + ": " + how_it_ended(e, s.words);
    if (!s.finding.calls.empty()) text += ", inside " + s.call();
    if (e.longest_ns >= 1'000'000'000) text += " for " + human_time(static_cast<double>(e.longest_ns));
    return text + (e.points_to_hang ? ". Which ranks wait for which: mpiprof-report hang." : ".");
}

std::string begins(const evidence::Unfinished& e, const Spoken& s) {
    const std::string after = fmt::format("{} after {}", time(e.after_ns), s.words.init);
    if (e.state == State::aborted)
        return fmt::format("{} called MPI_Abort({}) {}{}{}", s.who(), e.exit_code, after, last_call(e, s), rest(e, s));
    if (e.state == State::exited)
        return fmt::format("{} ended without {} {}{}{}", s.who(), s.words.finalize, after, last_call(e, s), rest(e, s));
    const std::string_view killed =
        e.life == Life::ended ? "killed" : "killed (or on a node that cannot be checked from here)";
    if (e.waiting != 0) {
        const std::string waited = e.waited_ns >= worth_a_word_ns ? " for " + time(e.waited_ns) : "";
        return fmt::format("{} {} {} {}; {} waited{} in {} for {}{}", ended(e.alike, s), e.alike == 1 ? "was" : "were",
                           killed, after, plural(e.waiting, "rank", "ranks"), waited,
                           e.call ? s.job.calls[*e.call].name : std::string(s.words.finalize), s.who(At::middle),
                           last_call(e, s) + ".");
    }
    if (s.finding.ranks.size() < e.alike)
        return fmt::format("{} {} {} first, {}{}{}", s.who(), s.verb("was", "were"), killed, after, last_call(e, s),
                           rest(e, s));
    // Lines of the source are looked up for those that stand somewhere: not where nothing is to be said.
    const std::string held_up = std::holds_alternative<std::monostate>(e.held_by)
                                    ? std::string()
                                    : words_of(e.held_by, s.job, StandingLines(s.job), is_over(s.job));
    return fmt::format("{} {} {} {}{}.", ended(e.alike, s), e.alike == 1 ? "was" : "were", killed, after,
                       held_up.empty() ? last_call(e, s) : ". " + held_up);
}

// Who calls MPI_Abort has mostly said why.
std::string next(const evidence::Unfinished& e, const Spoken& s) {
    if (e.state != State::aborted) return "";
    return fmt::format(
        "The program ended itself: the last lines that {} wrote to stderr should say why. mpiprof-report hang shows where "
        "every rank was.",
        s.who(At::middle));
}

}  // namespace

const RuleWords rule_words::unfinished{
    .means = "The job, or some of its ranks, did not reach MPI_Finalize.",
    .evidence =
        "The state of each profile: aborted, exited, killed. The first to fail is the rank that called MPI_Abort, "
        "otherwise the one that exited, otherwise the one that the others waited for in a collective, otherwise "
        "those whose records stop at least 2 s (or two store periods) before the others'.",
    .check =
        "mpiprof-report hang shows where every rank was; mpiprof-report check lists the states. Look for signals and "
        "scheduler messages in the output of the job.",
    .says = of<evidence::Unfinished, says>,
    .begins = of<evidence::Unfinished, begins>,
    .next = of<evidence::Unfinished, next>,
};

namespace {
std::string says(const evidence::WrongLauncher& e, const Spoken& s) {
    return fmt::format(
        "Each of {} processes was the only rank of its own job: {} started them, but the program is linked with {}. "
        "{}",
        e.launches, e.launcher, e.family.empty() ? "another MPI" : e.family, advice_of(s.finding, s.job));
}

std::string begins(const evidence::WrongLauncher& e, const Spoken&) {
    return fmt::format(
        "Launcher mismatch: {} jobs of one rank each instead of one job of {} ranks; {} started a program that is "
        "linked with {}.",
        e.launches, e.launches, e.launcher, e.family.empty() ? "another MPI" : e.family);
}

std::string advises(const evidence::WrongLauncher&, const Spoken& s) {
    constexpr std::string_view slurm = "Slurm";
    if (s.job.launcher == slurm)
        return "Try srun --mpi=pmix (Open MPI) or srun --mpi=pmi2 (MPICH); srun --mpi=list shows what is available.";
    return "Use the mpirun of the MPI library that the program is linked with: module list, which mpirun, ldd PROGRAM.";
}

}  // namespace

const RuleWords rule_words::wrong_launcher{
    .means = "The ranks ran as separate jobs of one rank: the launcher belongs to another MPI.",
    .evidence =
        "Several single-rank profiles of the same job and command, started within a minute of each other by a "
        "launcher that does not belong to the MPI library they called.",
    .check =
        "ldd PROGRAM shows the library, which mpirun the launcher: both have to be of the same MPI. With srun: "
        "--mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH).",
    .says = of<evidence::WrongLauncher, says>,
    .begins = of<evidence::WrongLauncher, begins>,
    .advises = of<evidence::WrongLauncher, advises>,
};

namespace {
std::string says(const evidence::Order& e, const Spoken& s) {
    const std::string on =
        !e.communicator.empty() ? e.communicator : fmt::format("a communicator of {}", plural(e.size, "rank", "ranks"));
    std::string text = fmt::format("Mismatched collectives: ranks {} and {} called different ones on {}",
                                   s.finding.ranks[0], s.finding.ranks[1], on);
    const auto made = [&](std::size_t side, std::int32_t root, std::uint32_t place, const Given& given) {
        return fmt::format("{}{}{}{} on rank {}", s.job.calls[s.finding.calls[side]].name,
                           in_brackets(line_text(s.job, place)),
                           root == any_rank ? "" : fmt::format(" with root {}", root),
                           e.given_of_one == e.given_of_other ? "" : " of " + given_text(given), s.finding.ranks[side]);
    };
    if (s.finding.calls.size() == 2) {
        text += fmt::format(": call {} of {} was {} and {}", e.at, std::max(e.one, e.other),
                            made(0, e.root_of_one, e.place_of_one, e.given_of_one),
                            made(1, e.root_of_other, e.place_of_other, e.given_of_other));
        if (e.are_swapped) text += ", and the next two are swapped";
        if (e.since < e.at) text += fmt::format("; they may have diverged at call {} already", e.since);
    }
    if (e.one != e.other)
        text += fmt::format("{} rank {} made {} calls, rank {} made {}", s.finding.calls.size() == 2 ? "; in all" : ":",
                            s.finding.ranks[0], e.one, s.finding.ranks[1], e.other);
    else if (s.finding.calls.size() != 2)
        text += fmt::format(", although {} each", e.one);
    if (s.finding.calls.size() == 1)
        text +=
            fmt::format("; the first one missing on rank {} is call {}, {}{}", s.finding.ranks[e.one < e.other ? 0 : 1],
                        e.at, s.call(), in_brackets(line_text(s.job, e.place_of_one)));
    if (e.communicators > 1) text += fmt::format("; also on {} other communicators", e.communicators - 1);
    text += e.has_ended_well
                ? ". The job finished, but its results may be wrong."
                : fmt::format(". {} does not define what such a program does.", e.is_enqueued ? "NCCL" : "MPI");
    return e.place_of_one != 0 ? text : text + " Lines: mpiprof-report sites.";
}

}  // namespace

const RuleWords rule_words::order{
    .means = "Mismatched collectives: members of a communicator called them in different order or number.",
    .evidence =
        "Each rank keeps a checksum of the collectives it called on each communicator, in order and with their roots "
        "(for NCCL also counts, types and reductions), recorded or not, and keeps some of them with their lines, the "
        "same call numbers on all ranks (for NCCL the last 256). Reported if two ranks kept different calls under "
        "one number, or if all members reached MPI_Finalize with different checksums. Not reported where a member "
        "has no profile, for intercommunicators, and for communicators that are identified by their members alone.",
    .check =
        "The lines in the message; otherwise mpiprof-report comms and sites. A correct program calls the same "
        "collectives in the same order on all members.",
    .says = of<evidence::Order, says>,
};

namespace {
std::string says(const evidence::LeftOvers&, const Spoken& s) {
    const std::vector<LeftOverLine> lines = left_over_lines(s.job);
    const std::size_t shown = std::min(lines.size(), most_items);
    std::string text = "Leaked at MPI_Finalize: ";
    for (std::size_t i = 0; i < shown; ++i) text += (i ? "; " : "") + left_over_text(lines[i], s.job);
    if (shown < lines.size()) text += fmt::format("; {} more: mpiprof-report export -f json", lines.size() - shown);
    return text + ".";
}

}  // namespace

const RuleWords rule_words::left_over{
    .means = "Leaks: requests, communicators or datatypes that were never completed or freed before MPI_Finalize.",
    .evidence =
        "Each request is followed from the call that posted it, each communicator and datatype from the call that "
        "created it. Only objects created by the program's own file or script count, not those of libraries; frees "
        "through PMPI_ names are not seen. Requests are not reported where recording was paused, functions were "
        "excluded, or a completing call failed; nothing is reported where another PMPI tool comes first.",
    .check =
        "The lines in the message. A request that is never completed may mean a message that never arrived; objects "
        "created in a loop and never freed make MPI's memory grow.",
    .says = of<evidence::LeftOvers, says>,
};

namespace {
std::string says(const evidence::Errors& e, const Spoken& s) {
    std::string calls;
    for (std::size_t i = 0; i < s.finding.calls.size(); ++i)
        calls += fmt::format("{}{} {}", i ? ", " : "", s.job.calls[s.finding.calls[i]].name,
                             plural(e.times[i], "time", "times"));
    return fmt::format("MPI calls returned errors on {}: {}. Failed calls are excluded from all other figures.",
                       s.ranks(At::middle), calls);
}

}  // namespace

const RuleWords rule_words::errors{
    .means = "MPI calls returned error codes and the program continued.",
    .evidence = "The return value of each call. Failed calls are excluded from all other figures.",
    .check = "mpiprof-report calls has them per call.",
    .says = of<evidence::Errors, says>,
};

namespace {
std::string says(const evidence::Paused& e, const Spoken&) {
    std::string window;
    for (const auto& setting : e.window)
        window += fmt::format("{}MPIPROF_{}={}", window.empty() ? "" : ", ", setting.name, setting.value);
    return fmt::format(
        "Recording was paused for {} of the run ({}); that time is excluded, and percentages refer to the rest.",
        human_share(e.share), e.window.empty() ? "the program paused it" : window);
}

}  // namespace

const RuleWords rule_words::paused{
    .means = "Recording was paused for part of the run.",
    .evidence = "MPI_Pcontrol by the program, or MPIPROF_BEGIN_TIME and MPIPROF_END_TIME.",
    .check = "mpiprof-report settings; mpiprof-report time shows when. All percentages refer to the rest.",
    .says = of<evidence::Paused, says>,
};

namespace {
std::string says(const evidence::Dropped& e, const Spoken& s) {
    const auto* said = std::ranges::find(drop_words, e.what, &DropWords::key);
    return fmt::format("{} {}{} {}.", human_count(static_cast<double>(e.count)), said->things,
                       said->is_shared && s.job.profiles() > 1 ? " (summed over ranks)" : "", said->text);
}

}  // namespace

const RuleWords rule_words::dropped{
    .means = "Data was dropped or merged because a table was full.",
    .evidence = "The recorder counts what does not fit into its tables.",
    .check = "mpiprof-report check.",
    .says = of<evidence::Dropped, says>,
};

}  // namespace mpiprof::report
