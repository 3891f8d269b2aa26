// One rank's cells added up over threads, sites and communicators: what tables and exports are made of.
#pragma once

#include <vector>

#include "report/model/job.h"
#include "report/model/profile.h"
#include "report/model/tally.h"

namespace mpiprof::report {

// One cell as a sum.
Sum sum_of(const Cell& cell, const Profile& profile);

// Sum::call is an index into Profile::calls. In the order in which the cells come.
std::vector<Sum> sums_of(const Profile& profile);

// `to` += `from`; of the same (call, bin, buffer).
inline void add_sum(Sum& to, const Sum& from) {
    add_tally(to, from);
    to.untimed_calls += from.untimed_calls;
    to.other_thread_calls += from.other_thread_calls;
    to.other_thread_ns += from.other_thread_ns;
    to.gpu_operations += from.gpu_operations;
    to.gpu_bytes += from.gpu_bytes;
    to.gpu_ns += from.gpu_ns;
}

// To the one of the same call and size, or in its place: `sums` are sorted by these.
void add_sum(std::vector<CommSum>& sums, const CommSum& sum);

}  // namespace mpiprof::report
