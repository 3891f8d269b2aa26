// The files of nodes (MPIPROF_FILES=node), made of profiles as files of ranks are. For tests that hold one form against
// the other.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tests/report/files.h"

namespace mpiprof::test {

// Puts the head of a node's file at its place, and one rank's profile into a range.
void begin_node_file(const std::filesystem::path& path);
void put_into_range(const std::filesystem::path& path, std::uint32_t range, const Bytes& profile);

// All profiles in `from`, as a file of each node in `to`; whatever else is there is copied.
void as_node_files(const std::filesystem::path& from, const std::filesystem::path& to);

Bytes bytes_of(const std::filesystem::path& path);

}  // namespace mpiprof::test
