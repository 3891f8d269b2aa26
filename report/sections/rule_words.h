// What each rule of the report means: for `mpiprof-report explain`, which knows no job. One row for each rule.
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/finding.h"

namespace mpiprof::report {

struct RuleText {
    Rule rule;
    std::string_view means;     // one sentence
    std::string_view evidence;  // what it rests on, and from where on it speaks
    std::string_view check;     // how to see for oneself, and what to do
};

const RuleText& text_of(Rule rule);

}  // namespace mpiprof::report
