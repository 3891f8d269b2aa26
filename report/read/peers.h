// The peer records of a profile's threads -> those of the rank. Safe for any bytes. Used by the profile reader only.
#pragma once

#include "report/model/profile.h"
#include "report/read/tables.h"
#include "report/read/tick_scale.h"

namespace mpiprof::report {

// `size` of MPI_COMM_WORLD.
void read_peers(const Tables& tables, const TickScale& scale, std::uint32_t size, Profile& profile);

}  // namespace mpiprof::report
