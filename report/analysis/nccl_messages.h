// Messages that ranks have enqueued with NCCL for each other and that do not fit: one side has more of them, or the
// last one lies elsewhere among the collectives of the communicator. For the section `hang`.
#pragma once

#include <optional>

#include "report/analysis/hang.h"

namespace mpiprof::report {

// What `sender` has enqueued to `receiver`, and that one from it. Both have called nothing since.
struct UnevenMessages {
    std::uint32_t group = 0;  // index into Job::groups
    std::uint32_t sender = 0, receiver = 0;
    EnqueuedWith::Flow sent{}, received{};
    std::uint64_t for_ns = 0;
};

// No proof that they hang: NCCL may have room for what nobody has received yet, and whoever is behind may still come.
// Receives of what was not sent come before what was not received.
std::optional<UnevenMessages> uneven_messages_of(const Job& job);

// The same where the sender will do nothing any more: the GPU of the receiver waits for ever.
std::optional<Hang> never_sent(const Job& job);

}  // namespace mpiprof::report
