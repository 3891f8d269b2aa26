// What sections call MPI, in the words of a job that used NCCL, with MPI or without it. Titles, notes and findings
// speak of "MPI"; nothing else is touched, and nothing at all in a job of MPI alone.
#pragma once

#include <string>

#include "report/model/job.h"
#include "report/model/table.h"

namespace mpiprof::report {

// A heading as it is before word() has been at it: "%NCCL" is "%MPI".
std::string before_wording(std::string heading, const Job& job);
void word(Table& table, const Job& job);
std::string worded(std::string text, const Job& job);

}  // namespace mpiprof::report
