// Options come before variables (CLICOLOR_FORCE, NO_COLOR, TERM), and those before what the terminal answers.
#include "report/views/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <clocale>
#include <cstdlib>
#include <string_view>

namespace mpiprof::report {
namespace {

constexpr unsigned default_width = 80;
constexpr unsigned least_width = 40;
constexpr unsigned most_width = 120;  // beyond it lines are hard to follow

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::optional<winsize> size_of(int terminal) {
    winsize size{};
    if (!isatty(terminal) || ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
    return size;
}

// What goes through a pipe is looked at on the terminal that stderr is; a file is looked at somewhere else.
unsigned width_of(std::FILE* out) {
    const std::string_view asked = environment("COLUMNS");
    unsigned columns = 0;
    const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), columns);
    if (error == std::errc() && end == asked.data() + asked.size() && columns >= least_width && columns <= 1000)
        return columns;
    struct stat about {};
    const bool is_pipe = fstat(fileno(out), &about) == 0 && S_ISFIFO(about.st_mode);
    const auto size = size_of(is_pipe ? STDERR_FILENO : fileno(out));
    return size ? std::min<unsigned>(size->ws_col, most_width) : default_width;
}

bool wants_color(std::FILE* out, ColorChoice choice) {
    if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
    const std::string_view force = environment("CLICOLOR_FORCE");
    if (!force.empty() && force != "0") return true;
    return environment("NO_COLOR").empty() && environment("TERM") != "dumb" && isatty(fileno(out));
}

}  // namespace

void take_locale() {
    if (std::setlocale(LC_CTYPE, "")) return;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view value = environment(name);
        if (value.empty()) continue;
        if (value.ends_with("UTF-8") || value.ends_with("utf8")) std::setlocale(LC_CTYPE, "C.UTF-8");
        return;
    }
}

unsigned rows_of(std::FILE* out) {
    const auto size = size_of(fileno(out));
    return size ? size->ws_row : 0;
}

Screen screen_for(std::FILE* out, const ScreenOptions& options) {
    return {.width = options.width.value_or(width_of(out)),
            .has_utf8 = !options.is_ascii && std::string_view(nl_langinfo(CODESET)) == "UTF-8",
            .has_color = wants_color(out, options.color)};
}

}  // namespace mpiprof::report
