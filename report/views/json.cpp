// Tables as JSON: {"schema": 1, "section": ..., <table>: [{<column>: value}]}; a headline is one object.
#include <fmt/format.h>

#include <cmath>

#include "report/model/visible.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

struct Print {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(std::uint64_t count) const { return fmt::format("{}", count); }
    std::string operator()(double number) const { return std::isnan(number) ? "null" : fmt::format("{:.10g}", number); }
    std::string operator()(const std::string& text) const { return json_string(text); }
    std::string operator()(const Series& series) const {
        std::string out = "[";
        for (const double number : series) {
            if (out.size() > 1) out += ", ";
            out += (*this)(number);
        }
        return out + "]";
    }
};

// Rows of a headline are (line, key, value, text).
std::string object_of(const Table& table) {
    std::string out = "{";
    for (const auto& row : table.rows) {
        if (out.size() > 1) out += ", ";
        out += std::visit(Print{}, row[1]) + ": " + std::visit(Print{}, row[2]);
    }
    return out + "}";
}

std::string row_of(const Table& table, const std::vector<Value>& row) {
    std::string out = "{";
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (table.columns[i].only_screen) continue;
        if (out.size() > 1) out += ", ";
        out += json_string(table.columns[i].id) + ": " + std::visit(Print{}, row[i]);
    }
    return out + "}";
}

}  // namespace

std::string show_json(const Answer& answer, const Screen&) {
    std::string out = "{\"schema\": 1, \"section\": " + json_string(answer.section);
    for (const Table& table : answer.tables) {
        out += ",\n " + json_string(table.id) + ": ";
        if (table.picture == Picture::headline) {
            out += object_of(table);
            continue;
        }
        out += '[';
        for (std::size_t i = 0; i < table.rows.size(); ++i)
            out += (i ? ",\n  " : "\n  ") + row_of(table, table.rows[i]);
        out += ']';
    }
    return out + "}\n";
}

}  // namespace mpiprof::report
