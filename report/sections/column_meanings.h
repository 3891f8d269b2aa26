// What the columns of screens mean: their headings and descriptions as the published schema has them
// (share/schemas/section-2.schema.json), and those of columns that only screens have. For --help and `explain`.
#pragma once

#include <span>
#include <string_view>

#include "report/model/table.h"

namespace mpiprof::report {

struct ColumnMeaning {
    std::string_view section, table;
    std::string_view id;     // in csv and json; of a column that only screens have, too
    std::string_view title;  // its heading; several, where it depends on the job: "IN MPI|IN NCCL"; empty: none has it
    std::string_view text;
};

std::span<const ColumnMeaning> column_meanings();

std::string_view first_title(const ColumnMeaning& meaning);
// Whether `meaning` is about this heading.
bool has_title(const ColumnMeaning& meaning, std::string_view title);
bool is_explained(std::string_view section, std::string_view table, const Column& column);

}  // namespace mpiprof::report
