// For tests that go the whole way: files in a directory -> launches -> profiles -> Job.
#pragma once

#include <filesystem>
#include <vector>

#include "report/model/job.h"
#include "tests/report/profile_builder.h"

namespace mpiprof::test {

// The newest launch in the directory, with the cells of all ranks. A directory without one fails the test.
report::Job job_of(const std::filesystem::path& directory);
report::Job job_of(const std::vector<ProfileSpec>& specs);

std::filesystem::path golden(const std::string& name);

}  // namespace mpiprof::test
