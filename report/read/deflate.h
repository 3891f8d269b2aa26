// zlib, as far as we need it: a run of bytes made small, and back. For merged files; nobody else knows zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mpiprof::report {

std::vector<std::byte> deflated(std::span<const std::byte> bytes);

// Fills `bytes` from a stream that holds exactly so many; false if it does not, or is damaged (its checksum tells).
bool inflate_into(std::span<std::byte> bytes, std::span<const std::byte> stream);

// No stream of so many bytes holds more: asked before room is made for what a damaged file promises.
constexpr std::uint64_t most_inflated(std::uint64_t stream_bytes) { return stream_bytes * 1032 + 1024; }

std::uint32_t checksum(std::span<const std::byte> bytes);

}  // namespace mpiprof::report
