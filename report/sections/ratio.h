// Shares, rates and means in cells of tables. For all sections.
#pragma once

#include "report/model/ratio.h"
#include "report/model/table.h"

namespace mpiprof::report {

template <class Part, class Whole>
Value ratio(Part part, Whole whole) {
    const auto known = ratio_of(part, whole);
    return known ? Value(*known) : Value();
}

}  // namespace mpiprof::report
