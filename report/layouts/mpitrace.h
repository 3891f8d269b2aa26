// In what the two layouts of mpitrace differ: words, a column and the place of two lines. mpitrace.cpp writes by it.
#pragma once

#include <cstddef>

namespace mpiprof::report {

struct MpitraceStyle {
    const char* times;
    const char* times_pcontrol;
    const char* rule_after_routines;
    const char* resident;
    const char* largest_memory;
    const char* largest_elapsed;
    const char* job_title;
    bool largest_in_every_text;  // else only above the table of all ranks
    bool has_cpu;
    bool all_switches;        // voluntary ones too
    std::size_t host_width;   // at least
    std::size_t host_margin;  // added to the longest name
};

extern const MpitraceStyle mpitrace_older;
extern const MpitraceStyle mpitrace_2025;

}  // namespace mpiprof::report
