// Scaling in tables and words: what `mpiprof-report scaling` shows. The command hands over what it read. scaling_tables
// has the times and what follows from them, scaling_calls where they go, scaling_cautions what else the runs differ in.
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

// Where the time of a rank goes at each size, and which calls stop scaling. None where the series is of bare times.
std::vector<Table> scaling_call_tables(const ScalingSeries& series);

struct ComparedSeries {
    const std::string& name;
    const std::vector<SizedRun>& runs;
    bool is_weak;
    TimeChoice::Kind time;  // whose scaling it is
    const UnitWords& unit;
};

// What the runs of a series differ in that were meant to differ in their size alone, a sentence each.
std::vector<std::string> cautions_of(const ComparedSeries& series);

// The files of their programs, without directories, each once: the same program in another directory is the same, and
// mpitrace's text names none.
std::vector<std::string> programs_of(const std::vector<SizedRun>& runs);

}  // namespace mpiprof::report
