// A call site as a stack of names, for flame graphs and the page.
#pragma once

#include <string>
#include <vector>

#include "report/model/job.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {

// From the outermost frame to the call itself; an inlined function has a frame as any other. Calls whose sites are not
// separated have one frame that says so.
std::vector<std::string> stack_of(const CallSite& site, const Job& job, Symbols& symbols);

}  // namespace mpiprof::report
