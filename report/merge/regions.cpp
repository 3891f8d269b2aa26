// The part `regions`: the regions of a job, those of its profiles added up by path. Paths are what is equal across
// ranks: the order in which ranks meet regions differs.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/merge/duration_counts.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/region.h"
#include "report/model/sorted.h"
#include "report/model/tally.h"
#include "report/model/words.h"

namespace mpiprof::report {
namespace {

// How long the iterations of all ranks took, each by itself, in us: for percentiles that are exact, as numpy's are. Of
// a job with more different times than a person could want they are rounded, the same way whatever the order in which
// ranks are added. Sorted now and then: adding is then no dearer than sorting all at the end, and needs no more room
// than the result.
class SingleTimes {
  public:
    // Each of them stands for `count`.
    void add(std::span<const std::uint32_t> us, std::uint32_t count);
    void absorb(SingleTimes&& other);
    // Ascending, each time once.
    std::vector<RegionRow::Times> take();

  private:
    static constexpr std::size_t most_different = std::size_t{1} << 20;
    void settle();

    std::vector<RegionRow::Times> times_;  // the first `settled_` are sorted, each time once
    std::size_t settled_ = 0;
    unsigned rounded_bits_ = 0;
};

void SingleTimes::add(std::span<const std::uint32_t> us, std::uint32_t count) {
    for (const std::uint32_t one : us) times_.push_back({one >> rounded_bits_ << rounded_bits_, count});
    if (times_.size() > 2 * settled_ + 65536) settle();
}

void SingleTimes::absorb(SingleTimes&& other) {
    rounded_bits_ = std::max(rounded_bits_, other.rounded_bits_);
    append(times_, std::move(other.times_));
    settle();
}

void SingleTimes::settle() {
    for (;; ++rounded_bits_) {
        for (RegionRow::Times& time : times_) time.us = time.us >> rounded_bits_ << rounded_bits_;
        sort_by(times_, &RegionRow::Times::us);
        std::size_t last = 0;
        for (std::size_t i = 1; i < times_.size(); ++i)
            if (times_[i].us == times_[last].us)
                times_[last].count += times_[i].count;
            else
                times_[++last] = times_[i];
        times_.resize(std::min(times_.size(), last + 1));
        if (times_.size() <= most_different) break;
    }
    settled_ = times_.size();
}

std::vector<RegionRow::Times> SingleTimes::take() {
    settle();
    return std::move(times_);
}

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

class RegionsPart {
  public:
    void add(const RankProfile& from);
    void absorb(RegionsPart&& other) {
        has_regions_ |= other.has_regions_;
        for (auto& [key, from] : other.entries_) entry(key.first, key.second) += std::move(from);
    }
    // Parents before what is inside them; empty where no rank named a region.
    void finish(Finishing& end);

  private:
    struct Entry {
        RegionRow row;
        DurationCounts durations;
        SingleTimes times;
        bool lacks_times = false;                                       // of some rank
        std::uint64_t shortest_ns = ~std::uint64_t{0}, longest_ns = 0;  // of one time

        void take_extremes(std::uint64_t shortest, std::uint64_t longest);
        Entry& operator+=(Entry&& more);
        void finish();
    };
    // Paths that are told apart; further ones are added to the region around them.
    static constexpr std::size_t most = 4096;

    // A region that the program calls "iteration" is not the marks of its iterations.
    using Key = std::pair<std::string, bool>;
    struct Before {  // "solve/halo" comes before "solve 2"
        bool operator()(const Key& a, const Key& b) const;
    };
    Entry& entry(const std::string& path, bool is_iteration = false);

    std::map<Key, Entry, Before> entries_;
    bool has_regions_ = false;
};

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
        to.durations.add(profile.buckets_of(region));
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

RegionsPart::Entry& RegionsPart::Entry::operator+=(Entry&& more) {
    take_largest(row, more.row);
    row.ranks += more.row.ranks;
    row.entered += more.row.entered;
    row.time_ns += more.row.time_ns;
    row.items += more.row.items;
    row.calls += more.row.calls;
    row.mpi_ns += more.row.mpi_ns;
    row.message_bytes += more.row.message_bytes;
    if (more.row.first_number != 0) take_first(row, more.row.first_number);
    append(row.marked_by, std::move(more.row.marked_by));
    row.stride = std::max(row.stride, more.row.stride);
    lacks_times |= more.lacks_times;
    times.absorb(std::move(more.times));
    durations.add(more.durations);
    take_extremes(more.shortest_ns, more.longest_ns);
    return *this;
}

// From single times where they are all there, unless they are so short that 1 us is a coarse measure.
void RegionsPart::Entry::finish() {
    constexpr double coarse_below_s = 20e-6;
    std::sort(row.marked_by.begin(), row.marked_by.end());
    if (!lacks_times) row.times = times.take();
    const bool is_exact = !row.times.empty() && percentile_of(row.times, 0.5) >= coarse_below_s;
    const auto of = [&](double share) -> std::optional<double> {
        if (is_exact) return 1e9 * percentile_of(row.times, share);
        if (durations.calls() == 0) return std::nullopt;
        // A damaged file may have its extremes the wrong way round.
        return shortest_ns > longest_ns ? durations.percentile(share)
                                        : durations.percentile(share, shortest_ns, longest_ns);
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

}  // namespace

std::unique_ptr<MergePart> regions_part() { return std::make_unique<PartOf<RegionsPart>>(); }

}  // namespace mpiprof::report
