// Adding, absorbing, finishing.
#include "report/merge/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "report/model/sums.h"
#include "report/model/units.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_names = 16;  // different commands or MPI libraries that are told apart

void take_larger(Row& row, std::uint64_t ns, std::uint32_t rank) {
    if (ns < row.largest_ns || (ns == row.largest_ns && rank >= row.largest_rank && row.ranks != 0)) return;
    row.largest_ns = ns;
    row.largest_rank = rank;
}

void add_drops(Drops& to, const Drops& from) {
    to.cells += from.cells;
    to.sites += from.sites;
    to.histograms += from.histograms;
    to.communicators += from.communicators;
    to.threads += from.threads;
    to.backwards += from.backwards;
    to.strings += from.strings;
    to.write_errors += from.write_errors;
    to.requests += from.requests;
    to.peers += from.peers;
}

void add_name(std::map<std::string, std::uint32_t>& names, const std::string& name, std::uint32_t rank) {
    if (const auto found = names.find(name); found != names.end())
        found->second = std::min(found->second, rank);
    else if (names.size() < most_names)
        names.emplace(name, rank);
}

auto key(const Sum& sum) { return std::make_tuple(sum.call, sum.bin, sum.buffer); }

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// MPIPROF_RANKS, where all ranks say the same; what is no list ("all") is none.
NumberList chosen_ranks(const std::vector<SettingRow>& settings) {
    for (const SettingRow& row : settings)
        if (row.name == "RANKS" && row.values.size() == 1) return NumberList::parse(row.values.front().value);
    return {};
}

}  // namespace

std::uint16_t Part::call_index(const Call& call) {
    const auto [found, is_new] = call_of_name_.try_emplace(call.name, static_cast<std::uint16_t>(calls_.size()));
    if (is_new) calls_.push_back({.call = call, .row = {}, .durations = {}});
    return found->second;
}

// Ranks of a job mostly have the same dictionary, so the map of the rank before is tried first.
void Part::map_calls(const Profile& profile) {
    call_map_.resize(std::max(call_map_.size(), profile.calls.size()), 0);
    for (std::size_t i = 0; i < profile.calls.size(); ++i) {
        const Call& call = profile.calls[i];
        if (call_map_[i] >= calls_.size() || calls_[call_map_[i]].call.name != call.name)
            call_map_[i] = call_index(call);
    }
}

Row& Part::row_of(std::uint16_t call, std::uint8_t bin, Buffer buffer) {
    std::uint32_t& slot = calls_[call].row[bin * 3u + static_cast<unsigned>(buffer)];
    if (slot == 0) {
        rows_.push_back(
            {.sum = {.call = call, .bin = bin, .buffer = buffer}, .p05_ns = {}, .p50_ns = {}, .p99_ns = {}});
        slot = static_cast<std::uint32_t>(rows_.size());
    }
    return rows_[slot - 1];
}

Part::Durations& Part::durations_of(std::uint16_t call, std::uint8_t bin) {
    std::uint32_t& slot = calls_[call].durations[bin];
    if (slot == 0) {
        durations_.push_back({.call = call, .bin = bin, .counts = {}});
        slot = static_cast<std::uint32_t>(durations_.size());
    }
    return durations_[slot - 1];
}

std::uint32_t Part::intern(std::vector<std::string>& names, std::unordered_map<std::string, std::uint32_t>& index,
                           const std::string& name) {
    const auto [found, is_new] = index.try_emplace(name, static_cast<std::uint32_t>(names.size()));
    if (is_new) names.push_back(name);
    return found->second;
}

void Part::take_identity(const Profile& profile) {
    add_name(commands_, profile.command, profile.rank);
    add_name(mpi_libraries_, profile.mpi_library, profile.rank);
    if (profile.rank >= identity_rank_) return;
    identity_rank_ = profile.rank;
    identity_ = {.command = profile.command,
                 .executable = profile.executable,
                 .directory = profile.directory,
                 .launcher = profile.launcher,
                 .launch = profile.launch,
                 .job = profile.job,
                 .mpi_library = profile.mpi_library,
                 .mpi_family = profile.mpi_family,
                 .library_version = profile.library_version,
                 .size = profile.size,
                 .thread_level = profile.thread_level};
}

