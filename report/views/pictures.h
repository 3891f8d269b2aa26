// Drawing with characters: bars in eighths of a block, sparklines, a stacked bar; each with an ASCII twin.
// For the text view.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/views/drawn.h"

namespace mpiprof::report {

// A bar of `share` (0..1) of `width` columns; shorter than width where it ends.
std::string bar(double share, std::size_t width, bool utf8);

// One character per value; more values than `width` are put together in groups, each shown by its most unusual value.
std::string sparkline(std::span<const double> values, Range range, std::size_t width, bool utf8);

// One shade per value. More values than `width` are put together in groups, each shown by its largest.
std::string heat(std::span<const double> values, Shades shades, std::size_t width, bool utf8);

// A bar for each count, as high as it is to the largest; none for 0. More than `width` are put together in groups.
std::string histogram(std::span<const double> counts, std::size_t width, bool utf8);

// How many of `width` columns each share gets: they add up to width, and no share of 1 % or more gets none.
std::vector<std::size_t> stacked_widths(std::span<const double> shares, std::size_t width);
std::string_view stacked_glyph(std::size_t segment, bool utf8);

}  // namespace mpiprof::report
