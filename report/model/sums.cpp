// Cells become sums, and sums of one (call, bin, buffer) one.
#include "report/model/sums.h"

#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

// The GPU's time belongs to the call that enqueued. A group that is booked as a whole has a size there and none here:
// the first of its call will do.
void add_gpu_times(std::vector<Sum>& sums, const Profile& profile) {
    for (const GpuTime& time : profile.gpu.times) {
        if (time.is_replayed) continue;
        Sum* found = nullptr;
        for (Sum& sum : sums) {
            if (sum.call != time.call) continue;
            if (!found || sum.bin == time.bin) found = &sum;
            if (sum.bin == time.bin) break;
        }
        if (found)
            add_sum(*found, {.gpu_operations = time.operations, .gpu_bytes = time.bytes, .gpu_ns = time.time_ns});
    }
}

}  // namespace

Sum sum_of(const Cell& cell, const Profile& profile) {
    const bool is_other = profile.threads[cell.thread].kind == ThreadKind::other;
    return {.call = cell.call,
            .bin = cell.bin,
            .buffer = cell.buffer,
            .calls = cell.calls,
            .bytes = cell.bytes,
            .time_ns = cell.time_ns,
            .min_ns = cell.min_ns,
            .max_ns = cell.max_ns,
            .errors = cell.errors,
            .untimed_calls = cell.is_untimed ? cell.calls : 0,
            .other_thread_calls = is_other ? cell.calls : 0,
            .other_thread_ns = is_other ? cell.time_ns : 0};
}

std::vector<Sum> sums_of(const Profile& profile) {
    std::vector<Sum> sums;
    sums.reserve(profile.cells.size());
    // Those of one call, the newest first: their places in sums, + 1; 0 = there are no more.
    std::vector<std::uint32_t> newest(profile.calls.size()), before;
    before.reserve(profile.cells.size());
    for (const Cell& cell : profile.cells) {
        std::uint32_t at = newest[cell.call];
        while (at != 0 && (sums[at - 1].bin != cell.bin || sums[at - 1].buffer != cell.buffer)) at = before[at - 1];
        if (at == 0) {
            sums.push_back({.call = cell.call, .bin = cell.bin, .buffer = cell.buffer});
            before.push_back(newest[cell.call]);
            at = newest[cell.call] = static_cast<std::uint32_t>(sums.size());
        }
        add_sum(sums[at - 1], sum_of(cell, profile));
    }
    add_gpu_times(sums, profile);
    return sums;
}

void add_sum(std::vector<CommSum>& sums, const CommSum& sum) {
    add_sorted(sums, sum, ordered_by(&CommSum::call, &CommSum::bin),
               [](CommSum& to, const CommSum& from) { add_counts(to, from); });
}

}  // namespace mpiprof::report
