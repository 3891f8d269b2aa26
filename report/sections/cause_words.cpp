// Causes in words: the figures that each rests on, and how to check it. The sentence that a report begins with is in
// verdict_words.cpp.
#include <fmt/format.h>

#include <cmath>

#include "report/model/units.h"
#include "report/sections/finding_words.h"
#include "report/sections/section.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

std::string FindingWords::operator()(const evidence::Varying& e) const {
    const std::string_view estimate = e.is_known ? "" : " (an estimate)";
    const std::string_view who = !e.turns.empty()
                                     ? ": one rank is late for a while, then another; mpiprof-report time shows when"
                                 : e.is_said_for_whom ? ""
                                                      : ": each time another rank is late";
    std::string text =
        e.slow_share > 0
            ? fmt::format("{} of the time in {} is waiting, {} of the run beyond what slow ranks explain{}{}.",
                          human_share(e.mpi_share), words.library, human_share(e.run_share), estimate, who)
            : fmt::format(
                  "The ranks are even over the run (load balance {}), and still {} of their time in {} is "
                  "waiting, {} of the run{}{}.",
                  human_share(e.load_balance), human_share(e.mpi_share), words.library, human_share(e.run_share),
                  estimate, who);
    if (e.processor_share && e.is_processor_outside)
        text += fmt::format(" The ranks waited for a processor {} of the run outside {}: that may be why.",
                            human_share(*e.processor_share), words.library);
    else if (e.processor_share)
        text += fmt::format(
            " By the kernel's account the ranks waited for a processor {} of the run, inside {} or outside: no loss where "
            "ranks yield while they wait for each other, else that may be why.",
            human_share(*e.processor_share), words.library);
    if (e.pushed_off_per_s)
        text += fmt::format(
            " Each rank lost its processor, or yielded it, {} times a second: that may be why; how long it waited for one is not "
            "known.",
            human_count(std::round(*e.pushed_off_per_s)));
    if (e.last)
        text +=
            fmt::format(" Most often last, to {} of the {} that were compared, is rank {}: mpiprof-report arrivals.",
                        human_share(e.last->share), job.calls[e.last->call].name, e.last_rank);
    return text + " Where: mpiprof-report sites.";
}

std::string FindingWords::operator()(const evidence::SerialChain& e) const {
    return fmt::format(
        "On average {:.2f} of {} ranks are outside {} at the same time; what the others do inside takes far longer than their "
        "messages could: at least {} of the run is waiting. Who hands on to whom: mpiprof-report peers.",
        e.at_work, job.ranks.size(), words.library, human_share(e.run_share));
}

std::string FindingWords::operator()(const evidence::OneServesAll& e) const {
    return fmt::format(
        "{} of all messages go to or from rank {}, which is outside {} {} of its run, working for one after the other. Who "
        "talks to whom: mpiprof-report peers.",
        human_share(e.messages_share), finding.ranks.front(), words.library, human_share(e.busy_share));
}

std::string FindingWords::operator()(const evidence::SmallMessages& e) const {
    return fmt::format(
        "Each rank makes {} calls a second of {} on average, mostly {}: {} each, {} of the run. At such rates a call costs more "
        "than what it carries, and the profiler's part is not small either. From where: mpiprof-report sites.",
        human_count(std::round(e.calls_per_s / 100) * 100), human_bytes(e.mean_bytes), call(), human_time(e.mean_ns),
        human_share(e.run_share));
}

std::string FindingWords::operator()(const evidence::CheapCalls& e) const {
    return fmt::format(
        "{} is called {} times a second by {}: at about 5 ns a call, {} of the run, and counting it costs as much again. Ask "
        "once and keep the answer.",
        call(), human_count(std::round(e.calls_per_s / 1000) * 1000), plural(e.ranks, "rank", "ranks"),
        human_share(e.run_share));
}

std::string FindingWords::operator()(const evidence::UnequalComms& e) const {
    std::string differ;
    const auto add = [&](std::string text) { differ += (differ.empty() ? "" : "; ") + std::move(text); };
    if (e.most_size != e.least_size) add(fmt::format("{} to {} ranks", e.least_size, e.most_size));
    if (e.most_calls > e.least_calls)
        add(fmt::format("{} to {} calls by each member", human_count(std::round(e.least_calls)),
                        human_count(std::round(e.most_calls))));
    if (e.most_bytes > e.least_bytes)
        add(fmt::format("{} to {} by each member", human_bytes(e.least_bytes), human_bytes(e.most_bytes)));
    return fmt::format("The communicators made by {} are unequal: {}. Which: mpiprof-report comms.", e.made_by, differ);
}

std::string FindingWords::operator()(const evidence::Init& e) const {
    std::string text = fmt::format("{} takes up to {}, {} of the process.", words.init,
                                   human_time(static_cast<double>(e.longest_ns)), human_share(e.process_share));
    if (e.waited_ns)
        text += fmt::format(" {} of it is waiting for {}, which entered it last.",
                            human_time(static_cast<double>(e.waited_ns)), ranks_text(finding.ranks, 4));
    return text + " Each rank's: mpiprof-report export -f csv.";
}

std::string cost_text(const evidence::Setup& e) {
    constexpr double all_but_rounding = 0.99;
    const std::string text =
        fmt::format("{} each{}: {} of the run", human_time(e.mean_ns),
                    e.have_waited ? " without waiting for late ranks" : "", human_share(e.call_run_share));
    if (e.call_run_share >= all_but_rounding * e.run_share) return text;
    return fmt::format("{}, and {} with all other calls that set up or free", text, human_share(e.run_share));
}

std::string FindingWords::operator()(const evidence::Setup& e) const {
    return fmt::format(
        "What can be made once is made again and again: {} {} times by each rank, {}. Keep what they make. From where: "
        "mpiprof-report sites.",
        call(), human_count(std::round(e.calls)), cost_text(e));
}

std::string FindingWords::operator()(const evidence::FileIo& e) const {
    return fmt::format("MPI-IO is {} of the run, mostly {}: {} by each rank while it is in there.",
                       human_share(e.run_share), call(), human_rate(e.bytes_per_s));
}

std::string FindingWords::operator()(const evidence::Transfers& e) const {
    std::string text = fmt::format("{}{} of the run is inside {}, mostly in {}", at_least(job),
                                   human_share(e.run_share), words.library, call());
    if (e.mean_bytes >= 1)
        text += fmt::format(" of {}, {} by each rank", human_bytes(e.mean_bytes), human_rate(e.bytes_per_s));
    return text + ". No rule names a cause.";
}

std::string FindingWords::operator()(const evidence::Healthy& e) const {
    if (e.too_short_ns != 0) return fmt::format("The run took {}.", human_time(static_cast<double>(e.too_short_ns)));
    return fmt::format("{}{} of the run is inside {}, and no rule found anything.", at_least(job),
                       human_share(e.mpi_share), words.library);
}

std::string FindingWords::operator()(const evidence::WrongLauncher& e) const {
    return fmt::format(
        "Each of {} processes was the only rank of its own job: {} started them, the program is linked with {}. {}",
        e.launches, e.launcher, e.family.empty() ? "another MPI" : e.family, advice_of(finding, job));
}

}  // namespace mpiprof::report
