// From the words of a command line to the command that they name, which is run. main calls it.
#pragma once

namespace mpiprof::report {

// The exit code: say.h has them.
int run_command(int argc, char** argv);

}  // namespace mpiprof::report
