// The user's own command is run by a shell, as other programs run it.
#include "report/commands/pager.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mpiprof::report {
namespace {

constexpr int not_found = 127;  // of a shell

bool is_set_to(const char* name, std::string_view value) {
    const char* set = std::getenv(name);
    return set && value == set;
}

// Empty: none.
std::string pager() {
    const char* asked = std::getenv("PAGER");
    if (is_set_to("TERM", "dumb") || is_set_to("PAGER", "cat")) return "";
    return asked ? asked : "less";
}

// Ctrl-C is the pager's while it runs, and one that ends early is no error.
class Signals {
  public:
    Signals() : interrupt_(std::signal(SIGINT, SIG_IGN)), pipe_(std::signal(SIGPIPE, SIG_IGN)) {}
    ~Signals() {
        std::signal(SIGINT, interrupt_);
        std::signal(SIGPIPE, pipe_);
    }
    Signals(const Signals&) = delete;

  private:
    void (*interrupt_)(int);
    void (*pipe_)(int);
};

}  // namespace

bool show_in_pager(const std::string& text, const ScreenOptions& options) {
    const unsigned rows = rows_of(stdout);
    const auto lines = static_cast<unsigned long>(std::ranges::count(text, '\n'));
    if (!options.has_pager || rows == 0 || lines < rows) return false;
    const std::string command = pager();
    if (command.empty()) return false;
    setenv("LESS", "FRX", 0);  // colors; it ends at once where all fits; what was shown stays
    setenv("LESSCHARSET", "utf-8", 0);
    // Asked before anything is written to it, as what went into a pipe is lost.
    if (std::system(("command -v " + command.substr(0, command.find(' ')) + " >/dev/null 2>&1").c_str()) != 0)
        return false;
    std::FILE* to = popen(command.c_str(), "w");
    if (!to) return false;
    const Signals signals;
    std::fwrite(text.data(), 1, text.size(), to);
    const int status = pclose(to);
    return !WIFEXITED(status) || WEXITSTATUS(status) != not_found;
}

}  // namespace mpiprof::report
