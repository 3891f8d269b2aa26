// Ranks as their profiles describe them, and as rank 0's mpitrace text does.
#include "report/merge/ranks.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

}  // namespace

std::uint32_t RanksPart::Names::index_of(const std::string& name) {
    const auto [found, is_new] = index_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
}

Rank RanksPart::rank_of(const RankProfile& from) {
    const Profile& profile = from.profile;
    Rank rank{.rank = profile.rank,
              .state = profile.state,
              .is_text = profile.is_text,
              .host = hosts_.index_of(profile.host),
              .node = nodes_.index_of(profile.node.empty() ? profile.host : profile.node),
              .pid = profile.pid,
              .exit_code = profile.exit_code,
              .started_at_ns = profile.started_at_ns,
              .updated_at_ns = profile.updated_at_ns,
              .life = profile.life,
              .is_end_estimated = profile.is_end_estimated,
              .tells_its_life = profile.tells_its_life,
              .is_in_finalize = profile.is_in_finalize,
              .is_written = profile.is_written,
              .store_period_ns = profile.store_period_ns,
              .elapsed_ns = profile.elapsed_ns,
              .process_ns = profile.process_ns,
              .init_ns = profile.init_ns,
              .finalize_ns = profile.finalize_ns,
              .paused_ns = profile.paused_ns,
              .setup_ns = profile.setup_ns,
              .own_call_ns = profile.own_call_ns,
              .is_begun_by_another = profile.is_begun_by_another,
              .usage = profile.usage,
              .cpu_ns = cpu_ns_of(profile),
              .cpu = {},
              .in_call = {}};
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
    Rank& rank = ranks_.emplace_back(rank_of(from));
    add_sums(rank, from);
    add_threads(rank, from.profile);
    for (const RankLine& line : from.profile.rank_table) rank_lines_.try_emplace(line.rank, line);
}

void RanksPart::absorb(RanksPart&& other) {
    for (Rank& rank : other.ranks_) {
        rank.host = hosts_.index_of(other.hosts_[rank.host]);
        rank.node = nodes_.index_of(other.nodes_[rank.node]);
    }
    ranks_.insert(ranks_.end(), std::make_move_iterator(other.ranks_.begin()),
                  std::make_move_iterator(other.ranks_.end()));
    rank_lines_.merge(other.rank_lines_);
}

// A rank's own mpitrace text does not say where it ran; the table in rank 0's does.
void RanksPart::complete_texts() {
    for (Rank& rank : ranks_) {
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
    std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) { return a.rank < b.rank; });
    const auto has_profile = [&](std::uint32_t rank) {
        const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank,
                                         [](const Rank& r, std::uint32_t n) { return r.rank < n; });
        return at != ranks_.end() && at->rank == rank;
    };
    complete_texts();
    std::vector<Rank> told;
    for (const auto& [number, line] : rank_lines_) {
        if (number >= job.size || has_profile(number)) continue;
        told.push_back({.rank = number,
                        .has_profile = false,
                        .is_text = true,
                        .host = hosts_.index_of(line.host),
                        .node = nodes_.index_of(line.host),
                        .elapsed_ns = line.elapsed_ns,
                        .mpi_ns = line.mpi_ns,
                        .usage = line.usage,
                        .cpu = line.cpu,
                        .place = line.place,
                        .in_call = {}});
    }
    ranks_.insert(ranks_.end(), std::make_move_iterator(told.begin()), std::make_move_iterator(told.end()));
    std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) { return a.rank < b.rank; });

    Names hosts, nodes;
    for (Rank& rank : ranks_) {
        rank.host = hosts.index_of(hosts_[rank.host]);
        rank.node = nodes.index_of(nodes_[rank.node]);
        if (rank.in_call) rank.in_call = end.order[*rank.in_call];
    }
    job.hosts = hosts.take();
    job.nodes = nodes.take();
    job.ranks = std::move(ranks_);
}

void extend_killed(Job& job) {
    std::uint64_t last = 0;
    for (const Rank& rank : job.ranks) last = std::max(last, rank.updated_at_ns);
    for (Rank& rank : job.ranks) {
        if (!rank.is_end_estimated || rank.updated_at_ns == 0 || rank.tells_its_life) continue;
        const std::uint64_t longer = last - rank.updated_at_ns;
        rank.updated_at_ns = last;
        rank.elapsed_ns += longer;
        rank.assumed_ns = longer;
        if (rank.process_ns) rank.process_ns += longer;
        if (rank.in_call && rank.in_call_ns) rank.in_call_ns += longer;
        for (Standing& standing : job.standings)
            if (standing.rank == rank.rank) standing.for_ns += longer;
    }
}

}  // namespace mpiprof::report
