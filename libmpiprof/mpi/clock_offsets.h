// By how much the clocks of nodes differ, measured with messages between rank 0 and the first rank of each node, where
// the user asks for it (MPIPROF_CLOCK_OFFSETS). Called at the end of MPI_Init and at the beginning of MPI_Finalize, by
// all ranks of MPI_COMM_WORLD or none: beside barriers the only communication of ours.
#pragma once

#include <cstdint>

namespace mpiprof::mpi {

struct ClockOffset {
    bool is_known;
    std::uint64_t at_ns;     // CLOCK_MONOTONIC of this rank
    std::int64_t offset_ns;  // to be added to get rank 0's
    std::uint64_t error_ns;  // at most so wrong: half the fastest round trip
};

ClockOffset measure_clock_offset();

}  // namespace mpiprof::mpi
