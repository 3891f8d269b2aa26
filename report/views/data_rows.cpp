// The names here are promises to scripts, like those of columns.
#include "report/views/data_rows.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

DataRows rows_of_grid(const Table& table) {
    DataRows data;
    for (const Column& column : table.columns)
        if (!column.only_screen) data.names.push_back(column.id);
    for (const auto& row : table.rows) {
        std::vector<Value>& values = data.rows.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i)
            if (!table.columns[i].only_screen) values.push_back(row[i]);
    }
    return data;
}

struct Rows {
    const Table& table;

    DataRows operator()(const Grid&) const { return rows_of_grid(table); }
    DataRows operator()(const Headline& headline) const {
        DataRows data{.names = {"key", "value"}, .rows = {}};
        for (const Headline::Item& item : headline.items) data.rows.push_back({item.key, item.value});
        return data;
    }
    DataRows operator()(const StackedBar& bar) const {
        DataRows data{.names = {bar.label_id, bar.share_id}, .rows = {}};
        for (const StackedBar::Segment& segment : bar.segments) data.rows.push_back({segment.label, segment.share});
        return data;
    }
    DataRows operator()(const Remarks& remarks) const {
        DataRows data{.names = {"severity", "rule", "because", "text"}, .rows = {}};
        // Files and notes among findings have none of their fields.
        const std::vector<std::pair<std::string_view, Value>>* most = nullptr;
        for (const Remarks::Remark& remark : remarks.remarks)
            if (!most || remark.data.size() > most->size()) most = &remark.data;
        if (most)
            for (const auto& [name, value] : *most) data.names.emplace_back(name);
        for (const Remarks::Remark& remark : remarks.remarks) {
            std::vector<Value>& row = data.rows.emplace_back(
                std::vector<Value>{std::string(severity_of(remark.is_serious)), remark.rule,
                                   remark.because.empty() ? Value() : Value(remark.because), remark.text});
            for (const auto& [name, value] : remark.data) row.push_back(value);
            row.resize(data.names.size());
        }
        return data;
    }
};

}  // namespace

DataRows data_rows_of(const Table& table) { return std::visit(Rows{table}, table.picture); }

}  // namespace mpiprof::report
