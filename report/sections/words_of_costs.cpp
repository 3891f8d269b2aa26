// Calls that cost time by themselves, and what is said where there is no cause.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;
namespace {

std::string time(std::uint64_t ns) { return human_time(static_cast<double>(ns)); }

std::string callers(std::uint32_t ranks, const Spoken& s) {
    if (!s.finding.ranks.empty()) return s.who();
    return ranks == s.job.profiles() ? "Each rank" : fmt::format("Each of {} ranks", ranks);
}

}  // namespace

namespace {
std::string says(const evidence::Polling& e, const Spoken& s) {
    const std::string who = !s.finding.ranks.empty()      ? s.ranks() + " calls"
                            : e.ranks == s.job.profiles() ? std::string("Each rank calls")
                                                          : fmt::format("{} ranks call", e.ranks);
    return fmt::format(
        "{} {} {} times per second: busy polling. At this rate the calls, and profiling them, cost time.", who,
        s.call(), human_count(std::round(e.calls_per_s / 1000) * 1000));
}

std::string begins(const evidence::Polling& e, const Spoken& s) {
    return fmt::format("{} busy-polls with {} ({} calls per second, {} of the run).", callers(e.ranks, s), s.call(),
                       human_count(std::round(e.calls_per_s / 1000) * 1000), human_share(e.run_share));
}

}  // namespace

const RuleWords rule_words::polling{
    .means = "Busy polling with MPI_Test or MPI_Probe.",
    .evidence = "Each rank that polls makes at least 50,000 such calls per second, each shorter than 5 us.",
    .check = "mpiprof-report sites --by line. Use MPI_Wait, or compute longer between two polls.",
    .says = of<evidence::Polling, says>,
    .begins = of<evidence::Polling, begins>,
};

namespace {
std::string says(const evidence::SmallMessages& e, const Spoken& s) {
    return fmt::format(
        "Each rank makes {} calls per second averaging {}, mostly {}: {} each, {} of the run. Per-call overhead "
        "dominates, including that of mpiprof. Call sites: mpiprof-report sites.",
        human_count(std::round(e.calls_per_s / 100) * 100), human_bytes(e.mean_bytes), s.call(), human_time(e.mean_ns),
        human_share(e.run_share));
}

std::string begins(const evidence::SmallMessages& e, const Spoken& s) {
    return fmt::format("Latency-bound: each rank makes {} calls averaging {}, mostly {}; they take {} of the run.",
                       human_count(e.calls_of_rank), human_bytes(e.mean_bytes), s.call(), human_share(e.run_share));
}

}  // namespace

const RuleWords rule_words::small_messages{
    .means = "Latency-bound: the time goes into many tiny messages.",
    .evidence =
        "At least 5,000 calls per second and rank of at most 1 KiB and less than 100 us; together 10 % of the run, "
        "where each call counts as long as the median of its kind, so that a few long waits for a late rank do not "
        "count.",
    .check = "mpiprof-report sites. Aggregate messages, or merge collectives.",
    .says = of<evidence::SmallMessages, says>,
    .begins = of<evidence::SmallMessages, begins>,
};

namespace {
std::string says(const evidence::CheapCalls& e, const Spoken& s) {
    return fmt::format(
        "{} is called {} times per second by {}: {} of the run at about 5 ns per call, and counting it costs as much "
        "again. Call it once and cache the result.",
        s.call(), human_count(std::round(e.calls_per_s / 1000) * 1000), plural(e.ranks, "rank", "ranks"),
        human_share(e.run_share));
}

std::string begins(const evidence::CheapCalls& e, const Spoken& s) {
    return fmt::format("{} calls {} {} times per second: about {} of its run (an estimate).", callers(e.ranks, s),
                       s.call(), human_count(e.calls_per_s), human_share(e.run_share));
}

}  // namespace

const RuleWords rule_words::cheap_calls{
    .means = "A cheap query is called so often that it costs time.",
    .evidence = "Calls that are counted but not timed, at 5 ns each: at least 5 % of a rank's run. An estimate.",
    .check = "mpiprof-report calls has the counts, perf record the line. Call it once and cache the result.",
    .says = of<evidence::CheapCalls, says>,
    .begins = of<evidence::CheapCalls, begins>,
};

