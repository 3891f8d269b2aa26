// Where calls were made: modules, sites and frames of a profile -> Profile. Safe for any bytes. Used by the profile
// reader only, after the threads and cells, which refer to them.
#pragma once

#include "report/model/profile.h"
#include "report/read/tables.h"

namespace mpiprof::report {

void read_modules(const Tables& tables, Profile& profile);
void read_sites(const Tables& tables, Profile& profile);

}  // namespace mpiprof::report
