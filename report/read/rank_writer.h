// Gives a rank back as a file of its own, wherever its profile is: in its node's file, in a merged one. For
// `mpiprof-report split`.
#pragma once

#include <cstdint>
#include <string>

#include "report/model/result.h"
#include "report/read/launch.h"
#include "report/read/rank_files.h"

namespace mpiprof::report {

// mpi_profile.<job>.<rank>, as the library calls it.
std::string file_name_of(const Launch& launch, const RankFile& file);

// What is in use of it, as a new file at `path`, with the time of the original. Returns how many bytes; the file is
// whole, or there is none.
Result<std::uint64_t> write_rank(RankFileReader& reader, const RankFile& file, const std::string& path);

}  // namespace mpiprof::report
