// Shares, rates and means in cells of tables. For all sections.
#pragma once

#include "report/model/table.h"

namespace mpiprof::report {

// Part of a whole, or the mean of a sum; not known where there is none.
template <class Part, class Whole>
Value ratio(Part part, Whole whole) {
    return whole > 0 ? Value(static_cast<double>(part) / static_cast<double>(whole)) : Value();
}

}  // namespace mpiprof::report
