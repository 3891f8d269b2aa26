// A job that has something in every table that the stories leave empty. For what is to see all columns.
#pragma once

#include <vector>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

std::vector<ProfileSpec> every_part();

}  // namespace mpiprof::test
