// Tables as JSON: {"schema": 1, "section": ..., <table>: [{<column>: value}]}; a headline is one object.
#include <fmt/format.h>

#include <cmath>

#include "report/model/visible.h"
#include "report/views/data_rows.h"
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

std::string object_of(const Headline& headline) {
    std::string out = "{";
    for (const Headline::Item& item : headline.items) {
        if (out.size() > 1) out += ", ";
        out += json_string(item.key) + ": " + std::visit(Print{}, item.value);
    }
    return out + "}";
}

std::string array_of(const DataRows& data) {
    std::string out = "[";
    for (const auto& row : data.rows) {
        out += out.size() > 1 ? ",\n  {" : "\n  {";
        for (std::size_t i = 0; i < row.size(); ++i)
            out += (i ? ", " : "") + json_string(data.names[i]) + ": " + std::visit(Print{}, row[i]);
        out += '}';
    }
    return out + ']';
}

}  // namespace

std::string show_json(const Answer& answer, const Screen&) {
    std::string out = "{\"schema\": 1, \"section\": " + json_string(answer.section);
    for (const Table& table : answer.tables) {
        const auto* headline = std::get_if<Headline>(&table.picture);
        out +=
            ",\n " + json_string(table.id) + ": " + (headline ? object_of(*headline) : array_of(data_rows_of(table)));
    }
    return out + "}\n";
}

}  // namespace mpiprof::report
