// Tables as JSON: {"schema": 1, "section": ..., <table>: [{<column>: value}]}; a headline is one object.
#include <fmt/format.h>

#include <cmath>

#include "report/model/json_writer.h"
#include "report/views/data_rows.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

std::string number(double value) { return std::isnan(value) ? "null" : fmt::format("{:.10g}", value); }

std::string list(const Series& series) {
    std::string out = "[";
    for (const double value : series) out += (out.size() > 1 ? ", " : "") + number(value);
    return out + "]";
}

struct Field {
    JsonWriter& json;
    std::string_view key;

    void operator()(std::monostate) const { json.raw_field(key, "null"); }
    void operator()(std::uint64_t count) const { json.field(key, count); }
    void operator()(double value) const { json.raw_field(key, number(value)); }
    void operator()(const std::string& text) const { json.field(key, text); }
    void operator()(const Series& series) const { json.raw_field(key, list(series)); }
};

void write_table(JsonWriter& json, const Table& table) {
    json.break_line();
    if (const auto* headline = std::get_if<Headline>(&table.picture)) {
        json.object(table.id, [&] {
            for (const Headline::Item& item : headline->items) std::visit(Field{json, item.key}, item.value);
        });
        return;
    }
    const DataRows data = data_rows_of(table);
    const auto write_row = [&](const std::vector<Value>& row) {
        json.item([&] {
            for (std::size_t i = 0; i < row.size(); ++i) std::visit(Field{json, data.names[i]}, row[i]);
        });
    };
    json.array(table.id, data.rows, write_row, "\n  ");
}

}  // namespace

std::string show_json(const Answer& answer, const Screen&) {
    std::string out;
    const Sink sink = [&](std::string_view text) { out += text; };
    {
        JsonWriter json(sink);
        json.object([&] {
            json.field("schema", 1);
            json.field("section", answer.section);
            for (const Table& table : answer.tables) write_table(json, table);
        });
    }
    return out + "\n";
}

}  // namespace mpiprof::report
