// The figures of Usage as people and programs are given them: the section `ranks` and the json export print what stands
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "report/model/table.h"
#include "report/model/usage.h"

namespace mpiprof::report {

struct UsageFigure {
    std::optional<std::uint64_t> (*of)(const Usage&);  // empty: not known
    std::string_view key;                              // of export -f json; empty: not there
    Column column;           // of the section `ranks`; without an id: not there. Where no rank knows it: data alone
    std::uint64_t each = 1;  // how many of the column's unit one is
    bool is_at_end = false;  // behind all other columns: where programs that count them find what came later
};

// In the order of the columns.
std::span<const UsageFigure> usage_figures();

}  // namespace mpiprof::report
