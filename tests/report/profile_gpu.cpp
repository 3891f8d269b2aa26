#include "tests/report/profile_gpu.h"

#include <algorithm>
#include <memory>

#include "libmpiprof/format/size_bins.h"

namespace mpiprof::test {

void add_nccl_operations(const ProfileSpec& profile, Tables& tables, const CallIds& calls) {
    for (const NcclOperationSpec& one : profile.nccl_operations) {
        format::NcclOperation record{};
        record.call = calls.at(one.call);
        record.bin = static_cast<std::uint8_t>(format::size_bin(one.operations ? one.bytes / one.operations : 0));
        record.channels = one.channels;
        record.communicator = one.communicator;
        record.flags = one.flags;
        set_text(record.algorithm, one.algorithm);
        set_text(record.protocol, one.protocol);
        record.operations = one.operations;
        record.bytes = one.bytes;
        record.tag = one.tag;
        tables.add(format::TableType::nccl_operations, 0, record);
    }
}

void add_gpu(const ProfileSpec& profile, Tables& tables, Histograms& histograms, const CallIds& calls) {
    for (const GpuTimeSpec& one : profile.gpu_times) {
        format::GpuTime time{};
        time.call = calls.at(one.call);
        time.bin = static_cast<std::uint8_t>(format::size_bin(one.bytes));
        time.source = one.source;
        time.communicator = one.communicator;
        time.flags = static_cast<std::uint16_t>((one.is_replayed ? format::from_graphs : 0) |
                                                (one.others_bytes ? format::exchange : 0));
        if (one.replays) time.flags |= format::replays;
        time.operations = one.durations_ns.size() + one.replays;
        time.bytes = one.bytes * time.operations;
        time.others_bytes = one.others_bytes * time.operations;
        time.min_ns = ~std::uint64_t{0};
        time.kernels = one.kernels;
        const std::uint32_t histogram = tables.add(format::TableType::gpu_durations, 0, format::Histogram{});
        time.histogram = histogram + 1;  // a record number + 1 for now; resolve() turns it into an offset
        for (const std::uint64_t ns : one.durations_ns) {
            time.ns += ns;
            time.min_ns = std::min(time.min_ns, ns);
            time.max_ns = std::max(time.max_ns, ns);
            histograms.count(0, histogram, format::histogram_position(ns), 1, format::TableType::gpu_durations);
        }
        tables.add(format::TableType::gpu_times, 0, time);
    }
    for (const GpuSequenceSpec& one : profile.gpu_sequences) {
        auto sequence = std::make_unique<format::GpuSequence>();
        sequence->communicator = one.communicator;
        sequence->source = format::GpuSource::cupti;
        sequence->enqueued = one.enqueued_before;
        for (const double us : one.us)
            sequence->us16[sequence->enqueued++ % format::gpu_sequence_length] = static_cast<std::uint32_t>(us * 16);
        tables.add(format::TableType::gpu_sequences, 0, *sequence);
    }
    for (const format::GpuWork& work : profile.gpu_work) tables.add(format::TableType::gpu_work, 0, work);
}

}  // namespace mpiprof::test
