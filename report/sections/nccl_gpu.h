// The GPU's side of NCCL: how long its operations took there, for whom they waited, and what else the GPUs did. For the
// sections nccl, calls and summary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/job.h"
#include "report/model/table.h"

namespace mpiprof::report {

// Null: none of its operations has a time on the GPU.
const GpuComm* gpu_comm(const Job& job, std::uint64_t id);

// Null: no graph repeats anything on it.
const ReplayedOn* replayed_on(const Job& job, std::uint64_t id);

// Tables of the section nccl; those without rows are left out.
std::vector<Table> gpu_tables(const Job& job, bool is_for_screen);

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
