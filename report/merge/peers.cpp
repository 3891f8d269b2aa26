// Each rank's records become pairs, what it sent and what it received; equal pairs are put together in the end.
#include "report/merge/peers.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace mpiprof::report {
namespace {

auto key(const PeerPair& pair) { return std::make_tuple(pair.from, pair.to, pair.kind); }

}  // namespace

void PeersPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.peers.empty() && profile.vague_peers == VaguePeers{}) return;
    is_recorded_ = true;
    VaguePeers vague = profile.vague_peers;
    std::vector<Peer> peers = profile.peers;
    const std::uint32_t most = most_of_rank(profile.size, most_pairs_);
    if (peers.size() > most) {
        const auto weight = [](const Peer& p) {
            return std::make_tuple(~(p.sent.bytes + p.received.bytes), ~(p.sent.messages + p.received.messages), p.rank,
                                   p.kind);
        };
        std::nth_element(peers.begin(), peers.begin() + most, peers.end(),
                         [&](const Peer& a, const Peer& b) { return weight(a) < weight(b); });
        for (auto left_out = peers.begin() + most; left_out != peers.end(); ++left_out) {
            vague.sent_others += left_out->sent;
            vague.received_others += left_out->received;
        }
        peers.resize(most);
        cut_to_ = most;
    }
    for (const Peer& peer : peers) {
        if (peer.sent.messages != 0)
            pairs_.push_back(
                {.from = profile.rank, .to = peer.rank, .kind = peer.kind, .sent = peer.sent, .received = {}});
        if (peer.received.messages != 0)
            pairs_.push_back(
                {.from = peer.rank, .to = profile.rank, .kind = peer.kind, .sent = {}, .received = peer.received});
    }
    vague_ += vague;
    if (vague.hides_sent() || vague.hides_received())
        vague_ranks_.push_back(
            {.rank = profile.rank, .hides_sent = vague.hides_sent(), .hides_received = vague.hides_received()});
}

void PeersPart::absorb(PeersPart&& other) {
    is_recorded_ |= other.is_recorded_;
    cut_to_ = std::max(cut_to_, other.cut_to_);
    pairs_.insert(pairs_.end(), other.pairs_.begin(), other.pairs_.end());
    other.pairs_ = {};
    vague_ += other.vague_;
    vague_ranks_.insert(vague_ranks_.end(), other.vague_ranks_.begin(), other.vague_ranks_.end());
}

void PeersPart::finish(Finishing& end) {
    std::sort(pairs_.begin(), pairs_.end(), [](const PeerPair& a, const PeerPair& b) { return key(a) < key(b); });
    std::size_t last = 0;
    for (std::size_t i = 1; i < pairs_.size(); ++i) {
        if (key(pairs_[i]) == key(pairs_[last])) {
            pairs_[last].sent += pairs_[i].sent;
            pairs_[last].received += pairs_[i].received;
        } else {
            pairs_[++last] = pairs_[i];
        }
    }
    if (!pairs_.empty()) pairs_.resize(last + 1);
    std::sort(vague_ranks_.begin(), vague_ranks_.end(),
              [](const VagueRank& a, const VagueRank& b) { return a.rank < b.rank; });
    end.job.peers = {.is_recorded = is_recorded_,
                     .pairs = std::exchange(pairs_, {}),
                     .vague = vague_,
                     .vague_ranks = std::exchange(vague_ranks_, {}),
                     .most_of_rank = cut_to_};
}

}  // namespace mpiprof::report
