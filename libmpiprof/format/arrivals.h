// Which calls of a communicator are kept with their times: one of each 2^level consecutive ones, chosen by their number
// alone, so that all its members keep the same ones without asking each other. The recorder keeps them, the reporter
// lines them up. Asks nobody.
#pragma once

#include <bit>
#include <cstdint>

namespace mpiprof::format {

inline constexpr std::uint64_t arrivals_kept = 512;  // of a communicator, at most

// The least level at which so many calls have at most arrivals_kept blocks. Calls are numbered from 0 on; a block of
// `level` is 2^level of them.
constexpr unsigned arrival_level(std::uint64_t calls) {
    constexpr unsigned bits = std::bit_width(arrivals_kept - 1);
    const unsigned width = calls == 0 ? 0u : static_cast<unsigned>(std::bit_width(calls - 1));
    return width > bits ? width - bits : 0;
}

// Which half of a block, 0 or 1, has the call that is kept of it.
constexpr std::uint64_t arrival_half(std::uint64_t block, unsigned level) {
    std::uint64_t hash = (block * 64 + level) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
    return hash >> 63;
}

// The call that is kept of this block. It is one of the two that are kept of the block's halves, so that nothing new
// has to be kept when the level rises; which one of them is as good as random, lest it falls in step with a loop.
constexpr std::uint64_t arrival_of_block(std::uint64_t block, unsigned level) {
    for (; level > 0; --level) block = 2 * block + arrival_half(block, level);
    return block;
}

// Whether a call that is kept at one level still is at a higher one.
constexpr bool is_arrival_still(std::uint64_t number, unsigned level, unsigned higher) {
    for (; level < higher; ++level)
        if (((number >> level) & 1) != arrival_half(number >> (level + 1), level + 1)) return false;
    return true;
}

// The next one that is kept after this one, which is kept.
constexpr std::uint64_t arrival_after(std::uint64_t number) {
    unsigned level = arrival_level(number + 1);
    std::uint64_t block = (number >> level) + 1;
    if (block == arrivals_kept) {
        ++level;
        block = arrivals_kept / 2;
    }
    return arrival_of_block(block, level);
}

inline constexpr std::uint64_t no_arrival = ~std::uint64_t{0};  // the number of no call

}  // namespace mpiprof::format
