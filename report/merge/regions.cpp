// Paths are what is equal across ranks: the order in which ranks meet regions differs.
#include "report/merge/regions.h"

#include <algorithm>
#include <utility>

#include "report/model/tally.h"
#include "report/model/words.h"

namespace mpiprof::report {
namespace {

// A slash in a name is no level.
std::string level_of(std::string name) {
    std::replace(name.begin(), name.end(), '/', '|');
    return name;
}

std::vector<std::string> paths_of(const std::vector<Region>& regions) {
    std::vector<std::string> paths(regions.size());
    for (std::size_t i = 1; i < regions.size(); ++i) {  // a parent comes before its children: the reader saw to it
        const std::string& parent = paths[regions[i].parent];
        paths[i] = parent.empty() ? level_of(regions[i].name) : parent + "/" + level_of(regions[i].name);
    }
    return paths;
}

void take_first(RegionRow& row, std::uint32_t number) {
    if (row.first_number == 0 || number < row.first_number) row.first_number = number;
}

}  // namespace

bool RegionsPart::Before::operator()(const Key& a, const Key& b) const {
    const auto place = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
    const auto less = [&](char x, char y) { return place(x) < place(y); };
    if (a.first == b.first) return a.second < b.second;
    return std::lexicographical_compare(a.first.begin(), a.first.end(), b.first.begin(), b.first.end(), less);
}

RegionsPart::Entry& RegionsPart::entry(const std::string& path, bool is_iteration) {
    const auto found = entries_.find({path, is_iteration});
    if (found != entries_.end()) return found->second;
    if (entries_.size() >= most && !path.empty()) {
        const auto slash = path.rfind('/');
        return entry(slash == std::string::npos ? std::string() : path.substr(0, slash));
    }
    Entry& fresh = entries_[{path, is_iteration}];
    fresh.row.path = path;
    fresh.row.is_iteration = is_iteration;
    return fresh;
}

void RegionsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    has_regions_ |= profile.regions.size() > 1;
    const std::vector<std::string> paths = paths_of(profile.regions);
    for (std::size_t i = 1; i < profile.regions.size(); ++i) {
        const Region& region = profile.regions[i];
        Entry& to = entry(paths[i], region.is_iteration);
        take_largest(to.row, region.time_ns, profile.rank);
        take_first(to.row, static_cast<std::uint32_t>(i));
        to.row.ranks += 1;
        to.row.entered += region.entered;
        to.row.time_ns += region.time_ns;
        to.row.items += region.items;
        if (region.is_iteration) {
            to.row.marked_by.push_back(profile.rank);
            to.row.stride = std::max(to.row.stride, region.stride);
            to.lacks_times |= region.singles == 0 && region.entered != 0;
            to.times.add(std::span(profile.iteration_us).subspan(region.first_single, region.singles), region.stride);
        }
        if (region.buckets != 0) to.take_extremes(region.min_ns, region.max_ns);
        for (std::uint32_t b = 0; b < region.buckets; ++b) {
            const Bucket& bucket = profile.buckets[region.first_bucket + b];
            to.durations.add(bucket.low_ns, bucket.high_ns, bucket.calls);
        }
    }
    RegionRow& outside = entry({}).row;
    outside.ranks += 1;
    outside.time_ns += profile.elapsed_ns;
    for (const Cell& cell : profile.cells) {
        const Call& call = profile.calls[cell.call];
        if (call.treatment == Treatment::counted) continue;
        RegionRow& row = cell.region < paths.size() ? entry(paths[cell.region]).row : outside;
        row.calls += cell.calls;
        row.mpi_ns += cell.time_ns;
        if (carries_messages(call.traffic)) row.message_bytes += cell.bytes;
    }
}

void RegionsPart::Entry::take_extremes(std::uint64_t shortest, std::uint64_t longest) {
    shortest_ns = std::min(shortest_ns, shortest);
    longest_ns = std::max(longest_ns, longest);
}

// A bucket is wider than few times may be apart. A damaged file may have its extremes the wrong way round.
std::optional<double> RegionsPart::Entry::percentile(double share) const {
    if (durations.calls() == 0) return std::nullopt;
    const double ns = durations.percentile(share);
    return shortest_ns > longest_ns ? ns
                                    : std::clamp(ns, static_cast<double>(shortest_ns), static_cast<double>(longest_ns));
}

void RegionsPart::absorb(RegionsPart&& other) {
    has_regions_ |= other.has_regions_;
    for (auto& [key, from] : other.entries_) {
        Entry& to = entry(key.first, key.second);
        take_largest(to.row, from.row);
        to.row.ranks += from.row.ranks;
        to.row.entered += from.row.entered;
        to.row.time_ns += from.row.time_ns;
        to.row.items += from.row.items;
        to.row.calls += from.row.calls;
        to.row.mpi_ns += from.row.mpi_ns;
        to.row.message_bytes += from.row.message_bytes;
        if (from.row.first_number != 0) take_first(to.row, from.row.first_number);
        to.row.marked_by.insert(to.row.marked_by.end(), from.row.marked_by.begin(), from.row.marked_by.end());
        to.row.stride = std::max(to.row.stride, from.row.stride);
        to.lacks_times |= from.lacks_times;
        to.times.absorb(std::move(from.times));
        to.durations.add(from.durations);
        to.take_extremes(from.shortest_ns, from.longest_ns);
    }
}

// From single times where they are all there, unless they are so short that 1 us is a coarse measure.
void RegionsPart::Entry::finish() {
    constexpr double coarse_below_s = 20e-6;
    std::sort(row.marked_by.begin(), row.marked_by.end());
    if (!lacks_times) row.times = times.take();
    const bool is_exact = !row.times.empty() && percentile_of(row.times, 0.5) >= coarse_below_s;
    const auto of = [&](double share) {
        return is_exact ? std::optional(1e9 * percentile_of(row.times, share)) : percentile(share);
    };
    row.p50_ns = of(0.50);
    row.p75_ns = of(0.75);
    row.p90_ns = of(0.90);
    row.p95_ns = of(0.95);
    row.has_exact_percentiles = is_exact;
}

void RegionsPart::finish(Finishing& end) {
    std::vector<RegionRow>& rows = end.job.regions;
    if (!has_regions_) return;
    for (auto& [key, from] : entries_) {
        from.finish();
        rows.push_back(std::move(from.row));
    }
    for (RegionRow& row : rows) {
        const std::string inside = row.path + "/";
        for (const RegionRow& other : rows)
            if (&other == &row || row.path.empty() || other.path.starts_with(inside)) row.inner_mpi_ns += other.mpi_ns;
    }
}

}  // namespace mpiprof::report
