// What the values of a drawn column are set against, and how high or dark one is by it: the same on a terminal and on a
// page. Numbers alone, no glyph and no tag.
#pragma once

#include <cstddef>
#include <span>

#include "report/model/table.h"

namespace mpiprof::report {

// Of a sparkline: from low to high, but never less than 5 % of the top, so that noise stays low.
struct Range {
    double low;
    double high;
};
Range range_of(std::span<const double> values);
double height_of(double value, Range range);  // 0..1

// From `low` to `high`, in equal differences or (`by_ratio`) in equal ratios.
struct Shades {
    double low;
    double high;
    bool by_ratio;
};
inline constexpr std::size_t most_shade = 4;
std::size_t shade_of(double value, const Shades& shades);  // 0 for nothing, else up to most_shade

// As Column::draw says: `series` is one of the column's.
Range range_for(const Table& table, std::size_t column, const Series& series);
Shades shades_for(const Table& table, std::size_t column);
// Where along it notes have marks, 0..1.
std::vector<double> marks_of(const Table& table, std::size_t column);
double full_bar_of(const Table& table, std::size_t column);  // the share whose bar is as wide as the column

}  // namespace mpiprof::report
