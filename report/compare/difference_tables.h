// A difference in tables and sentences: what `mpiprof-report diff` shows, and what it calls the two sides. The
// sentences are in difference_words.cpp.
#pragma once

#include <string>
#include <vector>

#include "report/compare/difference.h"
#include "report/model/table.h"

namespace mpiprof::report {

struct DifferenceQuestion {
    std::size_t top = 10;  // lines of each list
    bool is_for_screen = true;
};

std::vector<Table> difference_tables(const Side& a, const Side& b, const RunDifference& difference,
                                     const DifferenceQuestion& question);

// "after is slower than before by 9.8%; with 95% confidence ...", and why nothing more certain can be said where it
// cannot.
std::string verdict_text(const TestedTime& tested, const std::string& a, const std::string& b);

// What all runs of a side are called; else what was said of all of them and is not so of the other side (its labels);
// else what their names begin with, where that is a word; else A and B. Never the same for both.
void name_sides(Side& a, Side& b);

// What makes two sides hard to compare, and what follows.
std::vector<std::string> cautions_of(const Side& a, const Side& b, const RunDifference& difference);

// Every run has reached its end, and each of its ranks has a profile.
bool are_whole(const Side& side);

// "time from MPI_Init to MPI_Finalize"
std::string time_name(const TimeChoice& time);

// "+9.8%"
std::string signed_share(double share);

}  // namespace mpiprof::report
