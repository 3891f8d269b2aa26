// `mpiprof demo`: recorded jobs, for whoever wants to see the reports before there is a job of their own. The files lie
// in share/demo; no MPI is needed.
#pragma once

#include <string>

#include "launcher/process.h"

namespace mpiprof::launcher {

// The jobs, a line each, and how to ask of one. `directory`: where they lie.
std::string demo_text(const std::string& directory);

// What shows one of them: mpiprof-report, with what was asked of it (no words: the summary). Empty: there is none of
// this name.
Words demo_command(const std::string& report, const std::string& directory, const std::string& name,
                   const Words& asked);

}  // namespace mpiprof::launcher
