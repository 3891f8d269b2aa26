// `mpiprof-report scaling`: times of one program at several sizes, from jobs, pairs or files of them.
#pragma once

#include "report/commands/arguments.h"
#include "report/commands/options.h"
#include "report/compare/scaling_tables.h"

namespace mpiprof::report {

struct ScalingOptions {
    std::optional<TimeChoice> time;  // taken by Arguments::compared
    std::string unit = "rank";
    std::string su;  // core=1,gpu=2
    bool is_weak = false;
    std::optional<double> worth;
    void take(Arguments& arguments);
};

// What scaling shows, for plot, too. The exit code: 2 where a word is no operand or a run has no such time, 3 where a
// directory has no profile.
int read_scaling(const Options& options, const ScalingOptions& own, ScalingReport& report);

}  // namespace mpiprof::report
