// Messages that go one way through the ranks, from a first one to a last one: a pipeline, if its last rank is also the
// one that all wait for in the collective behind it. For the rules about late partners.
#pragma once

#include "report/model/job.h"

namespace mpiprof::report {

// Of three ranks at least, and the collectives wait for the last of them for a good part of all that is waited:
// `waiting_ns`, in receives and in collectives.
bool is_pipeline(const Job& job, double waiting_ns);

}  // namespace mpiprof::report
