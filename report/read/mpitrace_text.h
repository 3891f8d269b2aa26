// Genuine mpitrace text (the layout of 2013, of 2020 or the newest) as a Profile: old runs can be looked at with this
// reporter. read/profile_reader calls it for files that are not profiles; it never opens a file.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "report/model/profile.h"
#include "report/model/result.h"

namespace mpiprof::report {

// True if the first lines are those of mpitrace ("Data for MPI rank 0 of 16:").
bool looks_like_mpitrace(std::span<const std::byte> bytes);

// `path` is only for messages and for what the file's name tells (job, rank). The Profile has is_text set, one main
// thread, the calls' Traffic by their names, the rank table in rank_table, launch = "mpitrace <job from the name>".
Result<Profile> read_mpitrace(std::span<const std::byte> bytes, std::string_view path);

}  // namespace mpiprof::report
