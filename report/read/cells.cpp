// What each thread has counted: cells of timed calls, counters of those that are only counted, and how long calls took.
#include "report/read/reading.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

// A polled call's counter counts all polls; those that were timed (for the others, too) stand in cells as well.
std::uint64_t calls_in_cells(const Profile& profile, std::size_t call, std::uint32_t thread) {
    std::uint64_t calls = 0;
    for (const Cell& cell : profile.cells)
        if (cell.call == call && cell.thread == thread) calls += cell.calls;
    return calls;
}

constexpr std::size_t usual_buckets_in_a_block = 8;  // of 16; a vector that lacks some grows

}  // namespace

void read_cells(Reading& r) {
    r.profile.cells.reserve(r.tables.records(format::TableType::cells) + r.tables.records(format::TableType::counters));
    r.tables.each<format::Cell>(format::TableType::cells, [&](const format::Cell& record, const format::Table& table) {
        if (record.calls == 0 && record.errors == 0) return;
        const bool has_min = record.calls != 0 && record.min_ticks != ~std::uint64_t{0};
        r.profile.cells.push_back(
            {.call = r.calls.of(record.call),
             .bin = std::min<std::uint8_t>(record.bin, size_bins - 1),
             .buffer = record.buffer <= format::BufferKind::managed ? static_cast<Buffer>(record.buffer) : Buffer::host,
             .communicator = record.communicator,
             .region = record.region,
             .site = record.site,
             .thread = r.threads.of(table.thread),
             .calls = record.calls,
             .bytes = record.bytes,
             .time_ns = r.scale.ns(record.ticks),
             .min_ns = has_min ? std::optional(r.scale.ns(record.min_ticks)) : std::nullopt,
             .max_ns = r.scale.ns(record.max_ticks),
             .errors = record.errors,
             .is_untimed = record.calls != 0 && !has_min && record.ticks == 0});
    });
}

void read_counters(Reading& r) {
    for (const format::Table& table : r.tables.all()) {
        if (table.type != format::TableType::counters) continue;
        const std::size_t calls = r.profile.calls.size();
        for (std::size_t i = 0; i < calls; ++i) {
            const Call& call = r.profile.calls[i];
            const bool has_counter = call.treatment == Treatment::counted || call.is_sampled;
            if (!has_counter || r.calls.counter_of(i) >= table.used) continue;
            const auto counter = r.tables.record<format::Counter>(table, r.calls.counter_of(i));
            const std::uint32_t thread = r.threads.of(table.thread);
            const std::uint64_t timed = call.is_sampled ? calls_in_cells(r.profile, i, thread) : 0;
            const std::uint64_t untimed = counter.calls > timed ? counter.calls - timed : 0;
            if (untimed == 0 && counter.errors == 0) continue;
            r.profile.cells.push_back(
                {.call = static_cast<std::uint16_t>(i), .thread = thread, .calls = untimed, .errors = counter.errors});
        }
    }
}

Result<std::monostate> read_histograms(Reading& r) {
    r.profile.histograms.reserve(r.tables.records(format::TableType::histograms));
    r.profile.buckets.reserve(r.tables.records(format::TableType::histogram_blocks) * usual_buckets_in_a_block);
    r.tables.each<format::Histogram>(
        format::TableType::histograms, [&](const format::Histogram& record, const format::Table& table) {
            const BucketReader::Range range = r.buckets.read(record, r.scale);
            if (range.buckets == 0 && record.completed == 0) return;
            r.profile.histograms.push_back({.call = r.calls.of(record.call),
                                            .bin = std::min<std::uint8_t>(record.bin, size_bins - 1),
                                            .thread = r.threads.of(table.thread),
                                            .first_bucket = range.first,
                                            .buckets = range.buckets,
                                            .requests = record.completed,
                                            .in_flight_ns = r.scale.ns(record.in_flight_ticks),
                                            .blocked_ns = r.scale.ns(record.blocked_ticks),
                                            .inside_ns = r.scale.ns(record.inside_ticks)});
        });
    if (r.buckets.is_damaged()) return r.tables.damaged("a histogram points outside the file");
    return std::monostate{};
}

}  // namespace mpiprof::report
