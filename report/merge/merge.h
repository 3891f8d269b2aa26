// Reads the profiles of a launch on several threads and adds them up to a Job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/job.h"
#include "report/model/result.h"
#include "report/read/job_dir.h"
#include "report/read/progress.h"

namespace mpiprof::report {

struct MergeOptions {
    unsigned threads = 1;
    bool keep_all_cells = false;
    std::vector<std::uint32_t> keep_cells_of;  // sorted
};

// Fails only if not one profile can be read.
Result<Job> merge(const Launch& launch, const MergeOptions& options, Progress& progress);

}  // namespace mpiprof::report
