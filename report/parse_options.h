// From the words of a command line to Options. main calls it.
#pragma once

#include <optional>

#include "report/options.h"

namespace mpiprof::report {

// The options, or the exit code where there is nothing to do: --help and --version (0), a wrong command line (2).
struct Parsed {
    std::optional<Options> options;
    int exit_code = 0;
};
Parsed parse_options(int argc, char** argv);

}  // namespace mpiprof::report
