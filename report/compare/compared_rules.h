// What the words in brackets mean that diff and scaling print: for `mpiprof-report explain`, beside the rules of one
// job (sections/rule_words.h). No figure of any run is in them.
#pragma once

#include <span>
#include <string_view>

namespace mpiprof::report {

struct ComparedRule {
    std::string_view id;
    std::string_view means;     // one sentence
    std::string_view evidence;  // what it rests on
    std::string_view check;     // how to see for oneself, and what to do
};

std::span<const ComparedRule> compared_rules();

}  // namespace mpiprof::report
