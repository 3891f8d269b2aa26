// Whether the profiles of a job are all there: one meaning of "complete" for every screen, export and exit code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/model/job.h"

namespace mpiprof::report {

struct Completeness {
    // Ranks of the world without a profile, also where only some files were named.
    std::vector<NumberList::Range> missing;
    std::uint32_t profiles = 0;
    std::uint32_t expected = 0;
    std::uint32_t running = 0;     // ranks that are known to run
    std::uint32_t unfinished = 0;  // that are not, and have not reached MPI_Finalize
    std::size_t problems = 0;      // files that are damaged, foreign or there twice
    // Every rank that should have a profile has one, all have reached MPI_Finalize, and no file has a problem.
    bool is_complete = false;
};

Completeness completeness_of(const Job& job);

}  // namespace mpiprof::report
