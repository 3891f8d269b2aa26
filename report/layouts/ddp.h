// The text of PyTorch's distributed data parallel benchmark, for list.cpp.
#pragma once

#include <string>

#include "report/model/job.h"
#include "report/model/result.h"

namespace mpiprof::report {

// A block for each kind of iterations that the program marks, with a row for this job. Of no marks: a problem.
Result<std::string> ddp_text(const Job& job);

}  // namespace mpiprof::report
