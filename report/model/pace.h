// The collectives of one communicator as one rank made them, as far as they are kept: what steps are found in.
// merge/pace makes it, analysis/steps asks. No figure of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpiprof::report {

struct PacedCall {
    std::uint64_t number = 0;   // so many collectives of the communicator came before it
    std::int64_t begin_ns = 0;  // since the end of this rank's MPI_Init
    std::uint64_t place = 0;    // the same number where call and call site are the same
    std::uint16_t call = 0;     // index into Job::calls
};

struct Pace {
    std::uint32_t rank = 0;
    std::uint64_t comm = 0;  // Comm::id
    std::uint64_t collectives = 0;
    std::vector<PacedCall> calls{};  // by number; empty: nothing is kept
};

}  // namespace mpiprof::report
