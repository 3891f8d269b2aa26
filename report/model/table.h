// Table: the answer of a section. Typed columns with units, rows of values, a title and notes, and hints for a
// picture. Sections make Tables, views show them; a Table holds numbers in base units (ns, bytes, 0..1), the view
// decides how they look.
#pragma once

#include <cstdint>
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
};

enum class Draw : std::uint8_t { nothing, bar, sparkline };

struct Column {
    std::string id;     // name in csv and json, with its unit: "time_ns"
    std::string title;  // on screens: "TIME"; empty = none
    Unit unit = Unit::text;
    Draw draw = Draw::nothing;  // bar: the value is drawn, not written (full width = the column's largest)
    int drop = 0;               // 0 = always shown; on a narrow screen the largest is left out first
    bool only_data = false;     // in csv and json, never on screens
};

using Series = std::vector<double>;
using Value = std::variant<std::monostate, std::uint64_t, double, std::string, Series>;

// How a screen shows the rows.
enum class Picture : std::uint8_t {
    none,         // a table
    headline,     // (key, text): texts joined to lines
    stacked_bar,  // (label, share): one bar and its legend
    findings,     // (weight, text, name): paragraphs
    facts,        // (key, text): aligned pairs
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
