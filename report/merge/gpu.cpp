// The part `gpu`: what the GPUs did for NCCL's calls, added up over some of a job's ranks, and the operations of a
// communicator held against each other. Which of them are compared depends on their numbers alone: what is forgotten as
// too old stays too old, whoever comes next.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/merge/duration_counts.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t most_busy = 4096;           // GPUs that are kept: those that idled longest
constexpr std::size_t most_words = 64;            // more come from damaged files alone,
constexpr std::size_t most_communicators = 4096;  // and so do these
constexpr std::uint64_t most_compared = 4096;     // of a communicator's last operations: as many as a rank keeps

constexpr std::uint64_t ns_of(std::uint64_t us16) { return us16 * 1000 / 16; }

// What two members' times have to differ by, in sixteenths of a microsecond, for it to mean anything: the resolution of
// the GPU's clock, or how differently long a launch takes on an idle stream, and a tenth of the time.
std::uint32_t resolution_of(GpuSource source) { return source == GpuSource::launches ? 10 * 16 : 2 * 16; }
bool is_clear(std::uint32_t shortest, std::uint32_t next, std::uint32_t resolution) {
    return next - shortest > std::max(resolution, shortest / 10);
}

// Only what is the same communicator for all its members can be compared.
std::uint64_t id_of(const Profile& profile, std::uint16_t communicator) {
    if (communicator == 0 || communicator >= profile.communicators.size()) return 0;
    const Communicator& c = profile.communicators[communicator];
    return c.is_id_ambiguous ? 0 : c.id;
}

// No member is done before all others have come: these have times in the sequences.
bool needs_all(const Call& call) { return call.traffic == Traffic::collective && !call.has_root; }

class GpuPart {
  public:
    void add(const RankProfile& from);
    void absorb(GpuPart&& other);
    // Into Job::gpu.
    void finish(Finishing& end);

  private:
    struct Key {
        std::uint16_t call = 0;
        std::uint8_t bin = 0;
        bool is_replayed = false, is_exchange = false;
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        GpuRow row;
        DurationCounts durations;
        // Nanoseconds of operations that wait for all members, by communicator.
        Keyed<std::uint64_t, std::uint64_t> on;

        void operator+=(Entry&& more) {
            row += more.row;
            durations.add(more.durations);
            on.absorb(std::move(more.on));
        }
    };
    // One operation over the members that measured it.
    struct Operation {
        std::uint32_t measured = 0;
        std::uint32_t last_rank = 0;  // whose time was shortest; the lowest of several
        std::uint32_t shortest = 0;   // sixteenths of a microsecond
        std::uint32_t next = ~0u;     // the shortest but one; all ones: there is none
        std::uint64_t sum = 0;

        void operator+=(const Operation& more);
    };
    struct Sequences {
        std::uint32_t members = 0;
        std::uint32_t size = 0;  // of the communicator
        std::uint64_t fewest = 0, most = 0;
        std::uint32_t fewest_rank = 0;
        std::uint32_t resolution = 0;         // sixteenths of a microsecond; differences below it mean nothing
        std::uint64_t first = 0;              // number of
        std::vector<Operation> operations{};  // the last `most_compared` that any member enqueued, or fewer

        void operator+=(const Sequences& more);
    };
    struct Sum {
        std::uint64_t operations = 0, time_ns = 0;

        void operator+=(const Sum& more) {
            operations += more.operations;
            time_ns += more.time_ns;
        }
    };

    static std::optional<double> moving_ns(const Entry& entry, const std::map<std::uint64_t, GpuComm>& comms);
    void add_times(const RankProfile& from);
    void add_words(const Gpu& gpu);
    void add_work_of(const Profile& profile);
    void add_busy(const Profile& profile);
    void add_replays(const Profile& profile);
    void add_replayed(std::uint64_t id, const ReplayedOn& replayed) {
        replayed_[replayed_.has_room_for(id) ? id : 0] += replayed;
    }
    void keep_busy();
    void add_sequence(const Profile& profile, const GpuSequence& sequence, bool by_events);
    static GpuComm compare(std::uint64_t id, const Sequences& sequences);

    Keyed<Key, Entry> rows_;
    // By the ids of communicators.
    Keyed<std::uint64_t, Sum, most_communicators> sums_;
    Keyed<std::uint64_t, Sequences, most_communicators> sequences_;
    Keyed<std::uint64_t, ReplayedOn, most_communicators> replayed_;
    Keyed<GpuWorkKind, GpuWork> work_;
    Keyed<std::string, std::uint32_t, most_words> sources_, plugins_behind_;
    Keyed<std::string, std::uint64_t, most_words> not_timed_;
    GpuJob job_;  // how busy GPUs were, and how many ranks or records there are of a kind
};

void GpuPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    add_times(from);
    add_words(profile.gpu);
    add_work_of(profile);
    add_busy(profile);
    add_replays(profile);
}

void GpuPart::add_times(const RankProfile& from) {
    const Profile& profile = from.profile;
    std::set<Key> seen;
    std::set<std::uint16_t> with_events;  // communicators
    bool by_events = false, by_cupti = false;
    for (const GpuTime& time : profile.gpu.times) {
        const Key key{from.calls[time.call], time.bin, time.is_replayed, time.is_exchange};
        Entry& entry = rows_[key];
        entry.row += {.operations = time.operations,
                      .bytes = time.bytes,
                      .others_bytes = time.others_bytes,
                      .time_ns = time.time_ns,
                      .min_ns = time.min_ns,
                      .max_ns = time.max_ns,
                      .kernels = time.kernels,
                      .ranks = seen.insert(key).second ? 1u : 0u,
                      .by_events = time.source == GpuSource::events,
                      .by_cupti = time.source == GpuSource::cupti,
                      .by_launches = time.source == GpuSource::launches};
        entry.durations.add(profile.buckets_of(time));
        by_events |= time.source == GpuSource::events;
        if (time.source == GpuSource::events) with_events.insert(time.communicator);
        by_cupti |= time.source == GpuSource::cupti;
        const std::uint64_t id = id_of(profile, time.communicator);
        if (id == 0 || !sums_.has_room_for(id)) continue;
        sums_.add(id, {.operations = time.operations, .time_ns = time.time_ns});
        if (needs_all(profile.calls[time.call])) entry.on[id] += time.time_ns;
    }
    for (const GpuSequence& sequence : profile.gpu.sequences)
        add_sequence(profile, sequence, with_events.contains(0) || with_events.contains(sequence.communicator));
    job_.ranks_by_events += by_events;
    job_.ranks_by_cupti += by_cupti;
}

void GpuPart::add_work_of(const Profile& profile) {
    std::set<std::uint32_t> devices;
    for (const GpuWork& work : profile.gpu.work) {
        if (work.kind > GpuWorkKind::graph_launches) continue;
        work_[work.kind] += work;
        devices.insert(work.device);
    }
    job_.ranks_with_work += !devices.empty();
    job_.devices_with_work += static_cast<std::uint32_t>(devices.size());
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
        job_.busy.push_back(busy);
        ++job_.gpus_busy;
    }
    if (job_.busy.size() > 2 * most_busy) keep_busy();
}

void GpuPart::keep_busy() {
    std::sort(job_.busy.begin(), job_.busy.end(), [](const GpuBusy& a, const GpuBusy& b) {
        const double idle_a = static_cast<double>(a.idle_ns()) / static_cast<double>(a.recorded_ns),
                     idle_b = static_cast<double>(b.idle_ns()) / static_cast<double>(b.recorded_ns);
        return std::tie(idle_b, a.rank, a.device) < std::tie(idle_a, b.rank, b.device);
    });
    if (job_.busy.size() > most_busy) job_.busy.resize(most_busy);
}

// What was captured where nobody saw the graph made may be replayed any number of times.
void GpuPart::add_replays(const Profile& profile) {
    for (const Replays& replays : profile.gpu.replays) {
        const Traffic traffic = profile.calls[replays.call].traffic;
        if (!carries_messages(traffic)) continue;
        const std::uint64_t id = id_of(profile, replays.communicator);
        ReplayedOn one{.id = id, .bytes = replays.bytes};
        (traffic == Traffic::collective ? one.collectives : one.sends_and_receives) = replays.operations;
        add_replayed(id, one);
    }
    job_.ranks_missing_replays +=
        profile.gpu.misses_graphs || (profile.gpu.has_captured && !profile.gpu.follows_graphs);
}

void GpuPart::add_words(const Gpu& gpu) {
    for (const auto& [why, n] : gpu.not_timed)
        if (n != 0) not_timed_.add(why, std::uint64_t{n});
    job_.records_dropped += gpu.records_dropped;
    for (auto [words, word] : {std::pair{&sources_, &gpu.source_of_times}, {&plugins_behind_, &gpu.plugin_behind}})
        if (!word->empty()) words->add(*word, 1);
}

// A time by events begins before its kernel does: which rank's was the shortest says nothing of who came last. How many
// operations were enqueued is known all the same.
void GpuPart::add_sequence(const Profile& profile, const GpuSequence& sequence, bool by_events) {
    const std::uint64_t id = id_of(profile, sequence.communicator);
    if (id == 0) return;
    Sequences one{.members = 1,
                  .size = profile.communicators[sequence.communicator].size,
                  .fewest = sequence.enqueued,
                  .most = sequence.enqueued,
                  .fewest_rank = profile.rank,
                  .resolution = resolution_of(sequence.source),
                  .first = sequence.first()};
    for (const std::uint32_t us16 : sequence.us16)
        one.operations.push_back({.measured = us16 != 0 && !by_events,
                                  .last_rank = profile.rank,
                                  .shortest = us16,
                                  .next = ~0u,
                                  .sum = us16});
    sequences_.add(id, std::move(one));
}

