// The command line of mpiprof-report as plain values. main reads it; nothing below main knows options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/compare/run.h"
#include "report/layouts/layout.h"
#include "report/read/job_dir.h"
#include "report/sections/section.h"
#include "report/views/terminal.h"

namespace mpiprof::report {

enum class Task {
    section,
    text,
    data,
    check,
    watch,
    until_stuck,
    scaling,
    diff,
    plot,
    transfers,
    brief,
    explain,
    doctor,
    merge
};
enum class PlotKind { scaling, bandwidth, sizes, ranks, matrix, time, diff };

// Of the commands that compare several jobs.
struct CompareOptions {
    std::optional<TimeChoice> time;
    bool takes_all_launches = false;
    // scaling
    std::string unit = "rank";
    std::string su;  // core=1,gpu=2
    bool is_weak = false;
    double worth = 0.25;
    // plot
    PlotKind plot = PlotKind::scaling;
    std::string call;                    // bandwidth: of this function
    std::string plot_shows = "speedup";  // scaling: over N
    // transfers
    std::string transfers_by = "receiver";
    std::string peak;  // net=10Gbit
    bool follows = false;
    // diff
    std::vector<std::string> against;
    std::optional<double> fail_on, fail_on_point;  // 0.05 is 5 %
};

struct Options {
    Task task = Task::section;
    std::string section;  // its name
    std::vector<std::string> paths;
    Choice choice;
    Question question;
    std::string format;  // of a section's tables, or of an export
    ScreenOptions screen;
    unsigned threads = 1;
    bool is_quiet = false;
    bool is_strict = false;
    std::optional<double> wait_s;         // for the end of all ranks
    double interval_s = 2;                // watch
    bool has_interval = false;            // it was given
    std::optional<double> until_stuck_s;  // hang: looks until the job has hung for so long
    std::string stuck_command;            // hang: what is run then, for /bin/sh; empty = nothing
    CompareOptions compare;
    std::string topology;  // placement: a file; empty = none
    std::string rule;      // explain; empty = all
    // text
    bool wants_all_ranks = false;
    std::string layout;
    JobPart job_part = JobPart::with_rank_0;
    std::string output;  // a directory (text) or a file (export, merge); empty = stdout
};

}  // namespace mpiprof::report