namespace {
std::string says(const evidence::UnequalComms& e, const Spoken&) {
    std::string differ;
    const auto add = [&](std::string text) { differ += (differ.empty() ? "" : "; ") + std::move(text); };
    if (e.most_size != e.least_size) add(fmt::format("{} to {} ranks", e.least_size, e.most_size));
    if (e.most_calls > e.least_calls)
        add(fmt::format("{} to {} calls per member", human_count(std::round(e.least_calls)),
                        human_count(std::round(e.most_calls))));
    if (e.most_bytes > e.least_bytes)
        add(fmt::format("{} to {} per member", human_bytes(e.least_bytes), human_bytes(e.most_bytes)));
    return fmt::format("{} created communicators of unequal size or load: {}. List: mpiprof-report comms.", e.made_by,
                       differ);
}

}  // namespace

const RuleWords rule_words::unequal_comms{
    .means = "Communicators created by the same call differ in size or load.",
    .evidence =
        "Among the communicators that one function created from one parent, the largest has at least 1.5x the ranks "
        "of the smallest, or its members 1.5x the calls or bytes.",
    .check = "mpiprof-report comms --format csv.",
    .says = of<evidence::UnequalComms, says>,
};

namespace {
std::string says(const evidence::Init& e, const Spoken& s) {
    std::string text = fmt::format("{} takes up to {}, {} of the process.", s.words.init,
                                   human_time(static_cast<double>(e.longest_ns)), human_share(e.process_share));
    if (e.waited_ns)
        text += fmt::format(" {} of it is waiting for {}, which entered it last.",
                            human_time(static_cast<double>(e.waited_ns)), ranks_text(s.finding.ranks, 4));
    return text + " Per rank: mpiprof-report export -f csv.";
}

std::string begins(const evidence::Init& e, const Spoken& s) {
    const std::string text =
        fmt::format("{} takes {}, {} of the process", s.words.init, time(e.longest_ns), human_share(e.process_share));
    if (e.waited_ns == 0) return text + ".";
    return fmt::format("{}: {} entered it {} after the first rank.", text, s.who(At::middle), time(e.waited_ns));
}

}  // namespace

const RuleWords rule_words::init{
    .means = "MPI_Init takes much of the run.",
    .evidence =
        "The longest MPI_Init takes at least a second and a tenth of the process. If it is much shorter on another "
        "rank, that rank entered it last.",
    .check =
        "If a rank is late: what does it do before MPI_Init? Otherwise MPI startup itself: the network, or the file "
        "system that holds its libraries.",
    .says = of<evidence::Init, says>,
    .begins = of<evidence::Init, begins>,
};

namespace {
std::string says(const evidence::Finalize& e, const Spoken& s) {
    return fmt::format(
        "{} takes up to {}: {} of it is waiting for {}, which {} last. Per rank: mpiprof-report export -f csv.",
        s.words.finalize, human_time(static_cast<double>(e.longest_ns)), time(e.waited_ns), s.ranks(At::middle),
        s.verb("enters it", "enter it"));
}

std::string begins(const evidence::Finalize& e, const Spoken& s) {
    return fmt::format("{} {} {} {} after the first rank, which waits there: {} of the process.", s.who(),
                       s.verb("reaches", "reach"), s.words.finalize, time(e.waited_ns), human_share(e.process_share));
}
}  // namespace

const RuleWords rule_words::finalize{
    .means = "Ranks wait in MPI_Finalize for the last rank.",
    .evidence =
        "Time in MPI_Finalize, which no rank leaves before all have entered it: the longest is at least half a "
        "second longer than the shortest and twice as long, and the wait time of all ranks is at least 5 % of their processes. Not "
        "reported where a rank did not leave it.",
    .check =
        "mpiprof-report ranks; mpiprof-report time. What does the last rank do after its last communication (writing "
        "results, for example)? Distribute it over the ranks.",
    .says = of<evidence::Finalize, says>,
    .begins = of<evidence::Finalize, begins>,
};

