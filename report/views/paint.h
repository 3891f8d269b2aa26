// Colour as an addition: what it says is also said by words or shapes. Nothing is written where it is off.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpiprof::report {

enum class Ink { plain, bold, dim, bar, warning };

std::string paint(std::string_view text, Ink ink, bool has_color);
std::string paint_segment(std::string_view text, std::size_t segment, bool has_color);

}  // namespace mpiprof::report
