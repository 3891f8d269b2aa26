// One rank's cells added up over threads, sites and communicators: what tables and exports are made of.
#pragma once

#include <vector>

#include "report/model/job.h"
#include "report/model/profile.h"

namespace mpiprof::report {

// Sum::call is an index into Profile::calls. In the order in which the cells come.
std::vector<Sum> sums_of(const Profile& profile);

// `to` += `from`; of the same (call, bin, buffer).
void add_sum(Sum& to, const Sum& from);

}  // namespace mpiprof::report
