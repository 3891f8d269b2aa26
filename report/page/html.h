// Tables as HTML. For page.cpp.
#pragma once

#include <string>

#include "report/model/table.h"

namespace mpiprof::report::page {

// The table with its title and notes; `id`: what a link to it names.
std::string html_of(const Table& table, const std::string& id);

}  // namespace mpiprof::report::page
