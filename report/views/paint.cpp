// SGR sequences of the eight basic colours, which every terminal maps to its own theme.
#include "report/views/paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mpiprof::report {
namespace {

std::string with(std::string_view code, std::string_view text, bool has_color) {
    if (!has_color || code.empty() || text.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

std::string paint(std::string_view text, Ink ink, bool has_color) {
    constexpr std::array<std::string_view, 5> codes{"", "1", "2", "36", "1;33"};
    return with(codes[static_cast<std::size_t>(ink)], text, has_color);
}

std::string paint_segment(std::string_view text, std::size_t segment, bool has_color) {
    constexpr std::array<std::string_view, 11> codes{"2", "33", "34", "35", "31", "32", "36", "91", "90", "90", "90"};
    return with(codes[std::min(segment, codes.size() - 1)], text, has_color);
}

}  // namespace mpiprof::report
