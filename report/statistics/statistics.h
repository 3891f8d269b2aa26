// The statistics of the reporter, all of them here and with their sources: what is the middle of several measurements,
// and whether two sets of runs differ. Numbers in, numbers out; it knows neither jobs nor words. compare/ calls it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mpiprof::report {

// Of an even number the mean of the two in the middle. `values` must not be empty.
double median_of(std::vector<double> values);

// The value that `share` of them do not exceed, interpolated linearly between its neighbours as numpy does. `sorted`
// must not be empty.
double quantile_of(std::span<const double> sorted, double share);

// P(U <= u) where both sets are drawn from one distribution: the exact distribution of Mann and Whitney's U (Annals of
// Mathematical Statistics 18, 1947) by their recursion, and its normal limit for sets so large that it is as good.
double mann_whitney_below(std::size_t n, std::size_t m, double u);

// By how much `test` is larger than `base`, as a ratio, and an interval that holds the true ratio in 95 of 100 cases at
// least. The estimate is Hodges and Lehmann's (Annals of Mathematical Statistics 34, 1963): the median of the ratios of
// all pairs of runs; the interval is that of all ratios which Mann and Whitney's test does not reject (D. F. Bauer,
// Journal of the American Statistical Association 67, 1972). It supposes no distribution: only that a change
// multiplies the time of every run alike. So a run that some neighbour disturbed cannot move it far.
struct RatioInterval {
    double estimate = 1;
    // Empty with fewer than 4 runs a side or so: then not even the clearest order is rarer than 5 in 100.
    std::optional<double> low{}, high{};

    bool is_known() const { return low.has_value(); }
    bool excludes(double ratio) const { return is_known() && (*low > ratio || *high < ratio); }
};
RatioInterval ratio_of(std::span<const double> base, std::span<const double> test);

// Whether the two sets of runs took turns, as their places in time say: ABAB..., ABBA..., or in any order in which
// neither set is later than the other on the whole. Where they did not, whatever changed with time (the load of a
// network, the temperature of a room) looks like the difference of the sets. The bound is that of strict turns, or a
// tenth of all pairs of runs where that is more.
bool took_turns(std::span<const double> base_moments, std::span<const double> test_moments);

}  // namespace mpiprof::report
