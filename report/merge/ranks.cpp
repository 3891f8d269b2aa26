// The part `ranks`: a short record of each of some of a job's ranks, as its profile describes it or as rank 0's
// mpitrace text does.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/merge/blocks.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/sorted.h"
#include "report/model/waiting.h"

namespace mpiprof::report {
namespace {

void add_sums(Rank& rank, const RankProfile& from) {
    for (const Sum& sum : from.sums) {
        const Call& call = from.profile.calls[sum.call];
        rank.errors += sum.errors;
        if (call.treatment == Treatment::counted) continue;
        rank.calls += sum.calls;
        rank.mpi_ns += sum.time_ns;
        if (call.family == Family::nccl) rank.nccl_ns += sum.time_ns;
        rank.mpi_other_thread_ns += sum.other_thread_ns;
        if (carries_messages(call.traffic)) rank.message_bytes += sum.bytes;
        if (call.traffic == Traffic::file) {
            rank.file_bytes += sum.bytes;
            rank.file_ns += sum.time_ns;
        } else if (!carries_messages(call.traffic) && !may_wait_for_others(call.traffic)) {
            rank.other_ns += sum.time_ns;
        }
    }
}

std::uint64_t cpu_ns_of(const Profile& profile) {
    const auto sum = [](const Usage& usage) { return usage.user_ns + usage.system_ns; };
    const std::uint64_t at_start = sum(profile.usage_at_start), at_end = sum(profile.usage);
    return at_end - std::min(at_start, at_end);
}

// Threads that use a ledger one after the other are one of them here: never two at a time.
void add_threads(Rank& rank, const Profile& profile) {
    std::vector<std::uint64_t> in_mpi(profile.threads.size());
    for (const Cell& cell : profile.cells)
        if (cell.thread < in_mpi.size() && profile.calls[cell.call].treatment != Treatment::counted)
            in_mpi[cell.thread] += cell.time_ns;
    for (std::size_t i = 0; i < in_mpi.size(); ++i) {
        rank.busiest_thread_ns = std::max(rank.busiest_thread_ns, in_mpi[i]);
        rank.other_threads += in_mpi[i] != 0 && profile.threads[i].kind != ThreadKind::main;
    }
}

class RanksPart {
  public:
    void add(const RankProfile& from);
    void absorb(RanksPart&& other);
    // Into Job::ranks, with hosts and nodes. Job::size is known by then.
    void finish(Finishing& end);

  private:
    Rank rank_of(const RankProfile& from);
    void complete_texts(std::vector<Rank>& ranks);

    Blocks<Rank> ranks_;
    Numbered<std::string> hosts_, nodes_;
    std::map<std::uint32_t, RankLine> rank_lines_;  // from mpitrace's text
};

Rank RanksPart::rank_of(const RankProfile& from) {
    const Profile& profile = from.profile;
    Rank rank{profile};
    rank.host = hosts_.index_of(profile.host);
    rank.node = nodes_.index_of(profile.node.empty() ? profile.host : profile.node);
    rank.cpu_ns = cpu_ns_of(profile);
    for (const Thread& thread : profile.threads) {
        if (!thread.in_call || profile.state == State::finalized) continue;
        const std::uint64_t since = thread.in_call_since_ns;
        // At least 1 where it is known when the call began: extend_killed() adds to that only.
        const std::uint64_t for_ns =
            since ? std::max<std::uint64_t>(1, profile.elapsed_ns - std::min(profile.elapsed_ns, since)) : 0;
        if (rank.in_call && for_ns <= rank.in_call_ns) continue;
        rank.in_call = from.calls[*thread.in_call];
        rank.in_call_ns = for_ns;
    }
    return rank;
}

void RanksPart::add(const RankProfile& from) {
    Rank& rank = ranks_.add(rank_of(from));
    add_sums(rank, from);
    add_threads(rank, from.profile);
    for (const RankLine& line : from.profile.rank_table) rank_lines_.try_emplace(line.rank, line);
}

void RanksPart::absorb(RanksPart&& other) {
    const auto hosts = hosts_.absorb(other.hosts_), nodes = nodes_.absorb(other.nodes_);
    other.ranks_.each([&](Rank& rank) {
        rank.host = hosts[rank.host];
        rank.node = nodes[rank.node];
    });
    ranks_.absorb(std::move(other.ranks_));
    rank_lines_.merge(other.rank_lines_);
}

// A rank's own mpitrace text does not say where it ran; the table in rank 0's does.
void RanksPart::complete_texts(std::vector<Rank>& ranks) {
    for (Rank& rank : ranks) {
        const auto found = rank_lines_.find(rank.rank);
        if (!rank.is_text || found == rank_lines_.end()) continue;
        const RankLine& line = found->second;
        rank.cpu = line.cpu;
        rank.place = line.place;
        if (rank.usage.switches() == 0) rank.usage.involuntary_switches = line.usage.involuntary_switches;
        if (!hosts_[rank.host].empty()) continue;
        rank.host = hosts_.index_of(line.host);
        rank.node = nodes_.index_of(line.host);
    }
}

// Ranks without a profile of their own that another rank's mpitrace text tells of are added; hosts and nodes are
// numbered by their lowest rank, so that the result does not depend on who read what.
void RanksPart::finish(Finishing& end) {
    Job& job = end.job;
    std::vector<Rank> ranks = ranks_.take();
    sort_by(ranks, &Rank::rank);
    complete_texts(ranks);
    std::vector<Rank> told;
    for (const auto& [number, line] : rank_lines_) {
        if (number >= job.size || find_rank(ranks, number)) continue;
        Rank& rank = told.emplace_back();
        rank.rank = number;
        rank.has_profile = false;
        rank.is_text = true;
        rank.host = hosts_.index_of(line.host);
        rank.node = nodes_.index_of(line.host);
        rank.elapsed_ns = line.elapsed_ns;
        rank.mpi_ns = line.mpi_ns;
        rank.usage = line.usage;
        rank.cpu = line.cpu;
        rank.place = line.place;
    }
    if (!told.empty()) {
        append(ranks, std::move(told));
        sort_by(ranks, &Rank::rank);
    }

    Numbered<std::string> hosts, nodes;
    for (Rank& rank : ranks) {
        rank.host = hosts.index_of(hosts_[rank.host]);
        rank.node = nodes.index_of(nodes_[rank.node]);
        if (rank.in_call) rank.in_call = end.order[*rank.in_call];
    }
    job.hosts = hosts.values();
    job.nodes = nodes.values();
    job.ranks = std::move(ranks);
}

}  // namespace

std::unique_ptr<MergePart> ranks_part() { return std::make_unique<PartOf<RanksPart>>(); }

}  // namespace mpiprof::report
