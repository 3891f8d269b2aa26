// What the user's terminal can show, from the options, the environment and the terminal itself.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "report/views/view.h"

namespace mpiprof::report {

enum class ColorChoice { automatic, always, never };

struct ScreenOptions {
    std::optional<unsigned> width;
    bool is_ascii = false;
    ColorChoice color = ColorChoice::automatic;
    bool has_pager = true;  // where the screen is too small
};

// The user's, for what characters there are. A locale that is not installed, or not for a program that is linked
// statically, is taken for what its name says.
void take_locale();

// NO_COLOR, TERM=dumb and pipes switch colour off; CLICOLOR_FORCE and --color=always win. Unicode only where the
// locale is UTF-8 (after take_locale()).
// --width comes before COLUMNS, and that before the terminal, which a pipe has by stderr.
Screen screen_for(std::FILE* out, const ScreenOptions& options);
unsigned rows_of(std::FILE* out);  // 0: it is no terminal

}  // namespace mpiprof::report
