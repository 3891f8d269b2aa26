// Words of the command line as values. For arguments.cpp, and what diff takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/compare/run.h"

namespace mpiprof::report {

// "0,5-7" as numbers; empty on anything else.
std::vector<std::uint32_t> ranks_of(const std::string& text);

// "mpi", "region:solve"; empty on anything else.
std::optional<TimeChoice> time_of(const std::string& text);

// "5%" or "5" as 0.05.
std::optional<double> share_of(std::string text);

// How many letters to add, drop or change.
std::size_t edits_between(std::string_view from, std::string_view to);

}  // namespace mpiprof::report
