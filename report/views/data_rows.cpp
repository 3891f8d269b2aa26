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
        DataRows data{.names = {"weight", "text", "rule", "because"}, .rows = {}};
        for (const Remarks::Remark& remark : remarks.remarks)
            data.rows.push_back({std::string(remark.is_serious ? "!" : "."), remark.text, remark.rule, remark.because});
        return data;
    }
};

}  // namespace

DataRows data_rows_of(const Table& table) { return std::visit(Rows{table}, table.picture); }

}  // namespace mpiprof::report
