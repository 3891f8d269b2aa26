// Spreads the bits of a number over all 64: for keys that are made of several numbers.
#pragma once

#include <cstdint>

namespace mpiprof::report {

inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace mpiprof::report
