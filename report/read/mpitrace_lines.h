// The lines of an mpitrace text as numbers, before anything is concluded from them.
// mpitrace_lines.cpp reads them from the text, mpitrace_settle.cpp makes them agree, mpitrace_text.cpp makes a
// Profile of them. Any bytes at all are safe: a line that is not understood is passed over.
#pragma once

#include <string_view>

#include "report/model/result.h"
#include "report/read/mpitrace_values.h"

namespace mpiprof::report {

Result<MpitraceText> parse_mpitrace(std::string_view text, std::string_view path);

// Moves every value within its range so that sums are what was printed: bins add up to their routine, routines to
// the communication time and the MPI-IO time, and the order of ranks is the one that the text claims. Printing the
// settled numbers gives the same digits again. Where a (damaged) text contradicts itself the values stay as printed.
void settle(MpitraceText& text);

}  // namespace mpiprof::report
