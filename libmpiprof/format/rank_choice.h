// Which ranks leave a profile where MPIPROF_MAX_FILES or MPIPROF_MAX_BYTES bound what a job may leave: every second,
// third ... rank, so that each node has some. The library and the reporter ask the same function, so that a rank
// that was left out is never called missing.
#pragma once

#include <cstdint>

namespace mpiprof::format {

// Room for a profile of usual size; a rank that would get less gets none.
inline constexpr std::uint64_t usual_profile_bytes = std::uint64_t{1} << 20;

struct RankChoice {
    std::uint32_t stride = 1;  // ranks 0, stride, 2 * stride ...; 0: none
    bool has(std::uint32_t rank) const { return stride != 0 && rank % stride == 0; }
    // Of a world of `size`.
    std::uint32_t count(std::uint32_t size) const { return stride == 0 ? 0 : (size + stride - 1) / stride; }
};

// `files`, `bytes`: of the whole job; 0: no bound.
inline RankChoice choose_ranks(std::uint32_t size, std::uint64_t files, std::uint64_t bytes) {
    std::uint64_t most = files != 0 ? files : size;
    if (bytes != 0 && bytes / usual_profile_bytes < most) most = bytes / usual_profile_bytes;
    if (most == 0) return {0};
    return {most >= size ? 1 : static_cast<std::uint32_t>((size + most - 1) / most)};
}

}  // namespace mpiprof::format
