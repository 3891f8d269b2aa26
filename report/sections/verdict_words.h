// The verdict in words: one plain sentence that names the cause and the culprit. For the first line of the summary and
// for
// `--brief`; what a finding rests on is in finding_words.h.
#pragma once

#include <string>

#include "report/analysis/verdict.h"

namespace mpiprof::report {

std::string sentence_of(const Finding& verdict, const Job& job);

// "slow-rank: ranks 4 and 5 on mph3, 27.1% of the run", where there is a line for each of several launches.
std::string short_sentence_of(const Finding& verdict, const Job& job);

}  // namespace mpiprof::report