namespace {
std::string says(const evidence::FileIo& e, const Spoken& s) {
    return fmt::format("MPI-IO is {} of the run, mostly {}: {} per rank during MPI-IO.", human_share(e.run_share),
                       s.call(), human_rate(e.bytes_per_s));
}

std::string begins(const evidence::FileIo& e, const Spoken& s) {
    return fmt::format("MPI-IO takes {} of the run, mostly {}{}; in all of it {} per rank.", human_share(e.run_share),
                       s.call(), e.mean_bytes >= 1 ? " of " + human_bytes(e.mean_bytes) : "",
                       human_rate(e.bytes_per_s));
}

// What is done by all ranks together is collective I/O already; and a call that moves nothing cannot be larger.
std::string next(const evidence::FileIo& e, const Spoken& s) {
    const std::string call = s.call();
    if (e.mean_bytes < 1)
        return fmt::format(
            "mpiprof-report calls --sort total_bytes. Call {} less often; larger accesses, collective I/O and the striping "
            "of the file system help the rest.",
            call);
    if (s.job.calls[s.finding.calls.front()].is_ordered)
        return "mpiprof-report calls --sort total_bytes. Fewer and larger accesses, and the striping of the file system, "
               "help.";
    return "";
}

}  // namespace

const RuleWords rule_words::file_io{
    .means = "MPI-IO takes much of the run.",
    .evidence =
        "Time in MPI_File calls: at least 10 % of the run. Files that are read or written without MPI are not seen.",
    .check =
        "mpiprof-report calls --sort total_bytes. Fewer and larger accesses, collective I/O, and the striping of the file "
        "system help.",
    .says = of<evidence::FileIo, says>,
    .begins = of<evidence::FileIo, begins>,
    .next = of<evidence::FileIo, next>,
};

namespace {
std::string says(const evidence::MovingData& e, const Spoken& s) {
    return fmt::format("At least {} of the run is moving data, mostly in {} of {}: {} per rank.",
                       human_share(e.run_share), s.call(), human_bytes(e.mean_bytes), human_rate(e.bytes_per_s));
}

std::string begins(const evidence::MovingData& e, const Spoken& s) {
    return fmt::format("Communication-bound: at least {} of the run is moving data, mostly in {} of {}.",
                       human_share(e.run_share), s.call(), human_bytes(e.mean_bytes));
}

}  // namespace

const RuleWords rule_words::moving_data{
    .means = "Moving data takes much of the run.",
    .evidence =
        "Time in calls of 4 KiB and more beyond what ranks waited there for each other, where that is known: at least 25 % of "
        "the run. "
        "Not reported where the first sentence is about it.",
    .check =
        "mpiprof-report calls; mpiprof-report peers. Fewer or smaller transfers, communication overlapped with "
        "computation, and more of it inside nodes help.",
    .says = of<evidence::MovingData, says>,
    .begins = of<evidence::MovingData, begins>,
};

namespace {
std::string says(const evidence::OffCpu& e, const Spoken& s) {
    return fmt::format(
        "Outside {}, ranks are off the CPU for {} of the run: sleep, file I/O, locks, or a GPU that they wait for. By "
        "rank: mpiprof-report budget --by rank.",
        s.words.library, human_share(e.run_share));
}

}  // namespace

const RuleWords rule_words::off_cpu{
    .means = "Ranks are off the CPU outside MPI.",
    .evidence =
        "Time outside MPI in which the rank neither ran nor waited for a CPU, known from random stretches of the run: "
        "at least 10 % of it. Not reported beside a slow rank that is off the CPU.",
    .check =
        "mpiprof-report budget --by rank; mpiprof-report time. On the node: strace -c -p PID, or the file system's own "
        "statistics.",
    .says = of<evidence::OffCpu, says>,
};

namespace {
std::string says(const evidence::Transfers& e, const Spoken& s) {
    std::string text = fmt::format("{}{} of the run is inside {}, mostly in {}", at_least(s.job),
                                   human_share(e.run_share), s.words.library, s.call());
    if (e.mean_bytes >= 1)
        text += fmt::format(" of {}, {} per rank", human_bytes(e.mean_bytes), human_rate(e.bytes_per_s));
    return text + ". No specific cause was identified.";
}

std::string begins(const evidence::Transfers& e, const Spoken& s) {
    const bool are_compared = s.job.ranks.size() > 1 && s.job.knows_all_ranks();
    constexpr double bound = 0.25;
    std::string text = fmt::format(
        "{}: {}{} of the run is in MPI, mostly in {}{}{}",
        e.run_share >= bound ? "Communication-bound" : "Communication", at_least(s.job), human_share(e.run_share),
        s.call(), s.job.ranks.size() > 1 && e.mean_bytes >= 1 ? " of " + human_bytes(e.mean_bytes) : "",
        are_compared ? ", and the ranks are balanced" : "");
    if (e.waiting_share)
        text += fmt::format("; {}{} of that is wait time", e.is_waiting_known ? "" : "at most ",
                            human_share(*e.waiting_share));
    return text + ".";
}

}  // namespace