Rank Part::rank_of(const Profile& profile) {
    Rank rank{.rank = profile.rank,
              .state = profile.state,
              .is_text = profile.is_text,
              .host = intern(hosts_, host_index_, profile.host),
              .node = intern(nodes_, node_index_, profile.node.empty() ? profile.host : profile.node),
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
              .usage = profile.usage,
              .cpu = {},
              .in_call = {}};
    for (const Thread& thread : profile.threads) {
        if (!thread.in_call || profile.state == State::finalized) continue;
        const std::uint64_t since = thread.in_call_since_ns;
        // At least 1 where it is known when the call began: extend_killed() adds to that only.
        const std::uint64_t for_ns =
            since ? std::max<std::uint64_t>(1, profile.elapsed_ns - std::min(profile.elapsed_ns, since)) : 0;
        if (rank.in_call && for_ns <= rank.in_call_ns) continue;
        rank.in_call = call_map_[*thread.in_call];
        rank.in_call_ns = for_ns;
    }
    return rank;
}

void Part::add_sums(const Profile& profile, Rank& rank) {
    for (Sum& sum : sums_of(profile)) {
        sum.call = call_map_[sum.call];
        Row& row = row_of(sum.call, sum.bin, sum.buffer);
        take_larger(row, sum.time_ns, profile.rank);
        add_sum(row.sum, sum);
        ++row.ranks;

        const Call& call = calls_[sum.call].call;
        rank.errors += sum.errors;
        if (call.treatment == Treatment::counted) continue;
        rank.calls += sum.calls;
        rank.mpi_ns += sum.time_ns;
        if (call.family == Family::nccl) rank.nccl_ns += sum.time_ns;
        rank.mpi_other_thread_ns += sum.other_thread_ns;
        if (carries_messages(call.traffic)) rank.message_bytes += sum.bytes;
        if (call.traffic != Traffic::file) continue;
        rank.file_bytes += sum.bytes;
        rank.file_ns += sum.time_ns;
    }
}

void Part::add(const Profile& profile) {
    map_calls(profile);
    take_identity(profile);
    Rank rank = rank_of(profile);
    add_sums(profile, rank);
    ranks_.push_back(rank);
    standings_.add(profile, call_map_);
    for (const Histogram& histogram : profile.histograms) {
        Durations& durations = durations_of(call_map_[histogram.call], histogram.bin);
        durations.add_requests(histogram);
        for (std::uint32_t i = 0; i < histogram.buckets; ++i) {
            const Bucket& bucket = profile.buckets[histogram.first_bucket + i];
            durations.counts.add(bucket.low_ns, bucket.high_ns, bucket.calls);
        }
    }
    facts_.add(profile);
    comms_.add(profile, call_map_);
    sites_.add(profile, call_map_);
    waits_.add(profile, call_map_);
    settings_.add(profile);
    for (const RankLine& line : profile.rank_table) rank_lines_.try_emplace(line.rank, line);
    peers_.add(profile);
    regions_.add(profile);
    activities_.add(profile);
    gpu_.add(profile, call_map_);
    nccl_choices_.add(profile, call_map_);
    add_drops(drops_, profile.drops);
    setup_ns_ = std::max(setup_ns_, profile.setup_ns);
    is_text_ |= profile.is_text;
    has_several_mpis_ |= profile.has_several_mpis;
    is_behind_a_tool_ |= profile.is_behind_a_tool;
    is_spawned_ |= profile.is_spawned;
    has_no_world_ |= profile.has_no_world && profile.mpi_family != "none";
    notes_.insert(notes_.end(), profile.notes.begin(), profile.notes.end());
    for (const Fact& fact : profile.facts) {
        if (fact.kind != FactKind::process) continue;
        if (fact.name == "not_profiled" && (unseen_.size() < most_names || unseen_.contains(fact.value)))
            ++unseen_[fact.value];
        if (fact.name == "mpi_is_cuda_aware" && (fact.value == "yes" || fact.value == "no"))
            cuda_awareness_.insert(fact.value);
    }
}

