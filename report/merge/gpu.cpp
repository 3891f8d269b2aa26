// What all ranks' records together say. Which operations of a communicator are compared depends on their numbers alone:
// what is forgotten as too old stays too old, whoever comes next.
#include "report/merge/gpu.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace mpiprof::report {
namespace {

constexpr std::uint64_t ns_of(std::uint64_t us16) { return us16 * 1000 / 16; }

// What two members' times have to differ by, in sixteenths of a microsecond, for it to mean anything: the resolution of
// the GPU's clock, or how differently long a launch takes on an idle stream, and a tenth of the time.
std::uint32_t resolution_of(GpuSource source) { return source == GpuSource::launches ? 10 * 16 : 2 * 16; }
bool is_clear(std::uint32_t shortest, std::uint32_t next, std::uint32_t resolution) {
    return next - shortest > std::max(resolution, shortest / 10);
}

void add_work(GpuWork& to, const GpuWork& from) {
    to.kind = from.kind;
    to.count += from.count;
    to.bytes += from.bytes;
    to.time_ns += from.time_ns;
    to.overlapped_ns += from.overlapped_ns;
    to.in_graphs += from.in_graphs;
}

constexpr std::size_t most_busy = 4096;  // GPUs that are kept: those that idled longest
constexpr std::size_t most_words = 64;   // more come from damaged files alone

// Only what is the same communicator for all its members can be compared.
std::uint64_t id_of(const Profile& profile, std::uint16_t communicator) {
    if (communicator == 0 || communicator >= profile.communicators.size()) return 0;
    const Communicator& c = profile.communicators[communicator];
    return c.is_id_ambiguous ? 0 : c.id;
}

// No member is done before all others have come: these have times in the sequences.
bool needs_all(const Call& call) { return call.traffic == Traffic::collective && !call.has_root; }

}  // namespace

void GpuPart::add_row(Entry& to, const GpuRow& from) {
    GpuRow& row = to.row;
    row.min_ns = row.operations == 0 || from.min_ns < row.min_ns ? from.min_ns : row.min_ns;
    row.max_ns = std::max(row.max_ns, from.max_ns);
    row.operations += from.operations;
    row.bytes += from.bytes;
    row.others_bytes += from.others_bytes;
    row.time_ns += from.time_ns;
    row.kernels += from.kernels;
    row.ranks += from.ranks;
    row.by_events |= from.by_events;
    row.by_cupti |= from.by_cupti;
    row.by_launches |= from.by_launches;
}

void GpuPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    std::set<Key> seen;
    std::set<std::uint16_t> with_events;  // communicators
    bool by_events = false, by_cupti = false;
    for (const GpuTime& time : profile.gpu.times) {
        const Key key{from.calls[time.call], time.bin, time.is_replayed, time.is_exchange};
        Entry& entry = rows_[key];
        add_row(entry, {.operations = time.operations,
                        .bytes = time.bytes,
                        .others_bytes = time.others_bytes,
                        .time_ns = time.time_ns,
                        .min_ns = time.min_ns,
                        .max_ns = time.max_ns,
                        .kernels = time.kernels,
                        .ranks = seen.insert(key).second ? 1u : 0u,
                        .by_events = time.source == GpuSource::events,
                        .by_cupti = time.source == GpuSource::cupti,
                        .by_launches = time.source == GpuSource::launches,
                        .p50_ns = {},
                        .p99_ns = {},
                        .moving_ns = {}});
        for (std::uint32_t i = 0; i < time.buckets; ++i) {
            const Bucket& bucket = profile.buckets[time.first_bucket + i];
            entry.durations.add(bucket.low_ns, bucket.high_ns, bucket.calls);
        }
        by_events |= time.source == GpuSource::events;
        if (time.source == GpuSource::events) with_events.insert(time.communicator);
        by_cupti |= time.source == GpuSource::cupti;
        const std::uint64_t id = id_of(profile, time.communicator);
        if (id == 0 || (sums_.size() >= most_communicators && !sums_.contains(id))) continue;
        Sum& sum = sums_[id];
        sum.operations += time.operations;
        sum.time_ns += time.time_ns;
        if (needs_all(profile.calls[time.call])) entry.on[id] += time.time_ns;
    }
    for (const GpuSequence& sequence : profile.gpu.sequences)
        add_sequence(profile, sequence, with_events.contains(0) || with_events.contains(sequence.communicator));
    add_words(profile.gpu);
    add_work_of(profile);
    add_busy(profile);
    add_replays(profile);
    ranks_by_events_ += by_events;
    ranks_by_cupti_ += by_cupti;
}

