// Message size -> bin and back. Bins are mpitrace's: bin 0 holds size 0, then upper-inclusive powers of two
// (1..4, 5..8, 9..16, ...). The recorder bins with it, the reporter names bins with it.
#pragma once

#include <cstdint>

namespace mpiprof::format {

inline constexpr unsigned size_bins = 64;  // 0, <=2^2, <=2^3, ... <=2^64

constexpr unsigned size_bin(std::uint64_t bytes) {
    if (bytes <= 4) return bytes != 0;
    return 63u - static_cast<unsigned>(__builtin_clzll(bytes - 1));  // 5..8 -> 2, 9..16 -> 3
}

// Largest size a bin holds, in bytes.
constexpr std::uint64_t bin_max_bytes(unsigned bin) {
    if (bin == 0) return 0;
    return bin >= 63 ? ~std::uint64_t{0} : std::uint64_t{2} << bin;
}

static_assert(size_bin(0) == 0 && size_bin(1) == 1 && size_bin(4) == 1 && size_bin(5) == 2 && size_bin(8) == 2 &&
              size_bin(9) == 3);
static_assert(bin_max_bytes(1) == 4 && bin_max_bytes(2) == 8 && bin_max_bytes(size_bin(4719155)) == 8u << 20);
static_assert(size_bin(~std::uint64_t{0}) == 63);

}  // namespace mpiprof::format
