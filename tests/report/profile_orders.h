// The collectives of a communicator that a test describes, as records. For profile_builder.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/report/profile_builder.h"
#include "tests/report/profile_gpu.h"
#include "tests/report/profile_tables.h"

namespace mpiprof::test {

// `communicator`: the index of its record.
void add_kept_calls(const ProfileSpec& profile, Tables& tables, const CallIds& calls, const std::vector<KeptSpec>& kept,
                    std::uint32_t communicator);
// What it counts, and the newest.
void count_enqueued(format::Communicator& communicator, const EnqueuedSpec& enqueued);
void add_enqueued_peers(Tables& tables, const std::vector<format::EnqueuedPeer>& peers, std::uint32_t communicator);
void add_enqueued(const ProfileSpec& profile, Tables& tables, const CallIds& calls,
                  const std::vector<EnqueuedSpec>& enqueued, std::uint32_t communicator);

}  // namespace mpiprof::test