void GpuPart::add_work_of(const Profile& profile) {
    std::set<std::uint32_t> devices;
    for (const GpuWork& work : profile.gpu.work) {
        if (work.kind > GpuWorkKind::graph_launches) continue;
        add_work(work_[work.kind], work);
        devices.insert(work.device);
    }
    ranks_with_work_ += !devices.empty();
    devices_with_work_ += static_cast<std::uint32_t>(devices.size());
}

// What does not fit into what it is a part of is cut: a job that was killed may have written one and not the other.
void GpuPart::add_busy(const Profile& profile) {
    std::map<std::uint32_t, GpuBusy> devices;
    for (const GpuWork& work : profile.gpu.work) {
        GpuBusy& busy = devices[work.device];
        if (work.kind == GpuWorkKind::recorded) busy.recorded_ns = work.time_ns, busy.any_ns = work.overlapped_ns;
        if (work.kind == GpuWorkKind::nccl_running)
            busy.nccl_ns = work.time_ns, busy.nccl_hidden_ns = work.overlapped_ns;
    }
    for (auto& [device, busy] : devices) {
        if (busy.recorded_ns == 0) continue;
        busy.rank = profile.rank;
        busy.device = device;
        busy.nccl_ns = std::min(busy.nccl_ns, busy.any_ns);
        busy.nccl_hidden_ns = std::min(busy.nccl_hidden_ns, busy.nccl_ns);
        busy_.push_back(busy);
        ++gpus_busy_;
    }
    if (busy_.size() > 2 * most_busy) keep_busy();
}

void GpuPart::keep_busy() {
    std::sort(busy_.begin(), busy_.end(), [](const GpuBusy& a, const GpuBusy& b) {
        const double idle_a = static_cast<double>(a.idle_ns()) / static_cast<double>(a.recorded_ns),
                     idle_b = static_cast<double>(b.idle_ns()) / static_cast<double>(b.recorded_ns);
        return std::tie(idle_b, a.rank, a.device) < std::tie(idle_a, b.rank, b.device);
    });
    if (busy_.size() > most_busy) busy_.resize(most_busy);
}

static void add_replayed(ReplayedOn& to, const ReplayedOn& from) {
    to.collectives += from.collectives;
    to.sends_and_receives += from.sends_and_receives;
    to.bytes += from.bytes;
}

// What was captured where nobody saw the graph made may be replayed any number of times.
void GpuPart::add_replays(const Profile& profile) {
    for (const Replays& replays : profile.gpu.replays) {
        const Traffic traffic = profile.calls[replays.call].traffic;
        if (!carries_messages(traffic)) continue;
        const std::uint64_t id = id_of(profile, replays.communicator);
        ReplayedOn one{.id = id, .bytes = replays.bytes};
        (traffic == Traffic::collective ? one.collectives : one.sends_and_receives) = replays.operations;
        const bool has_room = replayed_.size() < most_communicators || replayed_.contains(id);
        add_replayed(replayed_[has_room ? id : 0], one);
    }
    ranks_missing_replays_ += profile.gpu.misses_graphs || (profile.gpu.has_captured && !profile.gpu.follows_graphs);
}

void GpuPart::add_words(const Gpu& gpu) {
    for (const auto& [why, n] : gpu.not_timed)
        if (n != 0 && (not_timed_.size() < most_words || not_timed_.contains(why))) not_timed_[why] += n;
    records_dropped_ += gpu.records_dropped;
    for (auto [words, word] : {std::pair{&sources_, &gpu.source_of_times}, {&plugins_behind_, &gpu.plugin_behind}})
        if (!word->empty() && (words->size() < most_words || words->contains(*word))) ++(*words)[*word];
}

