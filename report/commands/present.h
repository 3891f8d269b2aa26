// The tables of an answer on stdout, in the view that was asked for. For the commands that show tables.
#pragma once

#include <string_view>
#include <vector>

#include "report/commands/options.h"
#include "report/model/table.h"
#include "report/views/view.h"

namespace mpiprof::report {

// The first one where none was asked for.
const View& view_of(const Options& options);

// The exit code: 1 where not all of it can be written.
int present(const Options& options, std::string_view name, const std::vector<Table>& tables);

}  // namespace mpiprof::report
