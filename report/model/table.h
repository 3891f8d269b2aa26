// Table: the answer of a section. Typed columns with units, rows of values, a title and notes, and hints for a
// picture. Sections make Tables, views show them; a Table holds numbers in base units (ns, bytes, 0..1), the view
// decides how they look.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mpiprof::report {

enum class Unit : std::uint8_t {
    text,
    count,   // 7,428
    bytes,   // 4.5 MiB
    time,    // ns: 767 us
    share,   // 0..1: 36.6%
    rate,    // bytes/s: 253 MB/s
    rank,    // 12
    number,  // 8.5
    moment,  // ns since 1970: 2026-11-20 10:42:40
};

enum class Draw : std::uint8_t {
    nothing,
    bar,               // full width is the column's largest, or 10 %
    full_bar,          // full width is 1
    sparkline,         // of a Series, from its own smallest to its largest value
    shared_sparkline,  // the same from the column's smallest to its largest
    heat,              // of a Series, one shade each, from 0 to the column's largest value: rows form a map
    log_heat,          // the same, from the column's smallest value above 0 to its largest, in equal ratios
};

struct Column {
    std::string id;     // name in csv and json, with its unit: "time_ns"
    std::string title;  // on screens: "TIME"; empty = none
    Unit unit = Unit::text;
    Draw draw = Draw::nothing;  // the value is drawn, not written
    int drop = 0;               // 0 = always shown; else shown if there is room, the lowest first
    bool same_unit = false;     // a time: all such columns of a table are in one unit, to be compared
    bool only_data = false;     // in csv and json, never on screens
    bool only_screen = false;   // never in csv and json
    bool is_place = false;      // "file:line scope::function": the scopes are what is cut first
};

using Series = std::vector<double>;
inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();  // in a Series that is drawn as heat
using Value = std::variant<std::monostate, std::uint64_t, double, std::string, Series>;

// How a screen shows the rows.
enum class Picture : std::uint8_t {
    none,         // a table
    headline,     // (line, key, value, text): the texts of a line side by side; in json an object of key: value
    stacked_bar,  // (label, share): one bar and its legend
    findings,     // (weight, text, rule): paragraphs
};

struct Table {
    std::string id;     // name in json: "top"
    std::string title;  // a heading line; may be empty
    Picture picture = Picture::none;
    std::vector<Column> columns;
    std::vector<std::vector<Value>> rows;
    std::vector<std::string> notes;  // below the table
};

}  // namespace mpiprof::report
