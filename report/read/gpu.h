// The GPU's part of a profile: times of NCCL's operations, their sequences, and all its work. Safe for any bytes. Used
// by the profile reader only.
#pragma once

#include <functional>

#include "report/model/profile.h"
#include "report/read/buckets.h"
#include "report/read/tables.h"

namespace mpiprof::report {

// `call_index`: the index into Profile::calls of a call's id in the file. After the communicators were read.
void read_gpu(const Tables& tables, const std::function<std::uint16_t(std::uint16_t)>& call_index,
              BucketReader& buckets, Profile& profile);

}  // namespace mpiprof::report
