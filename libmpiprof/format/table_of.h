// Which table of a profile a record lies in, where there is only one for its kind: what writes and reads tables need
// not say it again. Histogram and Activity lie in several.
#pragma once

#include "libmpiprof/format/layout.h"

namespace mpiprof::format {

template <class Record>
inline constexpr TableType table_of = TableType::none;
template <>
inline constexpr TableType table_of<CallRecord> = TableType::calls;
template <>
inline constexpr TableType table_of<Counter> = TableType::counters;
template <>
inline constexpr TableType table_of<Cell> = TableType::cells;
template <>
inline constexpr TableType table_of<HistogramBlock> = TableType::histogram_blocks;
template <>
inline constexpr TableType table_of<Site> = TableType::sites;
template <>
inline constexpr TableType table_of<Frame> = TableType::frames;
template <>
inline constexpr TableType table_of<Module> = TableType::modules;
template <>
inline constexpr TableType table_of<Communicator> = TableType::communicators;
template <>
inline constexpr TableType table_of<Thread> = TableType::threads;
template <>
inline constexpr TableType table_of<Setting> = TableType::settings;
template <>
inline constexpr TableType table_of<Peer> = TableType::peers;
template <>
inline constexpr TableType table_of<Region> = TableType::regions;
template <>
inline constexpr TableType table_of<TraceEvent> = TableType::trace;
template <>
inline constexpr TableType table_of<Fact> = TableType::facts;
template <>
inline constexpr TableType table_of<NcclOperation> = TableType::nccl_operations;
template <>
inline constexpr TableType table_of<GpuTime> = TableType::gpu_times;
template <>
inline constexpr TableType table_of<GpuSequence> = TableType::gpu_sequences;
template <>
inline constexpr TableType table_of<GpuWork> = TableType::gpu_work;
template <>
inline constexpr TableType table_of<NodeCounter> = TableType::node_counters;
template <>
inline constexpr TableType table_of<NetworkUse> = TableType::network_use;
template <>
inline constexpr TableType table_of<Label> = TableType::labels;
template <>
inline constexpr TableType table_of<Iterations> = TableType::iterations;
template <>
inline constexpr TableType table_of<Request> = TableType::requests;
template <>
inline constexpr TableType table_of<Arrival> = TableType::arrivals;
template <>
inline constexpr TableType table_of<EnqueuedCollective> = TableType::enqueued;
template <>
inline constexpr TableType table_of<EnqueuedPeer> = TableType::enqueued_peers;
template <>
inline constexpr TableType table_of<LiveType> = TableType::types;

}  // namespace mpiprof::format
