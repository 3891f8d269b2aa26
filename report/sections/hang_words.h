// What is proven of a hang, in words: its class first, then the ranks and their lines. For the section `hang`.
#pragma once

#include <string>

#include "report/analysis/hang.h"

namespace mpiprof::report {

// `is_over`: the job has ended, it hung until then.
std::string words_of(const Hang& hang, const Job& job, bool is_over);

// "MPI_COMM_WORLD", "rows", "a communicator of 4 ranks"; empty where it is not known.
std::string communicator_text(const Group& group);

}  // namespace mpiprof::report
