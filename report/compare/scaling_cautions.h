// What the runs of a series differ in that were meant to differ in their size alone, a sentence each.
#pragma once

#include <string>
#include <vector>

#include "report/compare/scaling.h"
#include "report/compare/scaling_tables.h"

namespace mpiprof::report {

struct ComparedSeries {
    const std::string& name;
    const std::vector<SizedRun>& runs;
    bool is_weak;
    TimeChoice::Kind time;  // whose scaling it is
    const UnitWords& unit;
};

// The files of their programs, without directories, each once: the same program in another directory is the same, and
// mpitrace's text names none.
std::vector<std::string> programs_of(const std::vector<SizedRun>& runs);

std::vector<std::string> cautions_of(const ComparedSeries& series);

}  // namespace mpiprof::report
