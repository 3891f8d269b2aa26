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

// What the section nccl begins with: how long NCCL ran, and where that is known how much of it was exposed, how much
// was waiting, and the bus bandwidth of the operation that took longest.
Table nccl_headline(const Job& job);

// Tables of the section nccl; those without rows are left out.
std::vector<Table> gpu_tables(const Job& job, bool is_for_screen);

}  // namespace mpiprof::report
