// A note: something to keep in mind about a job beside its figures, as values. merge/ makes them; the summary and the
// json export print the sentence that text_of() has for each. Nothing is derived from the sentence.
#pragma once

#include <cstdint>
#include <string>

namespace mpiprof::report {

struct JobNote {
    enum class Kind : std::uint8_t {
        another_program,        // name; number = the lowest rank that has it
        another_mpi_library,    // the same
        several_mpi_libraries,  // in one process
        tool_in_front,          // of us, whose PMPI_ calls pass us by
        library_not_profiled,   // name; number = ranks
        moves_unseen,           // between GPUs, in kernels of its own: name; number = ranks
        nccl_fetched,           // by dlsym, past us; number = ranks
        barrier_setting,        // name = its value
        ranks_setting,          // the same
        bounded_ranks,          // by MPIPROF_MAX_FILES or MPIPROF_MAX_BYTES: name = the setting and its value
        functions_setting,      // the same
        spawned,                // by MPI_Comm_spawn
        sessions_only,          // no MPI_Init
        unknown_mpi_family,     // so no sizes
        merged_while_running,   // number = ranks that ran; ns_since_1970 = when
        no_helper_thread,       // number = ranks
        late_writes,            // number = ranks, of = ranks of the job
        from_the_reader,        // name = what it passed over in one profile, as it said it
    };
    Kind kind;
    std::string name{};
    std::uint64_t number = 0;
    std::uint64_t of = 0;
    std::uint64_t ns_since_1970 = 0;
};

// One line, without the period.
std::string text_of(const JobNote& note);

}  // namespace mpiprof::report
