// `mpiprof-report watch`: a running job on the screen.
#include "report/commands/command.h"

#include <unistd.h>

#include "report/commands/follow.h"
#include "report/commands/say.h"
#include "report/model/visible.h"
#include "report/sections/live.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

class Watch : public Command {
  public:
    void take(Arguments& arguments) override { arguments.interval(interval_s_); }

    int run(const Options& options) override {
        std::unique_ptr<Loaded> before;
        const auto look = [&](std::unique_ptr<Loaded> now, bool ends) {
            show(now->job, before ? &before->job : nullptr, ends, screen_for(stdout, options.screen));
            before = std::move(now);
            return !std::ferror(stdout);
        };
        const int code = follow(options, interval_s_.value_or(usual_interval_s), look);
        if (is_interrupted() && is_terminal_) write("\n");
        return code;
    }

  private:
    void write(std::string_view text) const {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    }

    void show(const Job& job, const Job* before, bool ends, const Screen& screen) const {
        const Analysed all(job);
        if (is_terminal_) {
            const auto tables = live_tables(all, before);
            // Home, the screen, and what is left of the last one cleared: no flicker.
            write("\x1b[H\x1b[2J" + find_view("text")->show({"watch", tables}, screen));
        } else if (!ends) {
            write(visible(live_line(all, before), screen.has_utf8) + "\n");
        }
        if (ends) write((is_terminal_ ? "\n" : "") + visible(final_line(job), screen.has_utf8) + "\n");
    }

    std::optional<double> interval_s_;
    bool is_terminal_ = isatty(STDOUT_FILENO);
};

}  // namespace

std::unique_ptr<Command> make_watch() { return std::make_unique<Watch>(); }

}  // namespace mpiprof::report
