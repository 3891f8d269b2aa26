// The regions of a job: those of its profiles, added up by path. A part of a merge.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/merge/duration_counts.h"
#include "report/merge/rank_profile.h"
#include "report/merge/single_times.h"
#include "report/model/profile.h"
#include "report/model/region.h"

namespace mpiprof::report {

class RegionsPart {
  public:
    void add(const RankProfile& from);
    void absorb(RegionsPart&& other);
    // Parents before what is inside them; empty where no rank named a region.
    void finish(Finishing& end);

  private:
    struct Entry {
        RegionRow row;
        DurationCounts durations;
        SingleTimes times;
        bool lacks_times = false;  // of some rank
        void finish();
        std::uint64_t shortest_ns = ~std::uint64_t{0}, longest_ns = 0;  // of one time
        void take_extremes(std::uint64_t shortest, std::uint64_t longest);
        std::optional<double> percentile(double share) const;
    };
    static constexpr std::size_t most =
        4096;  // paths that are told apart; further ones are added to the region around them

    // A region that the program calls "iteration" is not the marks of its iterations.
    using Key = std::pair<std::string, bool>;
    struct Before {  // "solve/halo" comes before "solve 2"
        bool operator()(const Key& a, const Key& b) const;
    };
    Entry& entry(const std::string& path, bool is_iteration = false);
    std::map<Key, Entry, Before> entries_;
    bool has_regions_ = false;
};

}  // namespace mpiprof::report
