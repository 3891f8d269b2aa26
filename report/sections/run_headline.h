// What a report begins with below the verdict: what ran, where, with which library, how long, and whether the profile
// is whole. For the section `summary`.
#pragma once

#include "report/analysis/figures.h"
#include "report/model/table.h"
#include "report/sections/completeness.h"

namespace mpiprof::report {

Table run_headline(const Job& job, const Figures& figures, const Completeness& completeness);

}  // namespace mpiprof::report
