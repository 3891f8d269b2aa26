// Whether this process gets a profile, where the user or the centre wants some alone: by its rank, by its program, by a
// draw for the whole job. Asked once, at start, by the runtime. All ranks of a job come to the same answer without
// asking each other.
#pragma once

#include "libmpiprof/format/layout.h"

namespace mpiprof {

// MPIPROF_RANKS, and what MPIPROF_MAX_FILES and MPIPROF_MAX_BYTES leave.
bool is_chosen_rank(std::uint32_t rank, std::uint32_t size);

// MPIPROF_EXCLUDE and MPIPROF_SAMPLE, of a process that is described.
bool is_chosen_program(const char* executable);
bool is_drawn(const char* job);

// What MPIPROF_MAX_FILES and MPIPROF_MAX_BYTES leave to each rank that is chosen.
struct Share {
    std::uint64_t files;  // launches of the job that this rank may leave a profile of; 0: any number
    std::uint64_t bytes;  // all of them together; 0: any number
};
Share share_of_rank(std::uint32_t size);

}  // namespace mpiprof
