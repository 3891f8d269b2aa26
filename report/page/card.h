// A report as a card, one printed page: the verdict, how the run divides, four figures, the findings as far as there is
// room, and a strip over the ranks. From the blocks of the page. For `mpiprof-report html -o F.pdf`.
#pragma once

#include <string>
#include <vector>

#include "report/page/page.h"

namespace mpiprof::report::page {

// `by_rank`: nanoseconds; `what` they are.
std::string card_of(const Page& page, const std::vector<double>& by_rank, const std::string& what);

}  // namespace mpiprof::report::page
