// Every story by its name, for tests that hold for any job: goldens, schemas, other readers of the same files.
#pragma once

#include <span>
#include <vector>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

struct Story {
    const char* name;
    std::vector<ProfileSpec> (*ranks)();
};
std::span<const Story> all_stories();

}  // namespace mpiprof::test
