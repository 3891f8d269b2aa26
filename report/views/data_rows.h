// A table as rows for programs: pictures become rows, and what only screens show is left out. For csv and json.
#pragma once

#include <string>
#include <vector>

#include "report/model/table.h"

namespace mpiprof::report {

struct DataRows {
    std::vector<std::string> names;
    std::vector<std::vector<Value>> rows;
};
DataRows data_rows_of(const Table& table);

}  // namespace mpiprof::report
