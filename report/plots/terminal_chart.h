// A chart on a terminal: a letter for each point, dots between them, axes with the ticks of the picture. Needs no
// colour and no Unicode.
#pragma once

#include <string>

#include "report/plots/chart.h"

namespace mpiprof::report {

// Lines of at most `columns`; names from outside cannot break them.
std::string text_of(const Chart& chart, unsigned columns, bool utf8);

}  // namespace mpiprof::report
