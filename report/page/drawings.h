// What a column draws, as small SVG pictures that stand in a line of text. For html.cpp.
#pragma once

#include <span>
#include <string>

#include "report/model/table.h"

namespace mpiprof::report::page {

std::string bar(double share);  // 0..1 of the full width
std::string sparkline(const Series& values, double low, double high);
// A shade per value from `low` to `high`, in equal differences or (`by_ratio`) in equal ratios; one path for each
// shade, so that long maps are few elements.
std::string heat(const Series& values, double low, double high, bool by_ratio);

// A bar of segments, and which colour is which.
std::string stacked(const StackedBar& bar);

}  // namespace mpiprof::report::page
