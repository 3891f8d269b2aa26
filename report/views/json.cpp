// Tables as JSON: {"schema": 2, "section": ..., <table>: [{<column>: value}]}; a headline is one object.
#include "report/model/json_value.h"
#include "report/views/data_rows.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

void write_table(JsonWriter& json, const Table& table) {
    json.break_line();
    if (const auto* headline = std::get_if<Headline>(&table.picture)) {
        json.object(table.id, [&] {
            for (const Headline::Item& item : headline->items) write_value(json, item.key, item.value);
        });
        return;
    }
    const DataRows data = data_rows_of(table);
    const auto write_row = [&](const std::vector<Value>& row) {
        json.item([&] {
            for (std::size_t i = 0; i < row.size(); ++i) write_value(json, data.names[i], row[i]);
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
            json.field("schema", section_schema);
            json.field("section", answer.section);
            for (const Table& table : answer.tables) write_table(json, table);
        });
    }
    return out + "\n";
}

}  // namespace mpiprof::report