void Part::absorb(Part&& other) {
    std::vector<std::uint16_t> call_map(other.calls_.size());
    for (std::size_t i = 0; i < call_map.size(); ++i) call_map[i] = call_index(other.calls_[i].call);

    for (const Row& from : other.rows_) {
        Row& row = row_of(call_map[from.sum.call], from.sum.bin, from.sum.buffer);
        if (from.ranks != 0) take_larger(row, from.largest_ns, from.largest_rank);
        add_sum(row.sum, from.sum);
        row.ranks += from.ranks;
    }
    for (const Durations& from : other.durations_) {
        Durations& durations = durations_of(call_map[from.call], from.bin);
        durations.counts.add(from.counts);
        durations.add_requests(from);
    }
    for (Rank& rank : other.ranks_) {
        rank.host = intern(hosts_, host_index_, other.hosts_[rank.host]);
        rank.node = intern(nodes_, node_index_, other.nodes_[rank.node]);
        if (rank.in_call) rank.in_call = call_map[*rank.in_call];
    }
    append(ranks_, std::move(other.ranks_));
    standings_.absorb(std::move(other.standings_), call_map);
    facts_.absorb(std::move(other.facts_));
    comms_.absorb(std::move(other.comms_), call_map);
    sites_.absorb(std::move(other.sites_), call_map);
    waits_.absorb(std::move(other.waits_), call_map);
    settings_.absorb(std::move(other.settings_));
    rank_lines_.merge(other.rank_lines_);
    for (const auto& [name, rank] : other.commands_) add_name(commands_, name, rank);
    for (const auto& [name, rank] : other.mpi_libraries_) add_name(mpi_libraries_, name, rank);
    if (other.identity_rank_ < identity_rank_) {
        identity_ = std::move(other.identity_);
        identity_rank_ = other.identity_rank_;
    }
    peers_.absorb(std::move(other.peers_));
    regions_.absorb(std::move(other.regions_));
    activities_.absorb(std::move(other.activities_));
    gpu_.absorb(std::move(other.gpu_), call_map);
    nccl_choices_.absorb(std::move(other.nccl_choices_), call_map);
    add_drops(drops_, other.drops_);
    setup_ns_ = std::max(setup_ns_, other.setup_ns_);
    is_text_ |= other.is_text_;
    has_several_mpis_ |= other.has_several_mpis_;
    is_behind_a_tool_ |= other.is_behind_a_tool_;
    is_spawned_ |= other.is_spawned_;
    has_no_world_ |= other.has_no_world_;
    for (const auto& [library, ranks] : other.unseen_) unseen_[library] += ranks;
    cuda_awareness_.merge(other.cuda_awareness_);
    append(problems_, std::move(other.problems_));
    append(notes_, std::move(other.notes_));
}

std::vector<std::uint16_t> Part::sort_calls(Job& job) {
    std::vector<std::uint16_t> by_name(calls_.size());
    std::iota(by_name.begin(), by_name.end(), std::uint16_t{0});
    std::sort(by_name.begin(), by_name.end(),
              [&](std::uint16_t a, std::uint16_t b) { return calls_[a].call.name < calls_[b].call.name; });
    std::vector<std::uint16_t> order(calls_.size());
    for (std::size_t i = 0; i < by_name.size(); ++i) {
        order[by_name[i]] = static_cast<std::uint16_t>(i);
        job.calls.push_back(std::move(calls_[by_name[i]].call));
    }
    return order;
}

bool Part::has_several_buffers(const Sum& sum) const {
    const std::uint32_t* rows = &calls_[sum.call].row[sum.bin * 3u];
    return (rows[0] != 0) + (rows[1] != 0) + (rows[2] != 0) > 1;
}

