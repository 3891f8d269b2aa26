// The parts of the program that it names, and its iterations.
#include "report/read/reading.h"

#include <algorithm>
#include <utility>

namespace mpiprof::report {
namespace {

void read_iterations(Reading& r) {
    r.tables.each<format::Iterations>(
        format::TableType::iterations, [&](const format::Iterations& record, const format::Table&) {
            const bool is_half_done = record.changes % 2 != 0;
            if (is_half_done || record.stride == 0 || record.region >= r.profile.regions.size()) return;
            Region& region = r.profile.regions[record.region];
            if (!region.is_iteration || region.singles != 0) return;
            const std::uint64_t kept = record.marked / record.stride + (record.marked % record.stride != 0);
            region.first_single = static_cast<std::uint32_t>(r.profile.iteration_us.size());
            region.singles = static_cast<std::uint32_t>(std::min<std::uint64_t>(kept, format::most_iterations));
            region.stride = record.stride;
            r.profile.iteration_us.insert(r.profile.iteration_us.end(), record.us, record.us + region.singles);
        });
}

}  // namespace

Result<std::monostate> read_regions(Reading& r) {
    r.tables.each<format::Region>(format::TableType::regions, [&](const format::Region& record, const format::Table&) {
        const BucketReader::Range durations = r.buckets.read_at(record.durations, r.scale);
        Region region{.name = std::string(text_of(record.name)),
                      .parent = record.parent < r.profile.regions.size() ? record.parent : 0,
                      .is_iteration = (record.flags & format::is_iteration) != 0,
                      .entered = record.entered,
                      .time_ns = r.scale.ns(record.ticks),
                      .min_ns = record.entered ? r.scale.ns(record.min_ticks) : 0,
                      .max_ns = r.scale.ns(record.max_ticks),
                      .items = record.items,
                      .first_bucket = durations.first,
                      .buckets = durations.buckets};
        const std::uint64_t last = r.last_ticks();
        if (record.inside_since != 0 && record.inside_since < last) {  // it was never left
            region.time_ns += r.scale.ns(last - record.inside_since);
            ++region.entered;
        }
        r.profile.regions.push_back(std::move(region));
    });
    for (Cell& cell : r.profile.cells)
        if (cell.region >= r.profile.regions.size()) cell.region = 0;
    if (r.buckets.is_damaged()) return r.tables.damaged("the durations of a region point outside the file");
    read_iterations(r);
    return std::monostate{};
}

}  // namespace mpiprof::report
