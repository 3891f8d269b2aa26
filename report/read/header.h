// The first page of a profile file: is this a profile, of which version, and whole? For the readers of this room.
#pragma once

#include "libmpiprof/format/layout.h"
#include "report/model/result.h"
#include "report/read/bytes.h"

namespace mpiprof::report {

// The header of a profile that this reader can read. `file_size` may be larger than `bytes`.
Result<format::Header> read_header(ByteSpan bytes, std::uint64_t file_size, std::string_view path);

// Whether the end of the image is missing because there was no room for it: what lies in the file is whole, and newer
// calls are missing.
bool ends_on_a_full_disk(const format::Header& header, std::uint64_t file_size);

// When the process was last known to be alive, and when MPI began, on the wall clock; 0 = not known.
std::uint64_t started_at(const format::Header& header);
std::uint64_t updated_at(const format::Header& header);

}  // namespace mpiprof::report
