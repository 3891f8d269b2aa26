// A running job on the screen.
#include "report/watch.h"

#include <unistd.h>

#include "report/follow.h"
#include "report/model/visible.h"
#include "report/say.h"
#include "report/sections/live.h"
#include "report/views/terminal.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

class Watch {
  public:
    explicit Watch(const Options& options) : options_(options), is_terminal_(isatty(STDOUT_FILENO)) {}

    int run() {
        std::unique_ptr<Loaded> before;
        const int code = follow(options_, [&](std::unique_ptr<Loaded> now, bool ends) {
            show(now->job, before ? &before->job : nullptr, ends);
            before = std::move(now);
            return !std::ferror(stdout);
        });
        if (is_interrupted() && is_terminal_) write("\n");
        return code;
    }

  private:
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

    const Options& options_;
    bool is_terminal_;
};

}  // namespace

int watch(const Options& options) { return Watch(options).run(); }

}  // namespace mpiprof::report
