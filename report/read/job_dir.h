// Finds the profiles in directories and among named files, and groups them into launches (one mpirun, srun step ...)
// by the identity in their headers, never by their names. What cannot be used is a line in `problems`.
// main calls it first; merge reads what it chose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/progress.h"
#include "report/model/result.h"
#include "report/read/launch.h"

namespace mpiprof::report {

struct Found {
    std::vector<Launch> launches;          // newest first, spawned worlds last
    std::vector<std::string> problems;     // files that are no profiles: one line each
    std::vector<std::string> directories;  // that were searched
    bool only_files = false;               // FILEs of ranks were named, no DIR and no merged file of one
    bool has_unknown_word = false;         // a name without a path is none of a file: a mistyped command?
};

// `paths` empty: the current directory.
Found find_profiles(const std::vector<std::string>& paths, unsigned threads, Progress& progress);

// Whether a directory has files with the names of profiles that are this user's; /tmp is everybody's.
bool has_profiles(const std::string& directory);

}  // namespace mpiprof::report
