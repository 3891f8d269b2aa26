// What stands on a page, from top to bottom: tables of the sections, and pictures of the same numbers. For
// `mpiprof-report html` and its card.
#pragma once

#include "report/analysis/analysed.h"
#include "report/page/page.h"

namespace mpiprof::report {

// The heading and the blocks.
page::Page page_of(const Analysed& all, bool has_pictures);

}  // namespace mpiprof::report
