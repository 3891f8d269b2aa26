// Widths are powers of two and begin together, so the bins of two threads fit into each other.
#include "report/read/activity.h"

#include <algorithm>
#include <numeric>

#include "report/read/reading.h"

namespace mpiprof::report {
namespace {

constexpr std::uint32_t widest = 56;  // more ticks than any machine has lived

bool is_sound(const format::Activity& record) { return record.changes % 2 == 0 && record.log2_width <= widest; }

// A thread's own bins, and in the current one what it had not added up yet.
std::vector<ActivityBin> bins_of(const ThreadActivity& thread, const TickScale& scale) {
    std::vector<ActivityBin> bins(format::activity_bins);
    std::uint64_t time_ns = 0, bytes = 0;
    for (std::size_t i = 0; i < bins.size(); ++i) {
        if (thread.record.bins[i].ticks == 0 && thread.record.bins[i].bytes == 0) continue;
        bins[i] = {scale.ns(thread.record.bins[i].ticks), thread.record.bins[i].bytes};
        time_ns += bins[i].time_ns;
        bytes += bins[i].bytes;
    }
    ActivityBin& current = bins[std::min<std::size_t>(thread.record.current, bins.size() - 1)];
    if (thread.time_ns > time_ns)
        current.time_ns += thread.time_ns - time_ns;
    else
        current.time_ns -= std::min(current.time_ns, time_ns - thread.time_ns);  // rounding
    if (thread.bytes > bytes) current.bytes += thread.bytes - bytes;
    return bins;
}

void grow(Activity& activity, std::size_t bins) {
    if (activity.bins.size() < bins) activity.bins.resize(bins);
}

// Bins of a call that has not returned, if it goes on beyond those that there are.
constexpr std::size_t most_bins = 4096;

void add_call(Activity& activity, std::uint64_t from_ns, std::uint64_t to_ns) {
    const auto width = activity.width_ns;
    const auto last = std::min(static_cast<std::size_t>(static_cast<double>(to_ns) / width), most_bins - 1);
    const auto first = static_cast<std::size_t>(static_cast<double>(from_ns) / width);
    if (first > last) return;
    grow(activity, last + 1);
    for (std::size_t i = first; i <= last; ++i) {
        const double begin = std::max(static_cast<double>(i) * width, static_cast<double>(from_ns));
        const double end = std::min(static_cast<double>(i + 1) * width, static_cast<double>(to_ns));
        if (end > begin) activity.bins[i].time_ns += static_cast<std::uint64_t>(end - begin);
    }
}

// All that each thread's cells hold.
struct Total {
    std::uint64_t time_ns = 0, bytes = 0;
};

std::vector<Total> totals_of(const Profile& profile) {
    std::vector<Total> totals(profile.threads.size());
    for (const Cell& cell : profile.cells) {
        totals[cell.thread].time_ns += cell.time_ns;
        if (carries_messages(profile.calls[cell.call].traffic)) totals[cell.thread].bytes += cell.bytes;
    }
    return totals;
}

}  // namespace

Activity activity_of(std::span<const ThreadActivity> threads, const TickScale& scale, std::uint64_t elapsed_ns) {
    Activity rank;
    std::uint32_t log2_width = 0;
    for (const ThreadActivity& thread : threads)
        if (is_sound(thread.record)) log2_width = std::max(log2_width, thread.record.log2_width);
    if (log2_width == 0) return rank;
    rank.width_ns = scale.ns_exact(std::uint64_t{1} << log2_width);
    for (const ThreadActivity& thread : threads) {
        if (!is_sound(thread.record)) continue;
        const std::vector<ActivityBin> bins = bins_of(thread, scale);
        grow(rank, bins.size());
        for (std::size_t i = 0; i < bins.size(); ++i) {
            ActivityBin& to = rank.bins[i >> (log2_width - thread.record.log2_width)];
            to.time_ns += bins[i].time_ns;
            to.bytes += bins[i].bytes;
        }
        if (thread.in_call_since_ns != 0) add_call(rank, thread.in_call_since_ns, elapsed_ns);
    }
    while (!rank.bins.empty() && rank.bins.back().time_ns == 0 && rank.bins.back().bytes == 0) rank.bins.pop_back();
    return rank;
}

void read_activity(Reading& r) {
    const std::vector<Total> totals = totals_of(r.profile);
    std::vector<ThreadActivity> threads;
    r.tables.each<format::Activity>(
        format::TableType::activity, [&](const format::Activity& record, const format::Table& table) {
            const auto index = r.threads.find(table.thread);
            if (!index) return;
            const Thread& thread = r.profile.threads[*index];
            const bool is_inside = thread.in_call && r.profile.state != State::finalized;
            threads.push_back({.record = record,
                               .time_ns = totals[*index].time_ns,
                               .bytes = totals[*index].bytes,
                               .in_call_since_ns = is_inside ? thread.in_call_since_ns : 0});
        });
    r.profile.activity = activity_of(threads, r.scale, r.profile.elapsed_ns);
    threads.clear();
    r.tables.each<format::Activity>(format::TableType::pauses,
                                    [&](const format::Activity& record, const format::Table&) {
                                        // A pause that goes on is one, though nobody may have added it up yet.
                                        r.profile.paused_ns = std::max<std::uint64_t>(r.profile.paused_ns, 1);
                                        if (threads.empty())
                                            threads.push_back({.record = record, .time_ns = r.profile.paused_ns});
                                    });
    r.profile.pauses = activity_of(threads, r.scale, r.profile.elapsed_ns);
}

}  // namespace mpiprof::report
