// What the section `hang` says first: who waits for whom, or that nobody hangs.
#pragma once

#include <string>
#include <vector>

#include "report/analysis/analysed.h"
#include "report/sections/standing_lines.h"

namespace mpiprof::report {

// A sentence without its end; empty where nothing is suspected.
std::string words_of(const Suspicion& suspicion, const Job& job, const StandingLines& lines, bool has_ended);

std::string conclusion(const Analysed& all, const StandingLines& lines);

}  // namespace mpiprof::report
