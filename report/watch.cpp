// Look, show, pause.
#include "report/watch.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "report/load.h"
#include "report/model/visible.h"
#include "report/say.h"
#include "report/sections/live.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

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

void pause_for(double seconds) {
    timespec left{static_cast<time_t>(seconds),
                  static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
    while (!interrupted && nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

// Nothing more will be seen of it: every rank has ended, or has not been heard of for long.
bool is_over(const Job& job) {
    const std::uint64_t now = now_ns();
    for (const Rank& rank : job.ranks) {
        if (rank.is_in_finalize || (rank.state == State::running && rank.life == Life::running)) return false;
        if (rank.state == State::running && rank.life == Life::unknown && rank.updated_at_ns + silence_ns > now &&
            rank.updated_at_ns < now + silence_ns)
            return false;
    }
    return true;
}

class Watch {
  public:
    explicit Watch(const Options& options) : options_(options), is_terminal_(isatty(STDOUT_FILENO)) {
        options_.is_quiet = true;  // no progress line across the screen
    }

    int run() {
        catch_interrupts();
        std::unique_ptr<Loaded> before;
        const std::uint64_t begun = now_ns();
        while (!interrupted) {
            Load loaded = load(options_);
            if (!loaded) {
                const bool may_come = options_.wait_s && static_cast<double>(now_ns() - begun) < *options_.wait_s * 1e9;
                if (!may_come || !loaded.error().is_nothing_there) return give_up(loaded.error(), before != nullptr);
                pause_for(0.2);
                continue;
            }
            // A new launch in the same directory is another job.
            options_.choice = {.job = {}, .launch = (*loaded)->job.launch};
            const Job& job = (*loaded)->job;
            const bool is_merged = (*loaded)->launch().merged_at_ns != 0;  // nothing more will come
            const bool ends = is_merged || (is_over(job) && is_all_there(job, begun));
            show(job, before ? &before->job : nullptr, ends);
            if (ends || std::ferror(stdout)) break;
            before = std::move(*loaded);
            pause_for(options_.interval_s);
        }
        if (interrupted && is_terminal_) write("\n");
        return fine;
    }

  private:
    // Ranks that start late get a moment to do so.
    bool is_all_there(const Job& job, std::uint64_t begun) const {
        return !job.lacks_ranks() || now_ns() - begun > 5 * second || now_ns() - newest(job) > silence_ns;
    }
    static std::uint64_t newest(const Job& job) {
        std::uint64_t at = 0;
        for (const Rank& rank : job.ranks) at = std::max(at, rank.updated_at_ns);
        return std::min(at, now_ns());
    }

    int give_up(const NotLoaded& why, bool was_there) const {
        say(was_there ? "its profiles are gone" : why.text);
        return no_profile;
    }

    void write(std::string_view text) const {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    }

    void show(const Job& job, const Job* before, bool ends) const {
        const Screen screen = screen_for(stdout, options_.screen);
        if (is_terminal_) {
            const auto tables = live_tables(job, before);
            // Home, the screen, and what is left of the last one cleared: no flicker.
            write("\x1b[H\x1b[2J" + find_view("text")->show({"watch", tables}, screen));
        } else if (!ends) {
            write(visible(live_line(job, before), screen.has_utf8) + "\n");
        }
        if (ends) write((is_terminal_ ? "\n" : "") + visible(final_line(job), screen.has_utf8) + "\n");
    }

    Options options_;
    bool is_terminal_;
};

}  // namespace

int watch(const Options& options) { return Watch(options).run(); }

}  // namespace mpiprof::report
