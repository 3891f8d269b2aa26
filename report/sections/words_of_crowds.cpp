// Ranks that were runnable without a CPU, and who else was on their cores.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <cmath>

#include "report/model/units.h"

namespace mpiprof::report {

using rule_words::of;
namespace {

std::string cores(std::uint64_t n) { return plural(n, "core", "cores"); }
std::string cores(const NumberList& cpus) { return fmt::format("{} ({})", cores(cpus.count()), cpus.text()); }

// What stands behind the share of time that ranks waited for a processor: how it is known.
std::string how_it_was_found(const evidence::Crowded& e) {
    if (e.pushed_off_per_s == 0) return " (scheduler statistics)";
    return fmt::format(" ({} preemptions per second of {} each)", human_count(std::round(e.pushed_off_per_s)),
                       human_time(e.waited_ns));
}

// "0.96 of its 2 cores (48 %)"
std::string used_by_others(const evidence::ForeignLoad& e, const Spoken& s) {
    return fmt::format("{:.2f} of {} {} ({})", e.by_others, s.verb("its", "their"), cores(e.cores),
                       human_share(e.share()));
}

// The same ranks, as the rule of the placement has it.
Finding too_many(const evidence::Crowded& e, const Spoken& s) {
    Finding finding = s.finding;
    finding.rule = Rule::too_many;
    finding.evidence = *e.too_many;
    return finding;
}

// Whose fault it is, as far as it is known.
std::string why(const evidence::Crowded& e, const Spoken& s) {
    const std::string own = std::string("No other rank shares ") + s.verb("its", "their") + " cores";
    std::string text = e.foreign && e.foreign->share() >= evidence::ForeignLoad::enough
                           ? fmt::format("Other processes used {}.", used_by_others(*e.foreign, s))
                           : "";
    if (e.too_many) return (text.empty() ? text : text + " ") + words_of(too_many(e, s), s.job);
    if (!text.empty()) return text;
    if (e.own_threads && e.have_own_cores)
        return fmt::format("{}; OMP_NUM_THREADS asks for {} threads on {}.", own, e.own_threads->threads,
                           cores(e.own_threads->cpus));
    if (e.have_own_cores && e.foreign)
        return fmt::format(
            "{}, and other processes computed for only {}: {} own threads may take turns, or system work.", own,
            human_share(e.foreign->share()), s.verb("its", "their"));
    if (e.have_own_cores) return own + ", but other processes run on them.";
    return std::string(s.verb("It shares its cores", "They share their cores")) + " with other ranks" +
           (e.foreign ? "." : " or other processes.");
}

std::string says(const evidence::Crowded& e, const Spoken& s) {
    return fmt::format("{} {} runnable without a CPU{} for {}{} of the time{}. {}{}", s.ranks(), s.verb("was", "were"),
                       e.is_outside ? fmt::format(" outside {}", s.words.library) : "",
                       e.is_at_least ? "at least " : "", human_share(e.waited_share), how_it_was_found(e), why(e, s),
                       e.too_many ? " " + advice_of(s.finding, s.job) : std::string()) +
           " Details: mpiprof-report placement.";
}

std::string begins(const evidence::Crowded& e, const Spoken& s) {
    return fmt::format("CPU contention: {} {} runnable without a CPU for {}{} of the run{}{}.", s.who(At::middle),
                       s.verb("was", "were"), e.is_at_least ? "at least " : "", human_share(e.waited_share),
                       e.is_outside ? fmt::format(", outside {}", s.words.library)
                                    : fmt::format(", inside {} and outside", s.words.library),
                       how_it_was_found(e));
}

std::string next(const evidence::Crowded& e, const Spoken&) {
    if (e.too_many || !e.have_own_cores) return "";
    if (e.own_threads)
        return "Start no more threads than a rank has cores, or give it more cores: mpiprof-report placement has the "
               "allowed cores. If that is not it, other processes run on them: top or pidstat on the node.";
    if (e.foreign)
        return "mpiprof-report placement has the allowed cores. On the node: top -H -p PID shows the threads.";
    return "Other processes run on the ranks' cores: find them on the node with top or pidstat, and run again on a node of "
           "your own. mpiprof-report placement has the allowed cores.";
}

std::string advises(const evidence::Crowded& e, const Spoken& s) {
    return e.too_many ? advice_of(too_many(e, s), s.job) : "";
}

}  // namespace

const RuleWords rule_words::crowded{
    .means = "CPU contention: ranks were runnable but had no CPU.",
    .evidence =
        "The time in which the thread that called MPI_Init was runnable without a CPU, from scheduler statistics "
        "(CPU WAIT in mpiprof-report ranks): the part of it outside MPI, known from random stretches of the run. If "
        "that part is below 5 % of the run, all of it, provided that each wait lasted at least 0.5 ms, but for what the rank "
        "waited for others where that is known from compared calls. Without "
        "scheduler statistics: 25 to 500 involuntary context switches per second, 0.5 to 12 ms off the CPU each, and "
        "hardly any voluntary ones. Sleeping, polling and sched_yield do not count; CPU time alone is no evidence.",
    .check =
        "mpiprof-report placement has the allowed cores. On the node: pidstat -w -p PID, or perf sched. Start fewer "
        "ranks or threads per core, or bind them.",
    .says = of<evidence::Crowded, says>,
    .begins = of<evidence::Crowded, begins>,
    .next = of<evidence::Crowded, next>,
    .advises = of<evidence::Crowded, advises>,
};

namespace {
// Who, or which other machines, and how much.
std::string others(const evidence::ForeignLoad& e, const Spoken& s) {
    std::string text;
    if (e.share() >= evidence::ForeignLoad::enough)
        text = fmt::format("other processes used {:.2f} of the {} of {} ({})", e.by_others, cores(e.cores),
                           s.who(At::middle), human_share(e.share()));
    if (e.stolen_share() >= evidence::ForeignLoad::enough)
        text += fmt::format("{}the hypervisor took {} of the CPU time of {} for other virtual machines (steal)",
                            text.empty() ? "" : ", and ", human_share(e.stolen_share()), s.who(At::middle));
    return text;
}

std::string says(const evidence::ForeignLoad& e, const Spoken& s) {
    return fmt::format("During the run {}.", others(e, s));
}

std::string begins(const evidence::ForeignLoad& e, const Spoken& s) {
    return fmt::format("Disturbed measurement: {}; {}.", others(e, s),
                       e.waited_share > 0 ? fmt::format("ranks were runnable without a CPU for {} of the time",
                                                        human_share(e.waited_share))
                                          : std::string("hardly any core was idle"));
}

std::string next(const evidence::ForeignLoad&, const Spoken&) {
    return "Run again on a node of your own before you act on the findings below. What else runs on the node: top or "
           "pidstat, during the run.";
}

std::string advises(const evidence::ForeignLoad& e, const Spoken&) {
    return e.is_disturbing() ? "Run again on a node of your own."
                             : "To be sure that it does not matter, run again on a node of your own.";
}

}  // namespace

const RuleWords rule_words::foreign_load{
    .means = "Other processes, or other virtual machines, used the cores of these ranks.",
    .evidence =
        "/proc/stat, from MPI_Init to MPI_Finalize: for how long programs ran on the cores that a rank was allowed, less "
        "the user time of the job's ranks there and of their child processes; or the time that the hypervisor stole. A "
        "tenth of the cores at least. From a fifth on it begins a report, before all causes, if ranks were runnable "
        "without a CPU for 5 % of the run as well, inside MPI or outside, or the cores were idle for less than a tenth of "
        "the time. Not known where affinity masks overlap partially, and where a rank has no profile.",
    .check = "top or pidstat on the node during the run. Run again on a node of your own.",
    .says = of<evidence::ForeignLoad, says>,
    .begins = of<evidence::ForeignLoad, begins>,
    .next = of<evidence::ForeignLoad, next>,
    .advises = of<evidence::ForeignLoad, advises>,
};

}  // namespace mpiprof::report
