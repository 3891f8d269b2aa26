// The header of a profile that a test describes, and its clock: from the times of the description to ticks.
#pragma once

#include <cstdint>

#include "tests/report/profile_builder.h"

namespace mpiprof::test {

inline constexpr std::uint64_t boot_ns = 1'000'000'000'000;  // CLOCK_MONOTONIC when MPI_Init returned

std::uint64_t ticks_of(const ProfileSpec& spec, std::uint64_t ns);
format::Anchor anchor_of(const ProfileSpec& spec, std::int64_t since_start_ns);

std::size_t header_size(const ProfileSpec& spec);
format::Header header_of(const ProfileSpec& spec, std::uint64_t directory_offset, std::uint64_t image_bytes);

}  // namespace mpiprof::test
