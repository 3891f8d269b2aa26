// Rules that name a cause of lost time, by what they look at; findings.cpp calls them. Each finding says what share of
// the run it costs, so that verdict.cpp can put the largest first.
#pragma once

#include <utility>
#include <vector>

#include "report/analysis/figures.h"
#include "report/analysis/finding.h"
#include "report/model/job.h"

namespace mpiprof::report {

// Part of a whole; 0 of nothing.
inline double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Below this share of the run nothing is worth a person's minute.
inline constexpr double worth_a_look = 0.05;

inline Finding& add(std::vector<Finding>& findings, Rule rule, bool is_serious, Evidence evidence) {
    return findings.emplace_back(Finding{.rule = rule,
                                         .is_serious = is_serious,
                                         .calls = {},
                                         .ranks = {},
                                         .nodes = {},
                                         .evidence = std::move(evidence)});
}

// Slow ranks and nodes, for which the others wait.
void find_slow_ranks(const Job& job, const Figures& figures, std::vector<Finding>& findings);
// Waiting for no rank in particular: chains, one rank that serves all, lateness that varies. After find_slow_ranks().
void find_shared_waiting(const Job& job, const Figures& figures, std::vector<Finding>& findings);
// Calls that cost time by themselves: too small, too many, files, MPI_Init.
void find_costly_calls(const Job& job, const Figures& figures, std::vector<Finding>& findings);
// Where nothing else is a cause: time in MPI, or nothing worth a look.
void find_remainder(const Job& job, const Figures& figures, std::vector<Finding>& findings);
// Ranks that waited for a processor.
void find_crowds(const Job& job, const Figures& figures, std::vector<Finding>& findings);
// Whether that may be why they come late.
void add_processors(const Job& job, evidence::Varying& e);
// A job that was killed, and one that is many: the launcher of another MPI.
void find_how_it_ended(const Job& job, const Figures& figures, std::vector<Finding>& findings);

}  // namespace mpiprof::report
