// Mann and Whitney, Hodges and Lehmann.
#include "report/statistics/statistics.h"

#include <algorithm>
#include <cmath>

namespace mpiprof::report {
namespace {

constexpr double error_of_each_side = 0.025;  // of an interval of 95 %
constexpr std::size_t largest_exact = 40;     // runs a side

// P(U = u), for u from 0 to n m. p(n, m, u) = n/(n+m) p(n-1, m, u-m) + m/(n+m) p(n, m-1, u): whose run is the largest.
std::vector<double> exact_distribution(std::size_t n, std::size_t m) {
    // Row by row of n; each keeps the distributions of all m.
    std::vector<std::vector<double>> of(m + 1, std::vector<double>{1.0});
    for (std::size_t i = 1; i <= n; ++i) {
        for (std::size_t j = 1; j <= m; ++j) {
            std::vector<double> next(i * j + 1, 0.0);
            const double whole = static_cast<double>(i + j);
            for (std::size_t u = 0; u < of[j].size(); ++u) next[u + j] += static_cast<double>(i) / whole * of[j][u];
            for (std::size_t u = 0; u < of[j - 1].size(); ++u) next[u] += static_cast<double>(j) / whole * of[j - 1][u];
            of[j] = std::move(next);
        }
    }
    return of[m];
}

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// How many of the pairs may lie outside the interval on each side.
std::size_t pairs_outside(std::size_t n, std::size_t m) {
    std::size_t outside = 0;
    if (std::max(n, m) <= largest_exact) {
        const std::vector<double> p = exact_distribution(n, m);
        for (double sum = 0; outside < p.size() && (sum += p[outside]) <= error_of_each_side;) ++outside;
        return outside;
    }
    while (mann_whitney_below(n, m, static_cast<double>(outside)) <= error_of_each_side) ++outside;
    return outside;
}

}  // namespace

double quantile_of(std::span<const double> sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const double above = sorted[std::min(below + 1, sorted.size() - 1)];
    return sorted[below] + (place - static_cast<double>(below)) * (above - sorted[below]);
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mann_whitney_below(std::size_t n, std::size_t m, double u) {
    if (std::max(n, m) <= largest_exact) {
        const std::vector<double> p = exact_distribution(n, m);
        double sum = 0;
        for (std::size_t i = 0; i < p.size() && static_cast<double>(i) <= u; ++i) sum += p[i];
        return sum;
    }
    const auto pairs = static_cast<double>(n) * static_cast<double>(m);
    const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
    return normal_below((u + 0.5 - pairs / 2) / deviation);
}

RatioInterval ratio_of(std::span<const double> base, std::span<const double> test) {
    std::vector<double> ratios;
    for (const double a : base)
        for (const double b : test) ratios.push_back(std::log(b / a));
    if (ratios.empty()) return {};
    std::sort(ratios.begin(), ratios.end());
    RatioInterval result{.estimate = std::exp(median_of(ratios))};
    const std::size_t outside = pairs_outside(base.size(), test.size());
    if (outside == 0) return result;
    result.low = std::exp(ratios[outside - 1]);
    result.high = std::exp(ratios[ratios.size() - outside]);
    return result;
}

bool took_turns(std::span<const double> base_moments, std::span<const double> test_moments) {
    if (base_moments.empty() || test_moments.empty()) return false;
    double later = 0;
    for (const double a : base_moments)
        for (const double b : test_moments) later += b > a ? 1 : b == a ? 0.5 : 0;
    const auto pairs = static_cast<double>(base_moments.size()) * static_cast<double>(test_moments.size());
    const auto fewer = static_cast<double>(std::min(base_moments.size(), test_moments.size()));
    return std::abs(later / pairs - 0.5) <= std::max(1 / (2 * fewer), 0.1) + 1e-9;
}

}  // namespace mpiprof::report
