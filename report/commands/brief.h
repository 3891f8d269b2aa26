// `mpiprof-report --brief`: the verdict in at most six lines of 80 columns, for the end of a job's own output.
#pragma once

#include "report/commands/options.h"

namespace mpiprof::report {

// --format of six lines that are always there, a key each: "verdict: ...", or "-".
inline constexpr const char* note_format = "note";

// The exit code is 0 whatever there is: a report must not make a job fail.
int brief(const Options& options);

}  // namespace mpiprof::report
