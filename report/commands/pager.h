// What is longer than the screen is shown page by page, by $PAGER or less. For present.cpp.
#pragma once

#include <string>

#include "report/views/terminal.h"

namespace mpiprof::report {

// False: stdout is no terminal, the text fits onto it, no pager is wanted or none can be started. Nothing was written
// then. `for_screen` is the text as it was made for stdout.
bool show_in_pager(const std::string& for_screen, const ScreenOptions& options);

}  // namespace mpiprof::report
