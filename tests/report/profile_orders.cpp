#include "tests/report/profile_orders.h"

#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/format/size_bins.h"
#include "tests/report/profile_header.h"

namespace mpiprof::test {
namespace {

TableData& table_of(Tables& tables, TableType type, std::size_t record_size, std::uint32_t communicator) {
    TableData& data = tables.of(type, ~communicator, record_size);
    data.table.thread = 0;
    data.table.communicator = communicator;
    return data;
}

std::uint64_t detail_of(const EnqueuedSpec& enqueued) {
    const bool reduces = enqueued.call.find("Reduce") != std::string::npos;
    return format::collective_detail(enqueued.count, enqueued.type, reduces ? format::reduction_of(enqueued.op) : 0);
}

}  // namespace

void add_kept_calls(const ProfileSpec& profile, Tables& tables, const CallIds& calls, const std::vector<KeptSpec>& kept,
                    std::uint32_t communicator) {
    TableData& data = table_of(tables, TableType::arrivals, sizeof(format::Arrival), communicator);
    for (const KeptSpec& spec : kept) {
        const format::Arrival record{
            .number_and_call = (spec.number + 1) << 16 | calls.at(spec.call),
            .begin = anchor_of(profile, spec.begin_ns).ticks,
            .ticks_and_kind = ticks_of(profile, spec.time_ns) << 16 | std::uint64_t{format::size_bin(spec.bytes)} << 8,
            .site = spec.site,
            .root = spec.root};
        append(data.bytes, record, data.table.record_size);
        ++data.table.used;
    }
}

void count_enqueued(format::Communicator& communicator, const EnqueuedSpec& enqueued) {
    communicator.collectives += 1;
    communicator.order =
        format::order_after(communicator.order, format::order_word(enqueued.call, enqueued.root) + detail_of(enqueued));
}

void add_enqueued_peers(Tables& tables, const std::vector<format::EnqueuedPeer>& peers, std::uint32_t communicator) {
    TableData& data = table_of(tables, TableType::enqueued_peers, sizeof(format::EnqueuedPeer), communicator);
    for (const format::EnqueuedPeer& peer : peers) append(data.bytes, peer, data.table.record_size);
    data.table.used = static_cast<std::uint32_t>(peers.size());
}

void add_enqueued(const ProfileSpec& profile, Tables& tables, const CallIds& calls,
                  const std::vector<EnqueuedSpec>& enqueued, std::uint32_t communicator) {
    std::vector<format::EnqueuedCollective> kept(format::enqueued_kept);
    for (std::size_t i = 0; i < enqueued.size(); ++i) {
        const EnqueuedSpec& spec = enqueued[i];
        kept[i % kept.size()] = {
            .when = spec.at_us == 0 ? 0 : anchor_of(profile, static_cast<std::int64_t>(spec.at_us) * 1000).ticks,
            .detail = detail_of(spec),
            .site = spec.site,
            .root = spec.root,
            .call = calls.at(spec.call),
            .reserved = 0};
    }
    TableData& data = table_of(tables, TableType::enqueued, sizeof(format::EnqueuedCollective), communicator);
    for (const format::EnqueuedCollective& record : kept) append(data.bytes, record, data.table.record_size);
    data.table.used = static_cast<std::uint32_t>(kept.size());
}

}  // namespace mpiprof::test
