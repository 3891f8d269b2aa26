// Writes a merged file: the profiles of one launch in one file, of which the bytes that ranks have in common are kept
// once. It appears under its name when it is whole. For `mpiprof-report merge`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/model/progress.h"
#include "report/model/result.h"
#include "report/read/job_dir.h"

namespace mpiprof::report {

struct MergedSizes {
    std::uint64_t files = 0;
    std::uint64_t bytes_in_use = 0;  // of the profiles
    std::uint64_t file_bytes = 0;    // of the merged file
};

// `found` is where the launch is from: what was said of its files is kept, too.
Result<MergedSizes> write_merged(const Found& found, const Launch& launch, const std::string& path, unsigned threads,
                                 Progress& progress);

// Leaves the files of the part-th of so many parts, from 1 on. Parts consist of whole blocks: some may be empty, and
// what they are merged to is what merging the launch at once makes.
void keep_part(Launch& launch, std::size_t part, std::size_t of);

// The same bytes, for a page; none of them where they are more than `most`.
Result<std::vector<std::byte>> merged_bytes(const Found& found, const Launch& launch, std::uint64_t most,
                                            unsigned threads, Progress& progress);

}  // namespace mpiprof::report
