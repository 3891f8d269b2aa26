// The job is read anew each time. It ends when every rank has ended or has been silent for long, or when the user
// interrupts.
#include "report/commands/follow.h"

#include <cerrno>
#include <csignal>
#include <ctime>

#include "report/commands/say.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t silence_ns = 60 * second;  // who has shown no sign of life for so long is not waited for

volatile std::sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = note_interrupt;  // and no SA_RESTART: the pause ends at once
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

bool is_near(std::uint64_t moment, std::uint64_t now) { return moment + silence_ns > now && moment < now + silence_ns; }

// Nothing more will be seen of it: every rank has ended, or has not been heard of for long. Of clocks that are set
// meanwhile, ours and that of the rank's node, one may have been set earlier than the other.
bool has_ended(const Job& job) {
    const std::uint64_t now = now_ns(), steady = steady_now_ns();
    for (const Rank& rank : job.ranks) {
        if (rank.is_in_finalize || (rank.state == State::running && rank.life == Life::running)) return false;
        if (rank.state == State::running && rank.life == Life::unknown &&
            (is_near(rank.updated_at_ns, now) || is_near(rank.updated_at_ns, steady)))
            return false;
    }
    return true;
}

// Ranks that start late get a moment to do so.
bool is_all_there(const Job& job, std::uint64_t begun) {
    std::uint64_t newest = 0;
    for (const Rank& rank : job.ranks) newest = std::max(newest, rank.updated_at_ns);
    return !job.lacks_ranks() || steady_now_ns() - begun > 5 * second ||
           now_ns() - std::min(newest, now_ns()) > silence_ns;
}

}  // namespace

bool is_interrupted() { return interrupted != 0; }

bool pause_for(double seconds) {
    timespec left{static_cast<time_t>(seconds),
                  static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
    while (!interrupted && nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    return !interrupted;
}

int follow(const Options& given, double interval_s,
           const std::function<bool(std::unique_ptr<Loaded> now, bool ends)>& look,
           const std::function<bool(double seconds)>& pause) {
    Options options = given;
    options.is_quiet = true;  // no progress line across the screen
    catch_interrupts();
    const std::uint64_t begun = steady_now_ns();
    bool was_there = false;
    while (!interrupted) {
        Load loaded = load(options);
        const bool may_come = options.wait_s && static_cast<double>(steady_now_ns() - begun) < *options.wait_s * 1e9;
        if (!loaded) {
            if (!may_come || !loaded.error().is_nothing_there) {
                say(was_there ? "the profiles were removed meanwhile" : loaded.error().text);
                return no_profile;
            }
            pause_for(0.2);
            continue;
        }
        const bool is_merged = (*loaded)->launch().merged_at_ns != 0;  // nothing more will come
        const bool ends = is_merged || (has_ended((*loaded)->job) && is_all_there((*loaded)->job, begun));
        // What had ended before is not the job that is waited for.
        if (ends && !was_there && may_come) {
            pause_for(0.2);
            continue;
        }
        was_there = true;
        // A new launch in the same directory is another job.
        options.choice = {.job = {}, .launch = (*loaded)->job.launch};
        if (!look(std::move(*loaded), ends) || ends || !pause(interval_s)) break;
    }
    return fine;
}

}  // namespace mpiprof::report
