// What has to be said of times on the GPU: where they are from, and what is missing of them. For the sections that show
// them; no time is computed here.
#pragma once

#include <string>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

// "CUPTI, events"
std::string source_of(bool by_events, bool by_cupti, bool by_launches);

// "at least ", "at most ", "about ", or nothing: of a sum of all times.
std::string how_known(const Job& job);

// Where the times are from, which operations have none, and why.
std::vector<std::string> gpu_time_notes(const Job& job);

// What TIME of NCCL's calls means, and where the times on the GPU are from.
std::string host_time_note(const Job& job);

// The heading of single times on the GPU: "EACH <=" where some are known by events, and are at most.
std::string gpu_heading(const Job& job, std::string heading);

// The heading of their sums: "GPU TIME >=" where a tenth or more of what ran has no time, and is left out;
// "GPU TIME ~" where both is so.
std::string gpu_sum_heading(const Job& job, std::string heading);

}  // namespace mpiprof::report
