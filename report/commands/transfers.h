// `mpiprof-report transfers`: how fast data moved between two ranks, message by message.
#pragma once

#include <string>

#include "report/commands/options.h"
#include "report/compare/transfers.h"
#include "report/read/job_dir.h"

namespace mpiprof::report {

// The messages of a launch, from its traces; without them what its calls say by size.
TransferRun transfers_of(const Job& job, const Launch& launch, std::string label);

}  // namespace mpiprof::report