void GpuPart::Sequences::operator+=(const Sequences& more) {
    members += more.members;
    size = std::max(size, more.size);
    resolution = std::max(resolution, more.resolution);
    if (std::tie(more.fewest, more.fewest_rank) < std::tie(fewest, fewest_rank))
        std::tie(fewest, fewest_rank) = std::tie(more.fewest, more.fewest_rank);
    most = std::max(most, more.most);
    const std::uint64_t oldest = most - std::min(most, most_compared);
    const std::uint64_t begin = std::max(std::min(first, more.first), oldest);
    std::vector<Operation> both(most - std::min(begin, most));
    for (const Sequences* some : {static_cast<const Sequences*>(this), &more})
        for (std::size_t i = 0; i < some->operations.size(); ++i)
            if (some->first + i >= begin) both[some->first + i - begin] += some->operations[i];
    first = begin;
    operations = std::move(both);
}

void GpuPart::Operation::operator+=(const Operation& more) {
    if (more.measured == 0) return;
    if (measured == 0) {
        *this = more;
        return;
    }
    next = std::min({next, more.next, std::max(shortest, more.shortest)});
    if (std::tie(more.shortest, more.last_rank) < std::tie(shortest, last_rank))
        std::tie(shortest, last_rank) = std::tie(more.shortest, more.last_rank);
    measured += more.measured;
    sum += more.sum;
}

void GpuPart::absorb(GpuPart&& other) {
    rows_.absorb(std::move(other.rows_));
    sums_.absorb(std::move(other.sums_));
    sequences_.absorb(std::move(other.sequences_));
    for (const auto& [id, replayed] : other.replayed_) add_replayed(id, replayed);
    work_.absorb(std::move(other.work_));
    sources_.absorb(std::move(other.sources_));
    plugins_behind_.absorb(std::move(other.plugins_behind_));
    not_timed_.absorb(std::move(other.not_timed_));
    append(job_.busy, std::move(other.job_.busy));
    keep_busy();
    job_.gpus_busy += other.job_.gpus_busy;
    job_.ranks_missing_replays += other.job_.ranks_missing_replays;
    job_.records_dropped += other.job_.records_dropped;
    job_.ranks_by_events += other.job_.ranks_by_events;
    job_.ranks_by_cupti += other.job_.ranks_by_cupti;
    job_.ranks_with_work += other.job_.ranks_with_work;
    job_.devices_with_work += other.job_.devices_with_work;
}

// Operations that not all members measured say nothing of who was last.
GpuComm GpuPart::compare(std::uint64_t id, const Sequences& sequences) {
    GpuComm comm{.id = id,
                 .members = sequences.members,
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
        const auto waiting = found == comms.end() ? std::nullopt : found->second.waiting_share();
        if (!waiting) continue;
        known += static_cast<double>(ns);
        moving += static_cast<double>(ns) * (1 - *waiting);
    }
    const auto all = static_cast<double>(entry.row.time_ns);
    if (known < 0.9 * all || moving <= 0) return std::nullopt;
    return moving * all / known;
}

void GpuPart::finish(Finishing& end) {
    keep_busy();
    GpuJob& job = end.job.gpu = std::move(job_);
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
            row.p50_ns = entry.durations.percentile(0.50, row.min_ns, row.max_ns);
            row.p99_ns = entry.durations.percentile(0.99, row.min_ns, row.max_ns);
        }
        job.rows.push_back(row);
    }
    sort_by(job.rows, &GpuRow::call, &GpuRow::bin, &GpuRow::is_replayed, &GpuRow::is_exchange);
    for (const auto& [id, sum] : sums_) {
        GpuComm& comm = comms[id];
        comm.id = id;
        comm.operations = sum.operations;
        comm.time_ns = sum.time_ns;
    }
    for (auto& [id, comm] : comms) job.comms.push_back(std::move(comm));
    for (auto& [kind, work] : work_) {
        work.kind = kind;
        job.work.push_back(work);
    }
    job.sources = sources_.take();
    job.plugins_behind = plugins_behind_.take();
    job.not_timed = not_timed_.take();
    for (auto& [id, replayed] : replayed_) {
        replayed.id = id;
        job.replayed.push_back(replayed);
    }
}

}  // namespace

std::unique_ptr<MergePart> gpu_part() { return std::make_unique<PartOf<GpuPart>>(); }

}  // namespace mpiprof::report