void Part::sort_rows(Job& job, const std::vector<std::uint16_t>& order) {
    for (Row& row : rows_) {
        const std::uint32_t slot = calls_[row.sum.call].durations[row.sum.bin];
        if (slot != 0 && !has_several_buffers(row.sum)) {  // durations are of all buffers together
            const DurationCounts& counts = durations_[slot - 1].counts;
            // The exact extremes are known: a bucket's middle never lies beyond them.
            const auto within = [&](double ns) {
                const auto low = static_cast<double>(row.sum.min_ns.value_or(0));
                return std::clamp(ns, low, std::max(low, static_cast<double>(row.sum.max_ns)));
            };
            row.p05_ns = within(counts.percentile(0.05));
            row.p50_ns = within(counts.percentile(0.50));
            row.p99_ns = within(counts.percentile(0.99));
        }
        if (slot != 0) {
            Durations& durations = durations_[slot - 1];
            row.requests = std::exchange(durations.requests, 0);
            row.in_flight_ns = std::exchange(durations.in_flight_ns, 0);
            row.blocked_ns = std::exchange(durations.blocked_ns, 0);
            row.inside_ns = std::exchange(durations.inside_ns, 0);
        }
    }
    for (Row& row : rows_) row.sum.call = order[row.sum.call];
    job.rows = std::move(rows_);
    std::sort(job.rows.begin(), job.rows.end(), [](const Row& a, const Row& b) { return key(a.sum) < key(b.sum); });
}

// A rank's own mpitrace text does not say where it ran; the table in rank 0's does.
void Part::complete_texts() {
    for (Rank& rank : ranks_) {
        const auto found = rank_lines_.find(rank.rank);
        if (!rank.is_text || found == rank_lines_.end()) continue;
        const RankLine& line = found->second;
        rank.cpu = line.cpu;
        if (rank.usage.switches() == 0) rank.usage.involuntary_switches = line.usage.involuntary_switches;
        if (!hosts_[rank.host].empty()) continue;
        rank.host = intern(hosts_, host_index_, line.host);
        rank.node = intern(nodes_, node_index_, line.host);
    }
}

// Ranks without a profile of their own that another rank's mpitrace text tells of are added; hosts and nodes are
// numbered by their lowest rank, so that the result does not depend on who read what.
void Part::sort_ranks(Job& job, const std::vector<std::uint16_t>& order) {
    std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) { return a.rank < b.rank; });
    const auto has_profile = [&](std::uint32_t rank) {
        const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank,
                                         [](const Rank& r, std::uint32_t n) { return r.rank < n; });
        return at != ranks_.end() && at->rank == rank;
    };
    complete_texts();
    std::vector<Rank> told;
    for (const auto& [number, line] : rank_lines_) {
        if (number >= identity_.size || has_profile(number)) continue;
        told.push_back({.rank = number,
                        .has_profile = false,
                        .is_text = true,
                        .host = intern(hosts_, host_index_, line.host),
                        .node = intern(nodes_, node_index_, line.host),
                        .elapsed_ns = line.elapsed_ns,
                        .mpi_ns = line.mpi_ns,
                        .usage = line.usage,
                        .cpu = line.cpu,
                        .in_call = {}});
    }
    append(ranks_, std::move(told));
    std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) { return a.rank < b.rank; });

    std::unordered_map<std::string, std::uint32_t> hosts, nodes;
    for (Rank& rank : ranks_) {
        rank.host = intern(job.hosts, hosts, hosts_[rank.host]);
        rank.node = intern(job.nodes, nodes, nodes_[rank.node]);
        if (rank.in_call) rank.in_call = order[*rank.in_call];
    }
    job.ranks = std::move(ranks_);
}

// A killed rank that was never updated while it ran may have lived longer than it could tell: usually the job ended as
// one, so the last sign of life of any rank stands for its end.
void Part::extend_killed() {
    std::uint64_t last = 0;
    for (const Rank& rank : ranks_) last = std::max(last, rank.updated_at_ns);
    for (Rank& rank : ranks_) {
        if (!rank.is_end_estimated || rank.updated_at_ns == 0 || rank.tells_its_life) continue;
        const std::uint64_t longer = last - rank.updated_at_ns;
        rank.updated_at_ns = last;
        rank.elapsed_ns += longer;
        if (rank.process_ns) rank.process_ns += longer;
        if (rank.in_call && rank.in_call_ns) rank.in_call_ns += longer;
        standings_.extend(rank.rank, longer);
    }
}

