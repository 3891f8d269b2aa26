// What a test describes of NCCL's operations and of the GPUs, as tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/report/profile_builder.h"
#include "tests/report/profile_histograms.h"
#include "tests/report/profile_tables.h"

namespace mpiprof::test {

using CallIds = std::map<std::string, std::uint16_t>;  // by name

void add_nccl_operations(const ProfileSpec& profile, Tables& tables, const CallIds& calls);
void add_gpu(const ProfileSpec& profile, Tables& tables, Histograms& histograms, const CallIds& calls);

}  // namespace mpiprof::test
