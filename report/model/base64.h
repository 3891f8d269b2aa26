// Bytes as text that nothing on the way changes (RFC 4648, section 4, padded), for data within a page.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpiprof::report {

std::string base64_of(std::span<const std::byte> bytes);
// Line ends are passed over. Empty: it is no such text.
std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text);

}  // namespace mpiprof::report
