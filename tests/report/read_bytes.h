// A profile of which every test of the reader knows what it says, and reading one from bytes.
#pragma once

#include <string>

#include "report/read/profile_reader.h"
#include "tests/report/profile_builder.h"

namespace mpiprof::test {

inline constexpr std::uint64_t ms = 1'000'000;

ProfileSpec typical();

report::Profile read(const Bytes& bytes);

// The line a person sees; empty if the profile was read.
std::string complaint(const Bytes& bytes);

const report::Cell* find_cell(const report::Profile& profile, const std::string& call, unsigned bin);

}  // namespace mpiprof::test
