// `mpiprof-report watch`: a running job on the whole terminal, with keys; appended line by line where there is none.
#include "report/commands/command.h"

#include <unistd.h>

#include <chrono>
#include <optional>

#include "report/commands/follow.h"
#include "report/commands/full_screen.h"
#include "report/commands/say.h"
#include "report/commands/watch_screen.h"
#include "report/model/visible.h"
#include "report/sections/live.h"
#include "report/views/fitting.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

void write(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

// The last two looks, which rates are made of.
struct Looks {
    std::unique_ptr<Loaded> now, before;

    void take(std::unique_ptr<Loaded> next) {
        before = std::move(now);
        now = std::move(next);
    }
    const Job* job_before() const { return before ? &before->job : nullptr; }
};

// Keys are answered from the last look.
class OnTerminal {
  public:
    explicit OnTerminal(const Options& options) : options_(options) {}

    bool look(std::unique_ptr<Loaded> now, bool ends) {
        looks_.take(std::move(now));
        if (!ends) {
            if (!terminal_) terminal_.emplace();  // not before there is a job: what is wrong stays to be read
            draw();
            return !std::ferror(stdout);
        }
        terminal_.reset();
        const Screen screen = screen_for(stdout, options_.screen);
        const Analysed all(looks_.now->job);
        write(find_view("text")->show({"watch", live_tables(all, looks_.job_before())}, screen));
        write("\n" + visible(final_line(looks_.now->job), screen.has_utf8) + "\n");
        return true;
    }

    bool pause(double seconds) {
        using Clock = std::chrono::steady_clock;
        const auto end = Clock::now() + std::chrono::duration<double>(seconds);
        while (!is_interrupted()) {
            const double left = std::chrono::duration<double>(end - Clock::now()).count();
            if (left <= 0) return true;
            const auto key = terminal_->key(left);
            if (!key) continue;
            if (!screen_.take(*key)) return false;
            draw();
        }
        return false;
    }

  private:
    void draw() {
        const Screen screen = screen_for(stdout, options_.screen);
        const auto lines = screen_.lines(looks_.now->job, looks_.job_before(), screen);
        terminal_->show(lines, screen_.first_line(lines.size(), FullScreen::rows()),
                        cut(screen_.foot(), screen.width, screen.has_utf8));
    }

    const Options& options_;
    Looks looks_;
    std::optional<FullScreen> terminal_;
    WatchScreen screen_{[this](Job& job, const std::vector<std::uint32_t>& ranks) {
        RankReader reader(looks_.now->launch());
        static_cast<void>(load_cells(job, reader, ranks));  // without them the screen says that nothing is known
    }};
};

class Watch : public Command {
  public:
    void take(Arguments& arguments) override {
        arguments.interval(interval_s_);
        arguments.footer("At a terminal keys choose what is shown; the last line names them.");
    }

    int run(const Options& options) override {
        const double interval_s = interval_s_.value_or(usual_interval_s);
        if (FullScreen::is_possible()) {
            OnTerminal screen(options);
            return follow(
                options, interval_s,
                [&](std::unique_ptr<Loaded> now, bool ends) { return screen.look(std::move(now), ends); },
                [&](double seconds) { return screen.pause(seconds); });
        }
        Looks looks;
        return follow(options, interval_s, [&](std::unique_ptr<Loaded> now, bool ends) {
            looks.take(std::move(now));
            const bool has_utf8 = screen_for(stdout, options.screen).has_utf8;
            const std::string line =
                ends ? final_line(looks.now->job) : live_line(Analysed(looks.now->job), looks.job_before());
            write(visible(line, has_utf8) + "\n");
            return !std::ferror(stdout);
        });
    }

  private:
    std::optional<double> interval_s_;
};

}  // namespace

std::unique_ptr<Command> make_watch() { return std::make_unique<Watch>(); }

}  // namespace mpiprof::report
