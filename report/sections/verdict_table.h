// What stands below a verdict: where in the source it happens, and what to look at or do next. For the summary,
// `--brief` and the exports.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/analysis/analysed.h"
#include "report/model/symbol.h"
#include "report/model/table.h"

namespace mpiprof::report {

// The line of the source that a finding is about.
struct SourceSite {
    std::string call;
    SourceLine source;
    double share = 0;  // of the time in the call, or of all waiting, which is an estimate
    bool is_of_waiting = false;
    std::string second{};  // another line with a good part: "MPI_Recv at halo.c:99 exchange, 31.0%"

    // "ranks wait in MPI_Waitall at halo.c:123 exchange, 61.0% of all waiting (an estimate); MPI_Recv at halo.c:99
    // exchange, 31.0%"
    std::string text() const;
};

// Empty: no line has most of it, or none is known by a name.
std::optional<SourceSite> site_of(const Finding& verdict, const Job& job);

// What a reader does now; empty where nothing is to be done.
std::string next_step(const Finding& verdict, const Job& job);

// Where the cause is the machine's, or says where time goes and not why: what comes next; null: nothing serious.
const Finding* also_said(const Analysed& all);

// "12.3% of the time of all ranks, 8.4 rank-hours"; empty where it is not known, or is all of it.
std::string cost_text(const Finding& verdict, const Analysed& all);

Table verdict_table(const Analysed& all);

}  // namespace mpiprof::report
