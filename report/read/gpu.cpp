// The GPU's part: times of NCCL's operations, their sequences, and all its work. These times are nanoseconds already.
#include "report/read/reading.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

static_assert(static_cast<int>(format::GpuSource::launches) == static_cast<int>(GpuSource::launches));
static_assert(static_cast<int>(format::GpuWorkKind::nccl_running) == static_cast<int>(GpuWorkKind::nccl_running));

GpuSource source_of(format::GpuSource source) {
    return source <= format::GpuSource::launches ? static_cast<GpuSource>(source) : GpuSource::none;
}

std::uint16_t known_communicator(std::uint16_t index, const Profile& profile) {
    return index < profile.communicators.size() ? index : std::uint16_t{0};
}

// The ring of the last operations, unrolled.
GpuSequence sequence_of(const format::GpuSequence& record, const Profile& profile) {
    constexpr std::uint64_t length = format::gpu_sequence_length;
    GpuSequence sequence{.communicator = known_communicator(record.communicator, profile),
                         .source = source_of(record.source),
                         .enqueued = record.enqueued,
                         .us16 = {}};
    const std::uint64_t kept = std::min(record.enqueued, length);
    sequence.us16.reserve(kept);
    for (std::uint64_t n = record.enqueued - kept; n < record.enqueued; ++n)
        sequence.us16.push_back(record.us16[n % length]);
    return sequence;
}

void read_times_on_gpu(Reading& r) {
    r.tables.each<format::GpuTime>(
        format::TableType::gpu_times, [&](const format::GpuTime& record, const format::Table&) {
            if (record.operations == 0) return;
            if (record.flags & format::replays) {
                r.profile.gpu.replays.push_back({.call = r.calls.of(record.call),
                                                 .communicator = known_communicator(record.communicator, r.profile),
                                                 .operations = record.operations,
                                                 .bytes = record.bytes});
                return;
            }
            const BucketReader::Range range = r.buckets.read_at(record.histogram, TickScale());
            r.profile.gpu.times.push_back({.call = r.calls.of(record.call),
                                           .bin = std::min<std::uint8_t>(record.bin, size_bins - 1),
                                           .source = source_of(record.source),
                                           .communicator = known_communicator(record.communicator, r.profile),
                                           .is_replayed = (record.flags & format::from_graphs) != 0,
                                           .is_exchange = (record.flags & format::exchange) != 0,
                                           .operations = record.operations,
                                           .bytes = record.bytes,
                                           .others_bytes = std::min(record.others_bytes, record.bytes),
                                           .time_ns = record.ns,
                                           .min_ns = std::min(record.min_ns, record.max_ns),
                                           .max_ns = record.max_ns,
                                           .kernels = record.kernels,
                                           .first_bucket = range.first,
                                           .buckets = range.buckets});
        });
}

void read_sequences(Reading& r) {
    r.tables.each<format::GpuSequence>(format::TableType::gpu_sequences,
                                       [&](const format::GpuSequence& record, const format::Table& table) {
                                           // Shorter ones would make more of a file than it holds.
                                           if (table.record_size >= sizeof record && record.enqueued != 0)
                                               r.profile.gpu.sequences.push_back(sequence_of(record, r.profile));
                                       });
}

void read_work(Reading& r) {
    r.tables.each<format::GpuWork>(
        format::TableType::gpu_work, [&](const format::GpuWork& record, const format::Table&) {
            const bool is_known =
                record.kind >= format::GpuWorkKind::nccl_kernels && record.kind <= format::GpuWorkKind::nccl_running;
            if (!is_known || record.count == 0) return;
            r.profile.gpu.work.push_back({.kind = static_cast<GpuWorkKind>(record.kind),
                                          .device = record.device,
                                          .count = record.count,
                                          .bytes = record.bytes,
                                          .time_ns = record.ns,
                                          .overlapped_ns = std::min(record.overlapped_ns, record.ns),
                                          .in_graphs = std::min(record.in_graphs, record.count)});
        });
}

}  // namespace

Result<std::monostate> read_gpu(Reading& r) {
    read_times_on_gpu(r);
    read_sequences(r);
    read_work(r);
    if (r.buckets.is_damaged()) return r.tables.damaged("the durations of GPU times point outside the file");
    return std::monostate{};
}

}  // namespace mpiprof::report
