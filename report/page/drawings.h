// What a column draws, as small SVG pictures that stand in a line of text. For html.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/model/table.h"
#include "report/views/drawn.h"

namespace mpiprof::report::page {

std::string bar(double share);  // 0..1 of the full width
std::string sparkline(const Series& values, Range range);
// A shade per value; one path for each shade, so that long maps are few elements.
std::string heat(const Series& values, const Shades& shades, const std::vector<double>& marks);

// A bar for each count, from 0 to the largest.
std::string histogram(const Series& counts);

std::string_view colour_of(std::size_t segment);  // "#2f6fde"

// A bar of segments, and which colour is which.
std::string stacked(const StackedBar& bar);

}  // namespace mpiprof::report::page
