// Chooses the unit of a column, then prints each value with it.
#include "report/views/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/model/units.h"
#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

double number_of(const Value& value) {
    if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return 0;
}

bool is_number(const Value& value) {
    return std::holds_alternative<std::uint64_t>(value) || std::holds_alternative<double>(value);
}

// The largest of the times that are compared in this table.
double largest_compared(const Table& table) {
    double largest = 0;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Column& column = table.columns[i];
        if (column.unit != Unit::time || !column.same_unit || column.only_data) continue;
        for (const auto& row : table.rows) largest = std::max(largest, number_of(row[i]));
    }
    return largest;
}

// One unit by the largest value, with three decimals as long as they fit.
struct TimeScale {
    double unit_ns = 1e9;
    const char* name = "s";
    int decimals = 3;

    explicit TimeScale(double largest_ns) {
        if (largest_ns < 1e6)
            *this = {1e3, "us", 1};
        else if (largest_ns < 1e9)
            *this = {1e6, "ms", 3};
        if (largest_ns / unit_ns >= 99.9995) decimals = std::min(decimals, largest_ns / unit_ns >= 999.995 ? 1 : 2);
    }
    TimeScale(double unit, const char* unit_name, int unit_decimals)
        : unit_ns(unit), name(unit_name), decimals(unit_decimals) {}

    std::string print(double ns) const {
        // What would be printed with one digit or none gets a unit of its own.
        constexpr std::array last_digit{1.0, 0.1, 0.01, 0.001};
        const bool vanishes = ns > 0 && ns / unit_ns < 9.5 * last_digit[static_cast<std::size_t>(decimals)];
        return vanishes ? human_time(ns) : fmt::format("{:.{}f} {}", ns / unit_ns, decimals, name);
    }
};

// What rounds to nothing has no sign.
std::string fixed(double number, int decimals) {
    const std::string text = fmt::format("{:.{}f}", std::abs(number), decimals);
    const bool is_zero = std::all_of(text.begin(), text.end(), [](char c) { return c == '0' || c == '.'; });
    return number < 0 && !is_zero ? "-" + text : text;
}

std::string print(const Value& value, const Column& column, bool utf8) {
    const Unit unit = column.unit;
    if (const auto* text = std::get_if<std::string>(&value)) return visible(*text, utf8);
    if (const auto* named = std::get_if<Named>(&value)) return visible(named->text, utf8);
    if (const auto* yes = std::get_if<Yes>(&value)) return yes->is ? "yes" : "no";
    if (!is_number(value)) return unit == Unit::text ? "" : "-";
    const double number = number_of(value);
    switch (unit) {
        case Unit::text:
        case Unit::count:
            return human_count(number);
        case Unit::bytes:
            return human_bytes(number);
        case Unit::time:
            return human_time(number);
        case Unit::share:
            return human_share(number);
        case Unit::rate:
            return human_rate(number);
        case Unit::rank:
            return fmt::format("{:.0f}", number);
        case Unit::number:
            return column.decimals < 0 ? human_number(number) : fixed(number, column.decimals);
        case Unit::moment:
            return human_moment(std::get<std::uint64_t>(value));
    }
    return "";
}

}  // namespace

std::vector<std::string> cells_of(const Table& table, std::size_t column, bool utf8) {
    const Column& about = table.columns[column];
    std::vector<std::string> cells;
    if (about.draw != Draw::nothing) return std::vector<std::string>(table.rows.size());
    if (about.unit == Unit::time && about.same_unit) {
        const TimeScale scale(largest_compared(table));
        for (const auto& row : table.rows)
            cells.push_back(is_number(row[column]) ? scale.print(number_of(row[column]))
                                                   : print(row[column], about, utf8));
        return cells;
    }
    for (const auto& row : table.rows) cells.push_back(print(row[column], about, utf8));
    return cells;
}

bool says_something(const Table& table, std::size_t column) {
    return table.rows.empty() || std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
               const auto* text = std::get_if<std::string>(&row[column]);
               return text ? !text->empty() : !std::holds_alternative<std::monostate>(row[column]);
           });
}

bool is_right_aligned(const Column& column) {
    return column.draw == Draw::nothing && column.unit != Unit::text && column.unit != Unit::moment;
}

}  // namespace mpiprof::report
