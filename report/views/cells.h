// A column's values as the text view writes them. Times that are compared share one unit.
#pragma once

#include <string>
#include <vector>

#include "report/model/table.h"

namespace mpiprof::report {

// One text per row; "-" where a number is not known. Drawn columns stay empty: their width is not known yet.
std::vector<std::string> cells_of(const Table& table, std::size_t column, bool utf8);

// Some row has a value there; a table without rows shows all its columns.
bool says_something(const Table& table, std::size_t column);

bool is_right_aligned(const Column& column);

}  // namespace mpiprof::report
