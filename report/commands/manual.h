// The manual page and the completion of shells, made from the commands and options themselves. parse.cpp prints
// them where --manual or --completion asks for it; a build installs them.
#pragma once

#include <string>
#include <string_view>

#include "report/commands/command_line.h"

namespace mpiprof::report {

// mpiprof-report(1), for man.
std::string manual_of(const CommandText& program);

// For one of completed_shells.
std::string completion_of(const CommandText& program, std::string_view shell);

}  // namespace mpiprof::report
