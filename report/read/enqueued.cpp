// The newest collectives of each communicator of NCCL's, of which the one behind the last was being written, or is the
// oldest: how many there were says the communicator. And the messages with each of its ranks.
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

// Whoever exchanges messages with all members of a large communicator gives nobody a line to read.
void read_enqueued_peers(Reading& r) {
    constexpr std::size_t most_of_communicator = 128;
    for (const format::Table& table : r.tables.all()) {
        if (table.type != format::TableType::enqueued_peers || table.record_size < sizeof(format::EnqueuedPeer))
            continue;
        if (table.communicator == 0 || table.communicator >= r.profile.communicators.size()) continue;
        std::vector<EnqueuedPeer> peers;
        for (std::uint32_t peer = 0; peer < table.used && peers.size() <= most_of_communicator; ++peer) {
            const auto record = r.tables.record<format::EnqueuedPeer>(table, peer);
            if (record.sent + record.received == 0) continue;
            peers.push_back({.communicator = static_cast<std::uint16_t>(table.communicator),
                             .peer = peer,
                             .sent = {record.sent, record.sent_after, record.sent_from},
                             .received = {record.received, record.received_after, record.received_from}});
        }
        if (peers.size() <= most_of_communicator)
            r.profile.enqueued_peers.insert(r.profile.enqueued_peers.end(), peers.begin(), peers.end());
    }
}

}  // namespace mpiprof::report
