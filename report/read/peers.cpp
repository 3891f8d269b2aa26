// The threads' records of one rank are put together.
#include "report/read/reading.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {

void read_peers(Reading& r) {
    const auto flow_of = [&](const format::Flow& flow) {
        return Flow{flow.messages, flow.bytes, r.scale.ns(flow.ticks)};
    };
    VaguePeers& vague = r.profile.vague_peers;
    r.tables.each<format::Peer>(format::TableType::peers, [&](const format::Peer& record, const format::Table&) {
        if (record.kind > format::PeerKind::one_sided) return;
        const Flow sent = flow_of(record.sent), received = flow_of(record.received);
        if (record.rank == format::peer_any) {
            vague.received_from_any += received;
        } else if (record.rank == format::peer_other) {
            vague.sent_others += sent;
            vague.received_others += received;
            r.profile.drops.peers += sent.messages + received.messages;
        } else if (record.rank >= r.header.size) {  // unknown, or damage
            vague.sent_unknown += sent;
            vague.received_unknown += received;
        } else {
            const auto kind = record.kind == format::PeerKind::one_sided ? PeerKind::one_sided : PeerKind::messages;
            r.profile.peers.push_back({.rank = record.rank, .kind = kind, .sent = sent, .received = received});
        }
    });
    auto& peers = r.profile.peers;
    const auto key = [](const Peer& peer) { return std::make_pair(peer.rank, peer.kind); };
    const auto less = [&](const auto& a, const auto& b) { return key(a) < key(b); };
    if (!std::is_sorted(peers.begin(), peers.end(), less)) std::sort(peers.begin(), peers.end(), less);
    std::size_t last = 0;
    for (std::size_t i = 1; i < peers.size(); ++i) {
        if (key(peers[i]) == key(peers[last])) {
            peers[last].sent += peers[i].sent;
            peers[last].received += peers[i].received;
        } else {
            peers[++last] = peers[i];
        }
    }
    if (!peers.empty()) peers.resize(last + 1);
}

}  // namespace mpiprof::report
