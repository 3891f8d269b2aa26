// Scaling in tables and words: what `mpiprof-report scaling` shows. The command hands over what it read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/compare/scaling.h"
#include "report/model/table.h"

namespace mpiprof::report {

// What N counts: "rank", "ranks".
struct UnitWords {
    std::string_view one, many;
};

struct ScalingReport {
    std::vector<ScalingSeries> series;
    UnitWords unit{};
    std::string time;                   // what is measured: "the process, from its start to MPI_Finalize"
    std::string su;                     // what the relative SU is, as a formula
    std::vector<std::string> cautions;  // what the runs differ in besides their size
    bool is_for_screen = true;
    bool is_complete = true;  // every rank of every job was there to its end
};

std::vector<Table> scaling_tables(const ScalingReport& report);

// How many to ask for, in one sentence; nothing is said of sizes beyond those that were measured.
std::string advice_of(const Scaling& scaling, const UnitWords& unit);

}  // namespace mpiprof::report
