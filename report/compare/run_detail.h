// What else of a job two runs are compared by: from where it called, who talked to whom. For difference; scaling does
// without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/job.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {

// Calls from one function, or from one place where functions are not known: lines move when a program is changed.
struct RunSite {
    std::string call;
    std::string place;
    std::uint64_t calls = 0;
    std::uint64_t time_ns = 0;
};

struct RunPair {
    std::uint32_t from = 0, to = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

struct RunDetail {
    std::string source;               // the same of the same launch in the same place
    std::string program;              // the name of its file
    std::vector<RunSite> sites;       // by call, place
    std::vector<RunPair> pairs;       // by from, to; the largest, where there are very many
    std::uint64_t pair_bytes = 0;     // of all
    std::uint64_t between_nodes = 0;  // of these
};

RunDetail detail_of(const Job& job, Symbols& symbols);

}  // namespace mpiprof::report
