// What the summary says of a job.
#include "report/sections/finding_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/given_words.h"
#include "report/sections/hang_words.h"
#include "report/sections/places.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"
#include "report/symbols/left_over_lines.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_items = 4;  // of a list of ranks

constexpr std::string_view more_of_placement = " More: mpiprof-report placement.";

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
    return e.life == Life::ended ? "killed" : "killed, or still running on another node";
}

// Calls and messages are those of all ranks together. Of what several ranks share each counts its own, so that the sum
// is more than there are.
struct DropWords {
    std::uint64_t Drops::*what;
    std::string_view things, text;
    bool is_shared = false;
};
constexpr DropWords drop_words[] = {
    {&Drops::threads, "calls", "were made by threads that got no ledger: they are counted nowhere"},
    {&Drops::write_errors, "writes", "of profiles failed (disk full, quota?): newer numbers may be missing"},
    {&Drops::cells, "calls", "were not told apart by size, buffer and site (table full); totals are right"},
    {&Drops::backwards, "calls", "were booked without a time: their clock ran backwards"},
    {&Drops::histograms, "calls", "are in no histogram: percentiles leave them out"},
    {&Drops::requests, "completed requests", "could not be told to the call that posted them"},
    {&Drops::unplaced, "calls",
     "could not be placed: whether MPI made them inside another call is not known (code without unwind information)"},
    {&Drops::peers, "messages", "are of peers that were not told apart (4096 are)"},
    {&Drops::sites, "call sites", "were not told apart, or lie in modules that were not", true},
    {&Drops::communicators, "communicators", "were not told apart", true},
    {&Drops::strings, "names", "were cut or left out", true},
};

}  // namespace

std::string FindingWords::operator()(const evidence::Hung& e) const {
    return words_of(e.hang, job, e.is_over) + ". Where all ranks stand: mpiprof-report hang.";
}

