// Ranges and shades over all rows of a column.
#include "report/views/drawn.h"

#include <algorithm>
#include <cmath>

namespace mpiprof::report {
namespace {

constexpr double least_span = 0.05;
constexpr double least_full_bar = 0.1;  // so that a table of small shares has small bars

Series values_of(const Table& table, std::size_t column) {
    Series all;
    for (const auto& row : table.rows)
        if (const auto* series = std::get_if<Series>(&row[column]))
            all.insert(all.end(), series->begin(), series->end());
    return all;
}

}  // namespace

Range range_of(std::span<const double> values) {
    if (values.empty()) return {0, 0};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {*low, *high};
}

double height_of(double value, Range range) {
    const double span = std::max(range.high - range.low, least_span * range.high);
    return span > 0 ? (value - range.low) / span : 0;
}

std::size_t shade_of(double value, const Shades& shades) {
    if (!(value > 0)) return 0;
    const double low = shades.by_ratio ? std::log(shades.low) : shades.low;
    const double high = shades.by_ratio ? std::log(shades.high) : shades.high;
    const double here = shades.by_ratio ? std::log(value) : value;
    const double height = high > low ? (here - low) / (high - low) : 1;
    constexpr auto steps = static_cast<double>(most_shade);
    return 1 + static_cast<std::size_t>(std::clamp(height * steps, 0.0, steps - 1));
}

Range range_for(const Table& table, std::size_t column, const Series& series) {
    return range_of(table.columns[column].draw == Draw::sparkline ? series : values_of(table, column));
}

Shades shades_for(const Table& table, std::size_t column) {
    Series values = values_of(table, column);
    std::erase_if(values, [](double value) { return !(value > 0); });
    const Range range = range_of(values);
    const bool by_ratio = table.columns[column].draw == Draw::log_heat;
    return {by_ratio ? range.low : 0, range.high, by_ratio};
}

std::vector<double> marks_of(const Table& table, std::size_t column) {
    std::vector<double> marks;
    for (const Note& note : table.notes)
        if (note.at >= 0 && note.parts.front().column == table.columns[column].id) marks.push_back(note.at);
    return marks;
}

double full_bar_of(const Table& table, std::size_t column) {
    if (table.columns[column].draw == Draw::full_bar) return 1;
    double largest = least_full_bar;
    for (const auto& row : table.rows)
        if (const auto* value = std::get_if<double>(&row[column])) largest = std::max(largest, *value);
    return largest;
}

}  // namespace mpiprof::report