// A time by events begins before its kernel does: which rank's was the shortest says nothing of who came last. How many
// operations were enqueued is known all the same.
void GpuPart::add_sequence(const Profile& profile, const GpuSequence& sequence, bool by_events) {
    const std::uint64_t id = id_of(profile, sequence.communicator);
    if (id == 0 || (sequences_.size() >= most_communicators && !sequences_.contains(id))) return;
    Sequences one{.members = 1,
                  .size = profile.communicators[sequence.communicator].size,
                  .fewest = sequence.enqueued,
                  .most = sequence.enqueued,
                  .fewest_rank = profile.rank,
                  .resolution = resolution_of(sequence.source),
                  .first = sequence.first(),
                  .operations = {}};
    for (const std::uint32_t us16 : sequence.us16)
        one.operations.push_back({.measured = us16 != 0 && !by_events,
                                  .last_rank = profile.rank,
                                  .shortest = us16,
                                  .next = ~0u,
                                  .sum = us16});
    merge(sequences_[id], std::move(one));
}

void GpuPart::merge(Sequences& to, Sequences&& from) {
    if (to.members == 0) {
        to = std::move(from);
        return;
    }
    to.members += from.members;
    to.size = std::max(to.size, from.size);
    to.resolution = std::max(to.resolution, from.resolution);
    if (std::tie(from.fewest, from.fewest_rank) < std::tie(to.fewest, to.fewest_rank))
        std::tie(to.fewest, to.fewest_rank) = std::tie(from.fewest, from.fewest_rank);
    to.most = std::max(to.most, from.most);
    const std::uint64_t oldest = to.most - std::min(to.most, most_compared);
    const std::uint64_t first = std::max(std::min(to.first, from.first), oldest);
    std::vector<Operation> operations(to.most - std::min(first, to.most));
    for (const Sequences* some : {&to, &from})
        for (std::size_t i = 0; i < some->operations.size(); ++i)
            if (some->first + i >= first) add_operation(operations[some->first + i - first], some->operations[i]);
    to.first = first;
    to.operations = std::move(operations);
}

void GpuPart::add_operation(Operation& to, const Operation& from) {
    if (from.measured == 0) return;
    if (to.measured == 0) {
        to = from;
        return;
    }
    to.next = std::min({to.next, from.next, std::max(to.shortest, from.shortest)});
    if (std::tie(from.shortest, from.last_rank) < std::tie(to.shortest, to.last_rank))
        std::tie(to.shortest, to.last_rank) = std::tie(from.shortest, from.last_rank);
    to.measured += from.measured;
    to.sum += from.sum;
}

void GpuPart::absorb(GpuPart&& other) {
    for (auto& [key, entry] : other.rows_) {
        Entry& to = rows_[key];
        add_row(to, entry.row);
        to.durations.add(entry.durations);
        for (const auto& [id, ns] : entry.on) to.on[id] += ns;
    }
    for (const auto& [id, sum] : other.sums_) {
        Sum& to = sums_[id];
        to.operations += sum.operations;
        to.time_ns += sum.time_ns;
    }
    for (auto& [id, sequences] : other.sequences_) merge(sequences_[id], std::move(sequences));
    for (const auto& [kind, work] : other.work_) add_work(work_[kind], work);
    busy_.insert(busy_.end(), other.busy_.begin(), other.busy_.end());
    gpus_busy_ += other.gpus_busy_;
    keep_busy();
    for (const auto& [source, ranks] : other.sources_) sources_[source] += ranks;
    for (const auto& [plugin, ranks] : other.plugins_behind_) plugins_behind_[plugin] += ranks;
    for (const auto& [why, operations] : other.not_timed_) not_timed_[why] += operations;
    for (const auto& [id, replayed] : other.replayed_) add_replayed(replayed_[id], replayed);
    ranks_missing_replays_ += other.ranks_missing_replays_;
    records_dropped_ += other.records_dropped_;
    ranks_by_events_ += other.ranks_by_events_;
    ranks_by_cupti_ += other.ranks_by_cupti_;
    ranks_with_work_ += other.ranks_with_work_;
    devices_with_work_ += other.devices_with_work_;
}

