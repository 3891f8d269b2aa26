// What finders share. Each finding says what share of the run it costs where that is known, so that verdict.cpp can put
// the largest first.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

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

// Of whom it speaks, and of their node if they are all on one.
inline void name_ranks(Finding& finding, const Job& job, std::vector<std::uint32_t> ranks) {
    const std::uint32_t node = job.find(ranks.front())->node;
    if (std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return job.find(rank)->node == node; }))
        finding.nodes = {node};
    finding.ranks = std::move(ranks);
}

// Whether waiting for a processor may be why they come late.
void add_processors(const Job& job, evidence::Varying& e);

}  // namespace mpiprof::report
