// What every command is told, as plain values. What only one takes are members of that command.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/read/choose_launch.h"
#include "report/views/terminal.h"

namespace mpiprof::report {

struct Options {
    std::vector<std::string> paths;  // and other words that are no options
    bool is_command_line = false;    // they stood behind --, for Operands::command_line
    Choice choice;
    bool takes_all_launches = false;  // of a directory, each as a run
    std::string format;               // of tables: a view's name; empty = the first
    std::optional<std::size_t> top;   // at most so many lines
    ScreenOptions screen;
    unsigned threads = 1;
    bool is_quiet = false;
    bool is_strict = false;
    std::optional<double> wait_s;  // for the end of all ranks
};

}  // namespace mpiprof::report
