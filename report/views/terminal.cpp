// Options come before variables (CLICOLOR_FORCE, NO_COLOR, TERM), and those before what the terminal answers.
#include "report/views/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string_view>

namespace mpiprof::report {
namespace {

constexpr unsigned default_width = 80;
constexpr unsigned most_width = 120;  // beyond it lines are hard to follow

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

unsigned width_of(std::FILE* out) {
    winsize size{};
    if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return std::min<unsigned>(size.ws_col, most_width);
    return default_width;
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

Screen screen_for(std::FILE* out, const ScreenOptions& options) {
    return {.width = options.width.value_or(width_of(out)),
            .has_utf8 = !options.is_ascii && std::string_view(nl_langinfo(CODESET)) == "UTF-8",
            .has_color = wants_color(out, options.color)};
}

}  // namespace mpiprof::report