void Part::note_differences(Job& job) const {
    const auto tell = [&](const std::map<std::string, std::uint32_t>& names, std::string_view what) {
        for (const auto& [name, rank] : names)
            if (rank != identity_rank_ && names.size() > 1)
                job.notes.push_back(
                    fmt::format("{} differs: rank {} has {}", what, rank, name.empty() ? "none" : name));
    };
    tell(commands_, "the program");
    tell(mpi_libraries_, "the MPI library");
    if (has_several_mpis_)
        job.notes.push_back("a second MPI library was met in some process; its calls are not recorded");
    if (is_behind_a_tool_)
        job.notes.push_back(
            "another tool comes before mpiprof: calls that it passes on by their PMPI_ names are missing here; "
            "name libmpiprof.so first in LD_PRELOAD");
    for (const auto& [library, ranks] : unseen_)
        job.notes.push_back(fmt::format(
            "{} is loaded on {} and not profiled: what the program asks of it, other than through MPI or NCCL, is in no figure",
            library, plural(ranks, "rank", "ranks")));
    for (const SettingRow& row : job.settings) {
        const SettingValue& setting = row.values.front();
        if (setting.source == SettingSource::fallback) continue;
        if (row.name == "COLLECTIVE_BARRIER" && setting.value != "none")
            job.notes.push_back(
                fmt::format("MPIPROF_COLLECTIVE_BARRIER={}: a barrier came before these collectives; [barrier] is the "
                            "time in it, waiting for the last rank",
                            setting.value));
        if (row.name == "RANKS" && !job.chosen_ranks.empty())
            job.notes.push_back(fmt::format("MPIPROF_RANKS={}: only these ranks were profiled", setting.value));
        if (row.name == "FUNCTIONS" && setting.value != "all")
            job.notes.push_back(fmt::format("MPIPROF_FUNCTIONS={}: only these functions were recorded", setting.value));
    }
    if (is_spawned_) job.notes.push_back("these ranks are a world of their own: MPI_Comm_spawn started them");
    if (has_no_world_)
        job.notes.push_back("MPI was used in sessions, without MPI_Init: ranks are numbered as the launcher did");
    if (identity_.mpi_family.empty() && !identity_.mpi_library.empty() && !is_text_)
        job.notes.push_back("this MPI library is of no known family: calls and times are recorded, sizes are not");
}

Job Part::finish() {
    Job job;
    extend_killed();
    job.settings = settings_.finish();
    job.chosen_ranks = chosen_ranks(job.settings);
    note_differences(job);
    const auto order = sort_calls(job);
    sort_rows(job, order);
    sort_ranks(job, order);
    standings_.finish(job, order);
    job.placement = facts_.finish(job);
    job.comms = comms_.finish(order);
    job.sites = sites_.finish(order, waits_.finish(job, order));
    job.launch = std::move(identity_.launch);
    job.job = std::move(identity_.job);
    job.command = std::move(identity_.command);
    job.executable = std::move(identity_.executable);
    job.directory = std::move(identity_.directory);
    job.launcher = std::move(identity_.launcher);
    job.mpi_library = std::move(identity_.mpi_library);
    job.mpi_family = std::move(identity_.mpi_family);
    if (cuda_awareness_.size() == 1) job.is_cuda_aware = cuda_awareness_.contains("yes");
    job.library_version = std::move(identity_.library_version);
    job.size = identity_.size;
    job.thread_level = identity_.thread_level;
    job.peers = peers_.finish();
    job.regions = regions_.finish();
    activities_.finish(job);
    job.gpu = gpu_.finish(order);
    job.nccl_choices = nccl_choices_.finish(order);
    job.drops = drops_;
    job.setup_ns = setup_ns_;
    job.is_text = is_text_;
    std::sort(problems_.begin(), problems_.end());
    std::sort(notes_.begin(), notes_.end());
    job.problems = std::move(problems_);
    job.notes.insert(job.notes.end(), notes_.begin(), notes_.end());
    return job;
}

}  // namespace mpiprof::report
