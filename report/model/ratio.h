// Shares, rates and means: part of a whole, or the mean of a sum. For analysis and, as cells of tables, for sections.
#pragma once

#include <cstdint>

#include <optional>

namespace mpiprof::report {

// Not known where there is no whole.
template <class Part, class Whole>
std::optional<double> ratio_of(Part part, Whole whole) {
    return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}

// Nanoseconds as a whole number; what a damaged file makes too large for one is the largest.
inline std::uint64_t whole_ns(double ns) {
    constexpr double most = 1.8e19;
    if (!(ns > 0)) return 0;
    return ns < most ? static_cast<std::uint64_t>(ns) : ~std::uint64_t{0};
}

}  // namespace mpiprof::report
