// The part `peers`: what ranks exchanged with each other, over some of a job's ranks. Each rank's records become pairs,
// what it sent and what it received; equal pairs are put together in the end. What it holds is bounded: of each rank
// the largest peers alone, as many as the size of the job allows, which does not depend on any order; the others are
// added up.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/peers.h"
#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

class PeersPart {
  public:
    // Of a job; a rank of the largest ones still has `fewest_of_rank`.
    explicit PeersPart(std::uint32_t most_pairs) : most_pairs_(most_pairs) {}

    void add(const RankProfile& from);
    void absorb(PeersPart&& other);
    void finish(Finishing& end);

  private:
    static constexpr std::uint32_t fewest_of_rank = 32;
    std::uint32_t most_of_rank(std::uint32_t size) const {
        return std::max(fewest_of_rank, size != 0 ? most_pairs_ / size : most_pairs_);
    }

    std::uint32_t most_pairs_;
    bool is_recorded_ = false;
    std::uint32_t cut_to_ = 0;
    std::vector<PeerPair> pairs_;  // as they came
    VaguePeers vague_;
    std::vector<VagueRank> vague_ranks_;
};

void PeersPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.peers.empty() && profile.vague_peers == VaguePeers{}) return;
    is_recorded_ = true;
    VaguePeers vague = profile.vague_peers;
    std::vector<Peer> peers = profile.peers;
    const std::uint32_t most = most_of_rank(profile.size);
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
            pairs_.push_back({.from = profile.rank, .to = peer.rank, .kind = peer.kind, .sent = peer.sent});
        if (peer.received.messages != 0)
            pairs_.push_back({.from = peer.rank, .to = profile.rank, .kind = peer.kind, .received = peer.received});
    }
    vague_ += vague;
    if (vague.hides_sent() || vague.hides_received())
        vague_ranks_.push_back(
            {.rank = profile.rank, .hides_sent = vague.hides_sent(), .hides_received = vague.hides_received()});
}

void PeersPart::absorb(PeersPart&& other) {
    is_recorded_ |= other.is_recorded_;
    cut_to_ = std::max(cut_to_, other.cut_to_);
    append(pairs_, std::exchange(other.pairs_, {}));
    vague_ += other.vague_;
    append(vague_ranks_, std::move(other.vague_ranks_));
}

void PeersPart::finish(Finishing& end) {
    const auto before = ordered_by(&PeerPair::from, &PeerPair::to, &PeerPair::kind);
    std::sort(pairs_.begin(), pairs_.end(), before);
    std::size_t last = 0;
    for (std::size_t i = 1; i < pairs_.size(); ++i) {
        if (before(pairs_[last], pairs_[i])) {
            pairs_[++last] = pairs_[i];
        } else {
            pairs_[last].sent += pairs_[i].sent;
            pairs_[last].received += pairs_[i].received;
        }
    }
    if (!pairs_.empty()) pairs_.resize(last + 1);
    sort_by(vague_ranks_, &VagueRank::rank);
    end.job.peers = {.is_recorded = is_recorded_,
                     .pairs = std::exchange(pairs_, {}),
                     .vague = vague_,
                     .vague_ranks = std::exchange(vague_ranks_, {}),
                     .most_of_rank = cut_to_};
}

}  // namespace

std::unique_ptr<MergePart> peers_part(std::uint32_t most_pairs) {
    return std::make_unique<PartOf<PeersPart>>(most_pairs);
}
std::unique_ptr<MergePart> peers_part() { return peers_part(1u << 20); }

}  // namespace mpiprof::report