const RuleWords rule_words::transfers{
    .means = "Communication-bound, without a specific cause.",
    .evidence = "At least 10 % of the run is in MPI, no rank is slow or late, and the messages are not tiny.",
    .check = "mpiprof-report calls, peers, sites: which calls, which sizes, between which ranks.",
    .says = of<evidence::Transfers, says>,
    .begins = of<evidence::Transfers, begins>,
};

namespace {
std::string says(const evidence::Healthy& e, const Spoken& s) {
    if (e.too_short_ns != 0) return fmt::format("The run took {}.", human_time(static_cast<double>(e.too_short_ns)));
    return fmt::format("{}{} of the run is inside {}, and no problem was found.", at_least(s.job),
                       human_share(e.mpi_share), s.words.library);
}

std::string begins(const evidence::Healthy& e, const Spoken& s) {
    if (e.is_length_unknown) return "The run time is not known: the text lacks its totals.";
    if (e.too_short_ns != 0)
        return fmt::format("Run too short to analyse: {} from {} to {}.", time(e.too_short_ns), s.words.init,
                           s.words.finalize);
    constexpr double worth_a_word = 0.1, balanced = 0.9;
    const std::string nothing = e.is_gpu_unseen || e.is_something_else || s.job.communicates_unseen()
                                    ? "No bottleneck was found"
                                : e.blocked_share >= worth_a_word ? fmt::format("No bottleneck in {}", s.words.library)
                                                                  : std::string("No bottleneck");
    std::string text = fmt::format("{}: {}{} of the run is inside {}", nothing, at_least(s.job),
                                   human_share(e.mpi_share), s.words.library);
    if (e.off_main_share >= worth_a_word)
        text += fmt::format(", {} of that on threads other than the main thread", human_share(e.off_main_share));
    if (e.setup_share >= 0.05)
        text += fmt::format(", {} to create and destroy communicators", human_share(e.setup_share));
    if (e.load_balance)
        text += fmt::format(
            ", and {} (load balance {})",
            *e.load_balance >= balanced ? "the ranks are balanced" : "what ranks wait for each other costs little",
            human_share(*e.load_balance));
    if (e.blocked_share >= worth_a_word)
        text += fmt::format("; outside it, ranks are blocked for {} of the run (file I/O, sleep, GPU)",
                            human_share(e.blocked_share));
    if (e.is_gpu_unseen) text += "; NCCL's time on the GPU was not recorded";
    return text + ".";
}

}  // namespace

const RuleWords rule_words::healthy{
    .means = "No bottleneck was found.",
    .evidence =
        "No cause costs 5 % of the run, and less than 10 % of it is inside MPI. Runs shorter than 20 ms are not "
        "judged: in them, system noise looks like a slow rank.",
    .check = "For time outside MPI use another profiler, such as perf record.",
    .says = of<evidence::Healthy, says>,
    .begins = of<evidence::Healthy, begins>,
};

namespace {
std::string next(const evidence::Healthy&, const Spoken& s) {
    if (s.job.communicates_unseen()) return "";
    return "To record GPU times, run some steps with MPIPROF_CUPTI=on. mpiprof-report nccl has what is known without them.";
}
}  // namespace

const RuleWords rule_words::unseen{
    .means = "No bottleneck was found, but most of the communication may be invisible.",
    .evidence =
        "As for healthy, but NCCL's time on the GPUs was not recorded, or a library moves data between GPUs without "
        "calls that a profiler can see.",
    .check = "mpiprof-report nccl says why GPU times are missing. A library that moves data unseen is named in a note.",
    .says = of<evidence::Healthy, says>,
    .begins = of<evidence::Healthy, begins>,
    .next = of<evidence::Healthy, next>,
};

}  // namespace mpiprof::report
