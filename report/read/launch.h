// One mpirun, srun step or torchrun as its files were found: which ranks have one, and what is in the way. job_dir
// makes it; merge reads what it holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/read/rank_files.h"

namespace mpiprof::report {

struct Launch {
    std::string launch;
    std::vector<std::string> joined{};  // identities of others that are parts of this one
    std::string job;
    std::vector<std::string> job_ids{};  // what its ranks say that the scheduler calls it: blanks between, see layout.h
    std::string command;
    std::uint64_t started_at_ns = 0;  // of the last rank that started
    std::uint32_t size = 0;
    std::vector<RankFile> files;        // one per rank, sorted by rank
    std::vector<std::string> problems;  // duplicates, ranks of another size
    bool is_text = false;
    bool is_spawned = false;         // by MPI_Comm_spawn
    std::uint64_t merged_at_ns = 0;  // some rank is from a merged file, made then; 0: none is

    bool is_called(std::string_view identity) const {
        return launch == identity || std::find(joined.begin(), joined.end(), identity) != joined.end();
    }
};

}  // namespace mpiprof::report
