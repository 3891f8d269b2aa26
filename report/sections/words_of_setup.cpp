// Communicators, windows, persistent requests and processes that are made, and what making them costs.
#include "report/sections/rule_words.h"

#include <fmt/format.h>

#include <cmath>

#include "report/model/units.h"

namespace mpiprof::report {

using rule_words::of;
namespace {

// What one call costs that sets up, and what it is with all others: "200 us each: 20% of the run, and 35% with ...".
std::string cost_text(const evidence::Setup& e) {
    constexpr double all_but_rounding = 0.99;
    const std::string text = fmt::format("{} each{}: {} of the run", human_time(e.mean_ns),
                                         e.have_waited ? " excluding wait time" : "", human_share(e.call_run_share));
    if (e.call_run_share >= all_but_rounding * e.run_share) return text;
    return fmt::format("{}, {} with all other setup calls", text, human_share(e.run_share));
}

// Then each of them takes long.
bool is_of_few(const evidence::Setup& e) { return std::round(e.calls) < 100; }
std::string times(const evidence::Setup& e) {
    const double calls = std::round(e.calls);
    return calls <= 1 ? "once" : human_count(calls) + " times";
}

std::string says(const evidence::Setup& e, const Spoken& s) {
    return fmt::format("{} is called {} by each rank, {}.{} Call sites: mpiprof-report sites.", s.call(), times(e),
                       cost_text(e), is_of_few(e) ? "" : " Create the object once, outside the loop, and reuse it.");
}

std::string begins(const evidence::Setup& e, const Spoken& s) {
    return fmt::format("Each rank calls {} {}, {}.", s.call(), times(e), cost_text(e));
}

std::string next(const evidence::Setup& e, const Spoken&) {
    if (!is_of_few(e)) return "";
    return fmt::format(
        "mpiprof-report sites has the line. {}",
        e.starts_processes
            ? "Start all processes with the job, or spawn them in one call and keep them; the launcher's "
              "own time to start processes is in it."
            : "Each of these calls is slow by itself: make fewer of them, or larger ones, and not where "
              "ranks wait for the result.");
}

}  // namespace

const RuleWords rule_words::setup{
    .means =
        "Communicators, windows or persistent requests are created over and over, or one call that does so is slow.",
    .evidence =
        "Time in setup calls (MPI_Comm_dup, MPI_Win_create, MPI_Bcast_init ...), excluding MPI_Init and wait time: "
        "at least 10 % of the run. The most expensive one is named; each rank calls it at least 100 times, or "
        "even the fastest of its calls took 20 ms, and three quarters of the mean (MPI_Comm_spawn).",
    .check =
        "mpiprof-report sites has the lines, comms the communicators. Create it once, before the loop, and reuse it.",
    .says = of<evidence::Setup, says>,
    .begins = of<evidence::Setup, begins>,
    .next = of<evidence::Setup, next>,
};

namespace {

std::string begins_by_nccl(const evidence::Setup& e, const Spoken& s) {
    return fmt::format("Creating NCCL communicators takes {} of the run: each rank calls {} {}, {} each.",
                       human_share(e.run_share), s.call(), times(e), human_time(e.mean_ns));
}

}  // namespace

const RuleWords rule_words::nccl_setup{
    .means = "Creating NCCL communicators takes much of the run.",
    .evidence =
        "Host time in the calls that create and destroy them: at least 25 % of the run, with fewer than 100 calls by each "
        "rank. It begins a report where the costliest other cause is less than a third of that, and less than 10 %.",
    .check =
        "A longer run pays it once. If that is the real length, create fewer communicators; NCCL_DEBUG=INFO shows what their "
        "creation does.",
    .says = of<evidence::Setup, says>,
    .begins = of<evidence::Setup, begins_by_nccl>,
};

}  // namespace mpiprof::report
