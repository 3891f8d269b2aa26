// The smaller of two figures of which either may be not known. Included by what adds up shortest times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace mpiprof::report {

inline std::optional<std::uint64_t> least_of(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

}  // namespace mpiprof::report
