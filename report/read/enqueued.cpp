// The newest collectives of each communicator of NCCL's. How many there were says the communicator: the one behind
// these was being written, or is the oldest.
#include "report/read/reading.h"

#include <algorithm>
#include <cstddef>

namespace mpiprof::report {
namespace {

// Shorter ones would make more of a file than it holds.
constexpr std::size_t least_record = offsetof(format::EnqueuedCollective, reserved);

KeptCall call_of(Reading& r, const format::EnqueuedCollective& record, std::uint64_t number) {
    return {.number = number,
            .begin_ns = record.when == 0 ? 0 : moment_of(r, record.when),
            .call = r.calls.of(static_cast<std::uint16_t>(record.call)),
            .site = record.site,
            .root = record.root,
            .given = {.count = record.detail >> 16,
                      .type = static_cast<std::uint8_t>(record.detail >> 8),
                      .reduction = static_cast<std::uint8_t>(record.detail)}};
}

}  // namespace

void read_enqueued(Reading& r) {
    for (const format::Table& table : r.tables.all()) {
        if (table.type != format::TableType::enqueued || table.record_size < least_record) continue;
        if (table.communicator == 0 || table.communicator >= r.profile.communicators.size() || table.used == 0)
            continue;
        const std::uint64_t collectives = r.profile.communicators[table.communicator].collectives;
        const std::uint64_t kept = std::min<std::uint64_t>(collectives, table.used - 1);
        KeptCalls enqueued{.communicator = static_cast<std::uint16_t>(table.communicator), .calls = {}};
        for (std::uint64_t number = collectives - kept; number < collectives; ++number) {
            const auto at = static_cast<std::uint32_t>(number % table.used);
            const auto record = r.tables.record<format::EnqueuedCollective>(table, at);
            enqueued.calls.push_back(call_of(r, record, number));
        }
        if (!enqueued.calls.empty()) r.profile.enqueued.push_back(std::move(enqueued));
    }
}

}  // namespace mpiprof::report
