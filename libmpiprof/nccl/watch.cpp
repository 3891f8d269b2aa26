// What NCCL launches, told to gpu/: which stream, what it consists of, whether it went well. A group launches at its
// outermost end; until then its operations are gathered.
#include <initializer_list>

#include "libmpiprof/gpu/graphs.h"
#include "libmpiprof/nccl/library.h"

namespace mpiprof::nccl {
namespace {

// Tells one group of a thread from its other ones; not 0.
std::uint64_t this_group() { return group.at_start + 1; }

constexpr std::uint64_t mask_of(std::initializer_list<Id> ids) {
    std::uint64_t mask = 0;
    for (const Id id : ids) mask |= bit_of_row(id);
    return mask;
}

}  // namespace

void Nccl::watch_group() {
    group.is_watched = group.launched > 0;
    if (group.is_watched) gpu::launches.begin_group(this_group());
}

void Nccl::watch_launched(Word result) {
    if (group.depth > 0) return;
    const Word code = static_cast<int>(result);
    gpu::launches.end_real_call(code == success       ? gpu::Outcome::enqueued
                                : code == in_progress ? gpu::Outcome::in_progress
                                                      : gpu::Outcome::failed);
}

// The root of a broadcast or a scatter is done when it has sent, and who only sends to one that reduces or gathers,
// too: that it was short on the GPU does not mean that it came last.
[[gnu::always_inline]] inline gpu::Operation of_kind(std::uint16_t call, std::uint8_t bin, std::uint16_t communicator,
                                                     Bytes bytes, bool has_kernel) {
    static constexpr std::uint64_t mask =
        mask_of({Id::AllReduce, Id::AllReduceConfig, Id::AllReduceWithBias, Id::AllGather, Id::AllGatherConfig,
                 Id::ReduceScatter, Id::ReduceScatterConfig, Id::AlltoAll, Id::AlltoAllConfig, Id::AllToAll});
    const bool needs_all = (mask >> (call - first_id) & 1) != 0;
    const Traffic traffic = whole_catalogue.calls[call].traffic;
    return {call, bin, communicator, bytes, traffic, needs_all, has_kernel, false, false};
}

gpu::Operation on_the_gpu(std::uint16_t call, std::uint8_t bin, std::uint16_t communicator, Bytes bytes,
                          bool has_kernel) {
    return of_kind(call, bin, communicator, bytes, has_kernel);
}

// Collectives that NCCL carries out as Sends and Recvs, and tells of these.
static bool is_of_messages(std::uint16_t call) {
    static constexpr std::uint64_t as_messages =
        mask_of({Id::AlltoAll, Id::AlltoAllConfig, Id::AllToAll, Id::AllToAllv, Id::AlltoAllv, Id::Gather,
                 Id::GatherConfig, Id::Scatter, Id::ScatterConfig});
    return (as_messages >> (call - first_id) & 1) != 0;
}

// What dies or gets another meaning begins a new epoch.
[[gnu::always_inline]] static inline const Group::Watched& watched_on(std::uint16_t index) {
    Group::Watched& known = group.watched;
    if (known.index == index && known.epoch == gate_epoch()) [[likely]]
        return known;
    const CommInfo communicator = library.communicators.at(index);
    const std::uint64_t epoch = communicator.size > 0 ? gate_epoch() : 0;
    return known = {epoch, index, communicator.size == 1, communicator.is_nonblocking, communicator.rank};
}

[[gnu::always_inline]] inline gpu::Operation enqueued(const format::Cell& cell, Bytes bytes) {
    const Group::Watched& communicator = watched_on(cell.communicator);
    gpu::Operation operation = of_kind(cell.call, cell.bin, cell.communicator, bytes, !communicator.is_alone);
    // A message without bytes has one: both sides wait for each other.
    if (bytes == 0 && operation.is_collective()) operation.has_kernel = false;
    operation.is_nonblocking = communicator.is_nonblocking;
    operation.is_told_elsewhere = communicator.is_nonblocking && operation.is_collective() && operation.has_kernel &&
                                  !is_of_messages(operation.call);
    operation.is_own = group.peer == communicator.rank;
    return operation;
}

[[gnu::always_inline]] static inline void describe(const Memo& memo, Bytes bytes) {
    if (gpu::lone.is_in_hand) [[likely]]
        return gpu::launches.describe_lone(enqueued(*memo.cell, bytes));
    if (!gpu::launches.is_on()) return;
    const gpu::Operation operation = enqueued(*memo.cell, bytes);
    if (group.depth > 0)
        gpu::launches.enqueue(this_group(), group.stream, operation);
    else
        gpu::launches.describe(operation);
}

[[gnu::noinline, gnu::cold]] static void watch_captured(const Memo& memo, Bytes bytes) {
    const format::Cell& cell = *memo.cell;
    const Word stream = gpu::lone.is_in_hand ? gpu::lone.stream : group.stream;
    gpu::graphs.enqueued(stream, {cell.call, cell.bin, cell.communicator, 0, bytes, 0, 0, 0});
    describe(memo, bytes);
}

void watch_enqueued(const Memo& memo, Bytes bytes) {
    if (gpu::graphs.is_capturing()) [[unlikely]]
        return watch_captured(memo, bytes);
    describe(memo, bytes);
}

void watch_ended(const Memo& memo) {
    group.is_watched = false;
    gpu::launches.describe_group(memo.cell->call);
}

void Nccl::pass_unwatched_operation(Word stream) {
    if (!runtime.is_recording()) return;
    if (gpu::graphs.is_capturing()) gpu::graphs.enqueued_unrecorded(stream);
    gpu::launches.pass();
}

// Members of a communicator may begin to record at different moments; they number its collectives alike nevertheless.
void Nccl::pass_unwatched(Word comm, Word result) {
    const Word code = static_cast<int>(result);
    if (!runtime.is_recording()) return;  // a forked child
    if (code == success || code == in_progress)
        gpu::launches.count_only(library.communicators.find(runtime.records(), comm).index);
}

}  // namespace mpiprof::nccl
