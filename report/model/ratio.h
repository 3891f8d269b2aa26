// Shares, rates and means: part of a whole, or the mean of a sum. For analysis and, as cells of tables, for sections.
#pragma once

#include <optional>

namespace mpiprof::report {

// Not known where there is no whole.
template <class Part, class Whole>
std::optional<double> ratio_of(Part part, Whole whole) {
    return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}

}  // namespace mpiprof::report
