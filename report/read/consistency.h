// Whether a profile's sums agree with each other: what `check` looks at once a file can be read at all. Of a finalized
// profile they all do. While a rank runs, and where it was killed, a call in flight may stand in one sum and not yet in
// another.
#pragma once

#include <string>
#include <vector>

#include "report/model/profile.h"

namespace mpiprof::report {

struct Disagreement {
    std::string what;              // "MPI_Send up to 8 B: 13 calls, 12 durations"
    bool may_be_in_flight = true;  // so little that calls in flight explain it
};

std::vector<Disagreement> disagreements(const Profile& profile);

}  // namespace mpiprof::report