std::string FindingWords::operator()(const evidence::Unfinished& e) const {
    std::string text = ranks_text(finding.ranks, most_items, At::begin) + ": " + how_it_ended(e, words);
    if (!finding.calls.empty()) text += ", inside " + call();
    if (e.longest_ns >= 1'000'000'000) text += " for " + human_time(static_cast<double>(e.longest_ns));
    return text + (e.points_to_hang ? ". Who waits for whom: mpiprof-report hang." : ".");
}

std::string FindingWords::operator()(const evidence::Errors& e) const {
    std::string calls;
    for (std::size_t i = 0; i < finding.calls.size(); ++i)
        calls += fmt::format("{}{} {}", i ? ", " : "", job.calls[finding.calls[i]].name,
                             plural(e.times[i], "time", "times"));
    return fmt::format("Calls returned errors on {}: {}. They are in no other figure.",
                       ranks_text(finding.ranks, most_items), calls);
}

std::string FindingWords::operator()(const evidence::Paused& e) const {
    std::string window;
    for (const auto& setting : e.window)
        window += fmt::format("{}MPIPROF_{}={}", window.empty() ? "" : ", ", setting.name, setting.value);
    return fmt::format(
        "Recording was off for {} of the run ({}): what happened then is in no figure, and shares are of the rest.",
        human_share(e.share), e.window.empty() ? "the program paused it" : window);
}

std::string FindingWords::operator()(const evidence::Overlap& e) const {
    if (!e.background_share)
        return fmt::format(
            "{} cores are busy per rank{}: if MPI is called by a background thread beside compute, not all of its time is "
            "lost. mpitrace's text does not tell threads apart.",
            human_number(e.cores_busy), job.knows_all_ranks() ? "" : " that is known");
    const std::string busy =
        e.cores_busy >= 0.05 ? fmt::format(" ({} cores busy per rank)", human_number(e.cores_busy)) : std::string();
    const std::string where = fmt::format("{} of the {} time is on other threads than the main one{}",
                                          human_share(*e.background_share), words.library, busy);
    if (e.beside_share >= 0.1)
        return fmt::format(
            "{}, which was not blocked for at least {} of that. Whether it computed or spun is not known; time outside {} "
            "is not compute time here.",
            where, human_share(e.beside_share), words.library);
    if (e.not_known_share >= 0.1)
        return fmt::format(
            "{}. Whether threads that compute waited for it is not known: no rank is called slow, and time outside {} is "
            "not compute time here.",
            where, words.library);
    return fmt::format("{}{}: the thread that calls {} is taken for the program.", where,
                       e.main_blocked_share > 0
                           ? fmt::format(", which was blocked for {} of the run", human_share(e.main_blocked_share))
                           : std::string(),
                       words.library);
}

std::string how_it_was_found(const evidence::Crowded& e) {
    if (e.pushed_off_per_s == 0) return ", by the kernel's account";
    return fmt::format(": the kernel took it away {} times a second, for {} each",
                       human_count(std::round(e.pushed_off_per_s)), human_time(e.waited_ns));
}

std::string FindingWords::operator()(const evidence::Crowded& e) const {
    const std::string why = e.too_many ? (*this)(*e.too_many)
                            : e.have_own_cores
                                ? std::string("Each has cores of its own, but other programs run on them, too.")
                                : std::string(finding.ranks.size() == 1 ? "It shares cores" : "They share cores") +
                                      " with other ranks or other programs.";
    return fmt::format("{} wanted to run{} and waited for a processor {}{} of the time{}. {}{}",
                       ranks_text(finding.ranks, most_items, At::begin),
                       e.is_outside ? fmt::format(" outside {}", words.library) : "", e.is_at_least ? "at least " : "",
                       human_share(e.waited_share), how_it_was_found(e), why,
                       e.too_many ? " " + advice_of(finding, job) : std::string()) +
           std::string(more_of_placement);
}

std::string FindingWords::operator()(const evidence::Waiting& e) const {
    return fmt::format(
        "{}{}: {} a call, {} when nothing is in its way: ranks wait there for each other, {} of the run.", call(),
        e.mean_bytes ? " of " + human_bytes(*e.mean_bytes) : std::string(), human_time(e.mean_ns),
        human_time(e.undisturbed_ns), human_share(e.run_share));
}

std::string FindingWords::operator()(const evidence::Waits& e) const {
    const std::string text =
        e.is_known ? fmt::format("{} of the time in {} is waiting for ranks that come late, rather than moving data.",
                                 human_share(e.mpi_share), words.library)
                   : fmt::format(
                         "Up to {} of the time in {} is waiting rather than moving data: calls took that much longer "
                         "than the fastest of their size (an estimate).",
                         human_share(e.mpi_share), words.library);
    return fmt::format("{} Most of it is in {}: {} of the run. From where: mpiprof-report sites{}.", text, call(),
                       human_share(e.call_run_share), e.is_known ? "; who came last: mpiprof-report arrivals" : "");
}

std::string FindingWords::operator()(const evidence::Requests& e) const {
    std::string text =
        fmt::format("The wait for requests is {} for {} of {}: {} of the run{}.", e.is_most ? "mostly" : "longest",
                    call(), human_bytes(e.mean_bytes), human_share(e.run_share),
                    e.is_divided ? " (a Waitall's time is divided evenly among its requests)" : "");
    if (e.overlapped)
        text += fmt::format(" {} of their time in flight was overlapped with something else.",
                            *e.overlapped < 0.005 ? "Hardly any" : human_share(*e.overlapped));
    return text;
}

std::string FindingWords::operator()(const evidence::Imbalance& e) const {
    const std::string who = !e.is_all_of_node
                                ? ranks_text(finding.ranks, most_items, At::begin)
                                : fmt::format("All ranks of node {} ({})", host_of(job, finding.nodes.front()),
                                              rank_list(finding.ranks, most_items));
    std::string text = fmt::format(
        "{} {} up to {} longer outside {} than the mean (load balance {}): about {} of the others' time in {} is "
        "waiting for that.",
        who, finding.ranks.size() == 1 ? "is" : "are", human_time(e.longer_ns), words.library,
        human_share(e.load_balance), human_share(e.others_share), words.library);
    if (e.cpu_share && *e.cpu_share < 0.7)
        text += fmt::format(" With a processor for at most {} of that: {} asleep, in files or sockets, or kept off it.",
                            human_share(*e.cpu_share), finding.ranks.size() == 1 ? "it is" : "they are");
    if (e.last && e.last->share >= 0.5)
        text += fmt::format(" {} came last to {} of the {} that were compared: mpiprof-report arrivals.",
                            finding.ranks.size() == 1 ? "It" : "One of them", human_share(e.last->share),
                            job.calls[e.last->call].name);
    return text + " Rank by rank: mpiprof-report ranks; when: mpiprof-report time.";
}

std::string FindingWords::operator()(const evidence::Polling& e) const {
    const std::string who = !finding.ranks.empty()      ? ranks_text(finding.ranks, most_items, At::begin) + " calls"
                            : e.ranks == job.profiles() ? std::string("Each rank calls")
                                                        : fmt::format("{} ranks call", e.ranks);
    return fmt::format(
        "{} {} {} times a second: the program polls. At such rates the calls themselves, and timing them, cost time.",
        who, call(), human_count(std::round(e.calls_per_s / 1000) * 1000));
}

std::string FindingWords::operator()(const evidence::NcclWaiting& e) const {
    const std::string who = e.last_share >= 0.5
                                ? fmt::format("; {} of it for rank {}, which came last to {} of {}.",
                                              human_share(e.last_share), finding.ranks.front(), e.last, e.compared)
                                : ": no rank in particular.";
    return fmt::format(
        "{} of the time of NCCL's collectives on the GPU is waiting for the rank that comes last, {} of the run{} More: "
        "mpiprof-report nccl.",
        human_share(e.collectives_share), human_share(e.run_share), who);
}

std::string FindingWords::operator()(const evidence::NcclExposed& e) const {
    return fmt::format(
        "{} of NCCL's time on the GPU is exposed: no other kernel ran meanwhile. It is {} of the time in which kernels ran.",
        human_share(e.nccl_share), human_share(e.kernels_share));
}

std::string FindingWords::operator()(const evidence::GpuIdle& e) const {
    const std::string most =
        e.gpus == 1 ? std::string()
                    : fmt::format(" (most on rank {}: {})", finding.ranks.front(), human_share(e.largest_share));
    return fmt::format(
        "{} idle {} of the time that CUPTI recorded{}, while their processes are {} of the run inside operations of NCCL and "
        "MPI, which are not why. Loading data is one thing to check. More: mpiprof-report nccl.",
        e.gpus == 1 ? "The GPU is" : "GPUs are", human_share(e.idle_share), most, human_share(e.host_share));
}

std::string FindingWords::operator()(const evidence::GraphReplays& e) const {
    const std::string missing = fmt::format("on {} replays of CUDA graphs that hold operations of NCCL are not seen",
                                            plural(e.ranks_missing, "rank", "ranks"));
    if (e.replayed <= 0) return "NCCL did more than was called: " + missing + ". More: mpiprof-report nccl.";
    return fmt::format(
        "CUDA graphs replayed {} operations of NCCL on each rank (mean), and {} were called: counts, bytes and times of calls "
        "are of the called ones alone.{} More: mpiprof-report nccl.",
        human_count(e.replayed), human_count(e.called),
        e.ranks_missing == 0 ? "" : " There were more: " + missing + ".");
}

std::string FindingWords::operator()(const evidence::Dropped& e) const {
    const auto* said = std::find_if(std::begin(drop_words), std::end(drop_words) - 1,
                                    [&](const DropWords& w) { return w.what == e.what; });
    return fmt::format("{} {}{} {}.", human_count(static_cast<double>(e.count)), said->things,
                       said->is_shared && job.profiles() > 1 ? " (summed over ranks)" : "", said->text);
}

std::string FindingWords::operator()(const evidence::Order& e) const {
    const std::string on =
        !e.communicator.empty() ? e.communicator : fmt::format("a communicator of {}", plural(e.size, "rank", "ranks"));
    std::string text =
        fmt::format("Ranks {} and {} have not made the same collectives on {}", finding.ranks[0], finding.ranks[1], on);
    const auto made = [&](std::size_t side, std::int32_t root, std::uint32_t place, const Given& given) {
        return fmt::format("{}{}{}{} on rank {}", job.calls[finding.calls[side]].name,
                           in_brackets(line_text(job, place)),
                           root == any_rank ? "" : fmt::format(" with root {}", root),
                           e.given_of_one == e.given_of_other ? "" : " of " + given_text(given), finding.ranks[side]);
    };
    if (finding.calls.size() == 2) {
        text += fmt::format(": number {} of {} was {} and {}", e.at, std::max(e.one, e.other),
                            made(0, e.root_of_one, e.place_of_one, e.given_of_one),
                            made(1, e.root_of_other, e.place_of_other, e.given_of_other));
        if (e.are_swapped) text += ", and the next the other way round";
        if (e.since < e.at) text += fmt::format("; they may have parted from number {} on", e.since);
    }
    if (e.one != e.other)
        text += fmt::format("{} rank {} made {}, rank {} made {}", finding.calls.size() == 2 ? "; in all" : ":",
                            finding.ranks[0], e.one, finding.ranks[1], e.other);
    else if (finding.calls.size() != 2)
        text += fmt::format(", although {} each", e.one);
    if (finding.calls.size() == 1)
        text += fmt::format("; the first that rank {} lacks is number {}, {}{}", finding.ranks[e.one < e.other ? 0 : 1],
                            e.at, call(), in_brackets(line_text(job, e.place_of_one)));
    if (e.communicators > 1) text += fmt::format("; {} communicators more", e.communicators - 1);
    text += e.has_ended_well
                ? ". That the job ended is luck: what they received may be another call's."
                : fmt::format(". {} does not say what such a program does.", e.is_enqueued ? "NCCL" : "MPI");
    return e.place_of_one != 0 ? text : text + " Lines: mpiprof-report sites.";
}

namespace {

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

}  // namespace

std::string FindingWords::operator()(const evidence::LeftOvers&) const {
    const std::vector<LeftOverLine> lines = left_over_lines(job);
    const std::size_t shown = std::min(lines.size(), most_items);
    std::string text = "Left over at MPI_Finalize: ";
    for (std::size_t i = 0; i < shown; ++i) text += (i ? "; " : "") + left_over_text(lines[i], job);
    if (shown < lines.size()) text += fmt::format("; {} more: mpiprof-report export -f json", lines.size() - shown);
    return text + ".";
}

std::string words_of(const Finding& finding, const Job& job) {
    std::string text = std::visit(FindingWords{finding, job, vocabulary_of(job)}, finding.evidence);
    if (finding.rule != Rule::placement) return text;
    if (const std::string advice = advice_of(finding, job); !advice.empty()) text += " " + advice;
    return text.append(more_of_placement);
}

Table remark_table(std::string title, Remarks remarks) {
    return {.id = "findings",
            .title = std::move(title),
            .columns = {},
            .rows = {},
            .notes = {},
            .picture = std::move(remarks)};
}

}  // namespace mpiprof::report
