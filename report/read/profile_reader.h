// One profile's bytes -> Profile, or a Problem in one line. Every offset and count is checked; any bytes at all
// are safe. Unknown tables are skipped, longer records read by their known prefix, shorter ones zero-filled.
// It opens no file: file.h does. Called by job_dir (heads) and by merge (whole profiles).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/model/profile.h"
#include "report/model/result.h"
#include "report/read/bytes.h"
#include "report/read/thinning.h"

namespace mpiprof::report {

// What is needed to group files into launches; read from the first `head_bytes` of a file.
inline constexpr std::size_t head_bytes = 4096;
struct Head {
    std::string launch;
    std::string job;
    std::string job_ids;  // as the scheduler spells it, blanks between
    std::string command;
    std::string mpi_library;
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::uint64_t started_at_ns = 0;
    std::uint64_t image_bytes = 0;  // of the file in use
    bool is_text = false;
    bool is_spawned = false;  // its world was made by MPI_Comm_spawn
};

// `bytes` is the beginning of a file that is `file_size` long.
Result<Head> read_head(ByteSpan bytes, std::uint64_t file_size, std::string_view path);

// Bytes of the file in use, as its beginning says; 0 if it is no profile.
std::uint64_t image_bytes_of(ByteSpan bytes);

// Traces are large, and few want them.
enum class Detail { sums, events };

Result<Profile> read_profile(ByteSpan bytes, std::string_view path, Detail detail = Detail::sums,
                             const Thinning& thinning = {});

}  // namespace mpiprof::report
