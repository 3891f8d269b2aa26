// What documents show of a table, be it Markdown or a page: all that some screen shows of it. For these views.
#pragma once

#include <string>

#include "report/model/table.h"

namespace mpiprof::report {

// Tables with headings of their own are those that somebody published, column by column: nothing more is shown of them.
bool is_published(const Table& table);

// Of the grid, drawings included.
bool is_in_document(const Table& table, std::size_t column);

const std::string& heading_of(const Column& column);

// Without what it says of columns that are not there; the others are named by their headings.
std::string text_of(const Note& note, const Table& table, bool (*is_there)(const Table& table, std::size_t column));

}  // namespace mpiprof::report