// Operations that not all members measured say nothing of who was last.
GpuComm GpuPart::compare(std::uint64_t id, const Sequences& sequences) {
    GpuComm comm{.id = id,
                 .members = sequences.members,
                 .late = {},
                 .fewest_enqueued = sequences.fewest,
                 .most_enqueued = sequences.most,
                 .fewest_rank = sequences.fewest_rank};
    if (sequences.members < 2 || sequences.members != sequences.size) return comm;
    std::map<std::uint32_t, GpuComm::Late> late;
    for (const Operation& operation : sequences.operations) {
        if (operation.measured != sequences.members) continue;
        const std::uint64_t waiting_ns = ns_of(operation.sum - std::uint64_t{operation.measured} * operation.shortest);
        ++comm.compared;
        comm.compared_ns += ns_of(operation.sum);
        comm.waiting_ns += waiting_ns;
        if (!is_clear(operation.shortest, operation.next, sequences.resolution)) continue;  // several came at once
        GpuComm::Late& last = late[operation.last_rank];
        last.rank = operation.last_rank;
        ++last.operations;
        last.waited_ns += waiting_ns;
    }
    for (const auto& [rank, last] : late) comm.late.push_back(last);
    std::sort(comm.late.begin(), comm.late.end(), [](const auto& a, const auto& b) {
        return std::tie(b.waited_ns, a.rank) < std::tie(a.waited_ns, b.rank);
    });
    return comm;
}

// Empty: a tenth of its time and more is on communicators of which too little was compared.
std::optional<double> GpuPart::moving_ns(const Entry& entry, const std::map<std::uint64_t, GpuComm>& comms) {
    double known = 0, moving = 0;
    for (const auto& [id, ns] : entry.on) {
        const auto found = comms.find(id);
        if (found == comms.end() || found->second.compared < GpuComm::enough) continue;
        const GpuComm& comm = found->second;
        known += static_cast<double>(ns);
        moving += static_cast<double>(ns) *
                  (1 - static_cast<double>(comm.waiting_ns) / static_cast<double>(comm.compared_ns));
    }
    const auto all = static_cast<double>(entry.row.time_ns);
    if (known < 0.9 * all || moving <= 0) return std::nullopt;
    return moving * all / known;
}

void GpuPart::finish(Finishing& end) {
    GpuJob& job = end.job.gpu;
    std::map<std::uint64_t, GpuComm> comms;
    for (const auto& [id, sequences] : sequences_) comms[id] = compare(id, sequences);
    for (auto& [key, entry] : rows_) {
        GpuRow row = entry.row;
        row.call = end.order[key.call];
        row.bin = key.bin;
        row.is_replayed = key.is_replayed;
        row.is_exchange = key.is_exchange;
        row.moving_ns = moving_ns(entry, comms);
        if (entry.durations.calls() != 0) {
            const auto within = [&](double ns) {
                return std::clamp(ns, static_cast<double>(row.min_ns),
                                  static_cast<double>(std::max(row.min_ns, row.max_ns)));
            };
            row.p50_ns = within(entry.durations.percentile(0.50));
            row.p99_ns = within(entry.durations.percentile(0.99));
        }
        job.rows.push_back(row);
    }
    std::sort(job.rows.begin(), job.rows.end(), [](const GpuRow& a, const GpuRow& b) {
        return std::tie(a.call, a.bin, a.is_replayed, a.is_exchange) <
               std::tie(b.call, b.bin, b.is_replayed, b.is_exchange);
    });
    for (const auto& [id, sum] : sums_) {
        GpuComm& comm = comms[id];
        comm.id = id;
        comm.operations = sum.operations;
        comm.time_ns = sum.time_ns;
    }
    for (auto& [id, comm] : comms) job.comms.push_back(std::move(comm));
    for (const auto& [kind, work] : work_) job.work.push_back(work);
    keep_busy();
    job.busy = std::move(busy_);
    job.gpus_busy = gpus_busy_;
    job.sources = std::move(sources_);
    job.plugins_behind = std::move(plugins_behind_);
    job.not_timed = std::move(not_timed_);
    for (auto& [id, replayed] : replayed_) {
        replayed.id = id;
        job.replayed.push_back(replayed);
    }
    job.ranks_missing_replays = ranks_missing_replays_;
    job.records_dropped = records_dropped_;
    job.ranks_by_events = ranks_by_events_;
    job.ranks_by_cupti = ranks_by_cupti_;
    job.ranks_with_work = ranks_with_work_;
    job.devices_with_work = devices_with_work_;
}

}  // namespace mpiprof::report
