// The sentences that `mpiprof-report diff` says of a difference, and the words that its tables share with them.
#pragma once

#include <string>
#include <vector>

#include "report/compare/difference.h"

namespace mpiprof::report {

// "after is slower than before by 9.8%; with 95% confidence ...", and why nothing more certain can be said where it
// cannot.
std::string verdict_text(const TestedTime& tested, const std::string& a, const std::string& b);

// What makes two sides hard to compare, and what follows.
std::vector<std::string> cautions_of(const Side& a, const Side& b, const RunDifference& difference);

// Every run has reached its end, and each of its ranks has a profile.
bool are_whole(const Side& side);

// "time from MPI_Init to MPI_Finalize"
std::string time_name(const TimeChoice& time);

// "+9.8%"
std::string signed_share(double share);

}  // namespace mpiprof::report
