// Table: the answer of a section. Typed columns with units and rows of values, or another picture; a title and notes.
// Sections make Tables, views show them; a Table holds numbers in base units (ns, bytes, 0..1), the view decides how
// they look. What is text in it is for people: nothing reads it again.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
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
    histogram,         // of a Series of counts, a bar each, from 0 to its own largest; what is not 0 is seen
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
    int decimals = -1;          // of a number: always so many; -1: as many as say something
    std::string heading = {};   // in documents, where it is not the title: "Time (s)"
};

using Series = std::vector<double>;
inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();  // in a Series that is drawn as heat

// True or false for programs, yes or no for people.
struct Yes {
    bool is = false;
    bool operator==(const Yes&) const = default;
};

// An id for programs, which does not change, and words for people, which may: {"load_balance", "load balance"}.
struct Named {
    std::string id, text;
    bool operator==(const Named&) const = default;
};

// What the following types are copied, moved and destroyed by is compiled once, in table.cpp, and not by every section.
struct Value : std::variant<std::monostate, std::uint64_t, double, std::string, Series, Yes, Named> {
    using variant::variant;
    Value();
    Value(const Value&);
    Value(Value&&) noexcept;
    Value& operator=(const Value&);
    Value& operator=(Value&&) noexcept;
    ~Value();
};

// ---- what a table is, where it is no grid of columns and rows ----

struct Grid {};  // Table::columns and Table::rows

// What ran and for how long: the texts of a line side by side, where a screen shows them; as data one object.
struct Headline {
    struct Item {
        std::uint64_t line = 0;
        std::string key;  // in csv and json
        Value value;
        std::string text;  // on a screen; empty: not there
    };
    std::vector<Item> items;
};

// One bar, and its legend.
struct StackedBar {
    struct Segment {
        Named label;
        double share = 0;
    };
    std::string label_id, share_id;  // in csv and json
    std::vector<Segment> segments;
};

// In csv and json.
constexpr std::string_view severity_of(bool is_serious) { return is_serious ? "serious" : "remark"; }

// Paragraphs, what weighs more marked.
struct Remarks {
    struct Remark {
        bool is_serious = false;
        std::string text;
        std::string rule;
        std::string because = {};                                   // the rule of the remark above that explains it
        std::vector<std::pair<std::string_view, Value>> data = {};  // further fields in csv and json
    };
    std::vector<Remark> remarks;
};

struct Picture : std::variant<Grid, Headline, StackedBar, Remarks> {
    using variant::variant;
    Picture();
    Picture(const Picture&);
    Picture(Picture&&) noexcept;
    Picture& operator=(const Picture&);
    Picture& operator=(Picture&&) noexcept;
    ~Picture();
};

// A line below a table, in parts. A part may explain a column, named by its id: then it begins with the column's title,
// and is not there where the column is not.
struct Note {
    struct Part {
        std::string text;
        std::string column = {};
    };
    std::vector<Part> parts;
    double at = -1;  // it explains a mark along what its column draws: 0..1

    Note(std::string text);
    Note(const char* text);
    Note(std::initializer_list<Part> all);
    Note(const Note&);
    Note(Note&&) noexcept;
    Note& operator=(const Note&);
    Note& operator=(Note&&) noexcept;
    ~Note();
    static Note on(std::string column, std::string text);
    static Note mark(std::string column, double at, std::string text);
    void add(Part part);
};

struct Table {
    std::string id;     // name in json: "top"
    std::string title;  // a heading line; may be empty
    std::vector<Column> columns;
    std::vector<std::vector<Value>> rows;
    std::vector<Note> notes;  // below the table
    Picture picture = {};     // a grid, else it stands for columns and rows
    bool only_data = false;   // in csv and json, never on screens

    void add(const Column& column);
    bool is_empty() const {
        struct {
            const Table& table;
            bool operator()(const Grid&) const { return table.rows.empty(); }
            bool operator()(const Headline& headline) const { return headline.items.empty(); }
            bool operator()(const StackedBar& bar) const { return bar.segments.empty(); }
            bool operator()(const Remarks& remarks) const { return remarks.remarks.empty(); }
        } const is_empty{*this};
        return std::visit(is_empty, picture);
    }
};

}  // namespace mpiprof::report
