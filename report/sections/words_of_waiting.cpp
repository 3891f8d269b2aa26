// Waiting as such: in which calls, on which threads, on the GPU.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;

namespace {
// Nothing is more than all of it.
std::string at_least_share(double share) { return share >= 0.9995 ? "all" : "at least " + human_share(share); }

std::string who_is_last(const evidence::Overlap& e, const Spoken& s) {
    if (!e.last_rank) return "";
    return fmt::format(" Rank {} arrived last in {} of the sampled {} calls: mpiprof-report arrivals.", *e.last_rank,
                       human_share(e.last.share), s.job.calls[e.last.call].name);
}

std::string says(const evidence::Overlap& e, const Spoken& s) {
    if (!e.background_share)
        return fmt::format(
            "{} cores are busy per rank{}: if a background thread calls MPI during computation, part of its time may "
            "be overlapped. mpitrace's text does not distinguish threads.",
            human_number(e.cores_busy), s.job.knows_all_ranks() ? "" : " that is known");
    const std::string busy =
        e.cores_busy >= 0.05 ? fmt::format(" ({} cores busy per rank)", human_number(e.cores_busy)) : std::string();
    const std::string where = fmt::format("{} of the {} time is on threads other than the main thread{}",
                                          human_share(*e.background_share), s.words.library, busy);
    if (e.beside_share >= 0.1)
        return fmt::format(
            "{}, which was not blocked for {} of that. Whether it computed or spun is not known; time "
            "outside {} is not compute time here.{}",
            where, at_least_share(e.beside_share), s.words.library, who_is_last(e, s));
    if (e.not_known_share >= 0.1)
        return fmt::format(
            "{}. Whether compute threads waited for it is not known: no rank is reported as slow, and time outside "
            "{} is not compute time here.",
            where, s.words.library);
    return fmt::format("{}{}: the thread that calls {} is treated as the program.", where,
                       e.main_blocked_share > 0
                           ? fmt::format(", which was blocked for {} of the run", human_share(e.main_blocked_share))
                           : std::string(),
                       s.words.library);
}

std::string begins(const evidence::Overlap& e, const Spoken& s) {
    if (!e.background_share || e.beside_share < 0.5) return words_of(s.finding, s.job);
    return fmt::format(
        "A background thread is in {} for {} of the run; during {} of that time the main thread was not blocked.{}",
        s.words.library, human_share(s.finding.run_share), at_least_share(e.beside_share), who_is_last(e, s));
}

}  // namespace

const RuleWords rule_words::overlap{
    .means =
        "MPI is called by threads other than the main thread: the cost depends on which threads were blocked "
        "meanwhile.",
    .evidence =
        "At least a tenth of the time in MPI is on threads other than the main thread. Scheduler statistics show how "
        "long the main thread ran or was runnable, and thus how long it must have been so while other threads were "
        "in MPI: from half of the MPI time on this is the verdict, and no rank is reported as slow. Where one other "
        "thread makes nearly all calls, and on average at most one thread was runnable, that thread is treated as "
        "the program and all verdicts apply. Otherwise the overlap is unknown and nothing is concluded.",
    .check =
        "mpiprof-report calls --format csv has the time of other threads, mpiprof-report budget the compute time. A "
        "main thread that spins (as OpenMP may) does not count as blocked.",
    .says = of<evidence::Overlap, says>,
    .begins = of<evidence::Overlap, begins>,
};

namespace {
std::string says(const evidence::Waiting& e, const Spoken& s) {
    return fmt::format(
        "{}{} averages {} per call, but {} undisturbed (5th percentile): ranks wait there for each other for {} of "
        "the run.",
        s.call(), e.mean_bytes ? " of " + human_bytes(*e.mean_bytes) : std::string(), human_time(e.mean_ns),
        human_time(e.undisturbed_ns), human_share(e.run_share));
}

}  // namespace

const RuleWords rule_words::waiting{
    .means = "Small collectives are far slower than undisturbed.",
    .evidence =
        "The mean call of at most 1 KiB takes at least five times the 5th percentile, and the difference is at least "
        "5 % of the run.",
    .check =
        "mpiprof-report calls, sites. This is where ranks wait, not which rank is late: for that see the verdict "
        "above it.",
    .says = of<evidence::Waiting, says>,
};

namespace {
std::string says(const evidence::Waits& e, const Spoken& s) {
    const std::string text =
        e.is_known
            ? fmt::format("{} of the time in {} is spent waiting for late ranks, not transferring data.",
                          human_share(e.mpi_share), s.words.library)
            : fmt::format(
                  "Up to {} of the time in {} is spent waiting, not transferring data (estimated from the fastest "
                  "call of each size).",
                  human_share(e.mpi_share), s.words.library);
    return fmt::format("{} Mostly in {} ({} of the run). Call sites: mpiprof-report sites{}.", text, s.call(),
                       human_share(e.call_run_share), e.is_known ? "; late arrivals: mpiprof-report arrivals" : "");
}

}  // namespace

const RuleWords rule_words::waits{
    .means = "Much of the time in MPI is spent waiting, not transferring data.",
    .evidence =
        "Time above the fastest call of the same function, size and number of ranks: an upper bound, unless the "
        "fastest call waited too.",
    .check = "mpiprof-report calls, column WAITING.",
    .says = of<evidence::Waits, says>,
};

namespace {
std::string says(const evidence::Requests& e, const Spoken& s) {
    std::string text =
        fmt::format("Waiting for requests is {} for {} ({}): {} of the run{}.", e.is_most ? "mostly" : "longest",
                    s.call(), human_bytes(e.mean_bytes), human_share(e.run_share),
                    e.is_divided ? " (the time of MPI_Waitall is split evenly among its requests)" : "");
    if (e.overlapped)
        text += fmt::format(" {} of their time in flight was overlapped.",
                            *e.overlapped < 0.005 ? "Almost none" : human_share(*e.overlapped));
    return text;
}

}  // namespace

const RuleWords rule_words::requests{
    .means = "Most of the time in which ranks wait for requests is due to those of one call.",
    .evidence =
        "Each request is followed from the call that posted it to the one that completed it. The time of a call that "
        "completes several (MPI_Waitall) is split evenly among them: which one completed last is not recorded.",
    .check =
        "mpiprof-report calls --width 140, column WAIT TIME, which 80 columns have no room for (--format csv: "
        "waited_ns). Post the request earlier, or compute between posting and waiting.",
    .says = of<evidence::Requests, says>,
};

namespace {
std::string says(const evidence::NcclWaiting& e, const Spoken& s) {
    const std::string who = e.last_share >= 0.5
                                ? fmt::format("; {} of it for rank {}, which was last in {} of {} collectives.",
                                              human_share(e.last_share), s.finding.ranks.front(), e.last, e.compared)
                                : ": no rank in particular.";
    return fmt::format(
        "{} of the GPU time of NCCL collectives is spent waiting for the last rank, {} of the run{} Details: "
        "mpiprof-report nccl.",
        human_share(e.collectives_share), human_share(e.run_share), who);
}

}  // namespace

const RuleWords rule_words::nccl_waiting{
    .means = "NCCL collectives wait on the GPU for the last rank.",
    .evidence = "GPU times of the same collective on all ranks: the rank that arrives last has the shortest.",
    .check = "mpiprof-report nccl.",
    .says = of<evidence::NcclWaiting, says>,
};

}  // namespace mpiprof::report
