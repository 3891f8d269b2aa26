// The statistics hold what they say: by known values, and by simulation of runs as machines have them, a tenth of which
// some neighbour disturbs. Seeds are fixed: the same numbers each time.
#include "report/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

namespace mpiprof::test {
namespace {

using report::mann_whitney_below;
using report::median_of;
using report::ratio_of;
using report::RatioInterval;
using report::took_turns;

constexpr int trials = 4000;
// Three standard deviations of a share of 5 % over so many trials.
const double slack = 3 * std::sqrt(0.05 * 0.95 / trials);

using Random = std::mt19937_64;

// 3 % of noise, and one run in ten is up to 30 % longer.
double disturbed(Random& random) {
    const double noise = std::exp(std::normal_distribution<double>(0, 0.03)(random));
    const bool is_disturbed = std::uniform_real_distribution<double>(0, 1)(random) < 0.1;
    return noise * (is_disturbed ? 1 + std::uniform_real_distribution<double>(0, 0.3)(random) : 1);
}
// Nothing tames these: no mean, no deviation.
double wild(Random& random) { return std::exp(std::cauchy_distribution<double>(0, 0.02)(random)); }

struct Runs {
    std::vector<double> base, test;
};

// How many of the trials say what `is_it` asks.
double share_of(const std::function<Runs(Random&)>& draw, const std::function<bool(const RatioInterval&)>& is_it) {
    Random random(20261122);
    int hits = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const Runs runs = draw(random);
        hits += is_it(ratio_of(runs.base, runs.test));
    }
    return static_cast<double>(hits) / trials;
}

std::function<Runs(Random&)> independent(std::size_t n, double (*noise)(Random&), double change = 1) {
    return [=](Random& random) {
        Runs runs;
        for (std::size_t i = 0; i < n; ++i) runs.base.push_back(10 * noise(random));
        for (std::size_t i = 0; i < n; ++i) runs.test.push_back(10 * change * noise(random));
        return runs;
    };
}

// Taking turns while everything becomes slower: `drift` from the first run to the last.
std::function<Runs(Random&)> in_turns(std::size_t n, const std::function<double(double)>& drift, double change = 1) {
    return [=](Random& random) {
        Runs runs;
        for (std::size_t i = 0; i < 2 * n; ++i) {
            const double at = static_cast<double>(i) / static_cast<double>(2 * n - 1);
            const double seconds = 10 * drift(at) * disturbed(random);
            // ABBA ABBA ...
            (i % 4 == 0 || i % 4 == 3 ? runs.base : runs.test).push_back(seconds);
        }
        for (double& seconds : runs.test) seconds *= change;
        return runs;
    };
}

bool excludes_no_change(const RatioInterval& ratio) { return ratio.excludes(1); }

TEST(statistics, medians_are_those_of_the_ordered_values) {
    EXPECT_EQ(median_of({3, 1, 2}), 2);
    EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median_of({7}), 7);
}

TEST(statistics, the_distribution_of_mann_and_whitney_is_exact) {
    EXPECT_NEAR(mann_whitney_below(3, 3, 0), 1.0 / 20, 1e-12);
    EXPECT_NEAR(mann_whitney_below(4, 4, 0), 1.0 / 70, 1e-12);
    EXPECT_NEAR(mann_whitney_below(5, 5, 2), 4.0 / 252, 1e-12);
    EXPECT_NEAR(mann_whitney_below(10, 10, 23), 0.0216, 5e-5) << "their table";
    EXPECT_NEAR(mann_whitney_below(7, 5, 35), 1, 1e-12);
    EXPECT_NEAR(mann_whitney_below(60, 60, 60 * 60 / 2.0), 0.5, 0.01) << "its normal limit";
}

TEST(statistics, an_interval_is_that_of_the_changes_the_test_does_not_reject) {
    const std::vector<double> base{10, 10.1, 10.2, 10.3, 10.4}, test{11, 11.1, 11.2, 11.3, 11.4};
    const RatioInterval ratio = ratio_of(base, test);
    EXPECT_NEAR(ratio.estimate, 1.098, 0.001);
    ASSERT_TRUE(ratio.is_known());
    EXPECT_TRUE(ratio.excludes(1));
    EXPECT_LT(*ratio.low, ratio.estimate);
    EXPECT_GT(*ratio.high, ratio.estimate);
    const RatioInterval same = ratio_of(base, base);
    EXPECT_EQ(same.estimate, 1);
    EXPECT_FALSE(same.excludes(1));
}

TEST(statistics, of_three_runs_a_side_nothing_can_be_told) {
    EXPECT_FALSE(ratio_of(std::vector<double>{1, 2, 3}, std::vector<double>{10, 20, 30}).is_known());
    EXPECT_TRUE(ratio_of(std::vector<double>{1, 2, 3, 4}, std::vector<double>{10, 20, 30, 40}).is_known());
    EXPECT_FALSE(ratio_of(std::vector<double>{1}, std::vector<double>{2}).is_known());
}

TEST(statistics, false_alarms_are_at_most_five_in_a_hundred) {
    for (const std::size_t n : {4u, 5u, 7u, 10u}) {
        EXPECT_LE(share_of(independent(n, disturbed), excludes_no_change), 0.05 + slack) << n;
        EXPECT_LE(share_of(independent(n, wild), excludes_no_change), 0.05 + slack) << n;
    }
}

TEST(statistics, false_alarms_stay_rare_under_drift_where_runs_took_turns) {
    const std::function<double(double)> drifts[] = {
        [](double at) { return 1 + 0.1 * at; },                                   // slowly
        [](double at) { return 1 + 2 * at; },                                     // three times as long at the end
        [](double at) { return 1 + 0.2 * std::sin(2 * std::numbers::pi * at); },  // a tide
        [](double at) { return at < 0.5 ? 1.0 : 1.3; },                           // a step
    };
    for (const auto& drift : drifts)
        for (const std::size_t n : {5u, 10u})
            EXPECT_LE(share_of(in_turns(n, drift), excludes_no_change), 0.05 + slack) << n;
}

TEST(statistics, an_interval_holds_the_true_change_as_often_as_it_says) {
    for (const double change : {0.8, 1.0, 1.1})
        for (const std::size_t n : {5u, 10u}) {
            const auto holds = [&](const RatioInterval& ratio) { return !ratio.excludes(change); };
            EXPECT_GE(share_of(independent(n, disturbed, change), holds), 0.95 - slack) << n << " " << change;
            EXPECT_GE(share_of(in_turns(
                                   n, [](double at) { return 1 + 0.2 * at; }, change),
                               holds),
                      0.95 - slack);
        }
}

// What docs/metrics.md says of it.
TEST(statistics, a_change_of_a_tenth_is_found_as_often_as_is_said) {
    EXPECT_NEAR(share_of(independent(5, disturbed, 1.1), excludes_no_change), 0.69, 0.05);
    EXPECT_GE(share_of(independent(10, disturbed, 1.1), excludes_no_change), 0.95);
}

TEST(statistics, one_side_after_the_other_is_no_turns) {
    EXPECT_FALSE(took_turns(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{6, 7, 8, 9, 10}));
    EXPECT_FALSE(took_turns(std::vector<double>{6, 7, 8, 9, 10}, std::vector<double>{1, 2, 3, 4, 5}));
    EXPECT_FALSE(took_turns(std::vector<double>{1, 2, 3, 5, 6}, std::vector<double>{4, 7, 8, 9, 10}));
    EXPECT_TRUE(took_turns(std::vector<double>{1, 3, 5, 7, 9}, std::vector<double>{2, 4, 6, 8, 10}));
    EXPECT_TRUE(took_turns(std::vector<double>{1, 4, 5, 8, 9}, std::vector<double>{2, 3, 6, 7, 10}));
    EXPECT_FALSE(took_turns(std::vector<double>{}, std::vector<double>{1}));
}

TEST(statistics, orders_that_pass_for_turns_raise_no_alarm_under_drift) {
    // Every order of 5 and 5 runs that is taken for turns, under a drift as large as the noise and a far larger one.
    for (const double drift : {0.05, 0.1, 0.3}) {
        Random random(5);
        int alarms = 0, orders = 0;
        std::vector<int> order{0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
        for (int round = 0; round < 60; ++round) {
            std::shuffle(order.begin(), order.end(), random);
            std::vector<double> at[2];
            for (std::size_t i = 0; i < order.size(); ++i) at[order[i]].push_back(static_cast<double>(i));
            if (!took_turns(at[0], at[1])) continue;
            for (int trial = 0; trial < 200; ++trial) {
                std::vector<double> seconds[2];
                for (std::size_t i = 0; i < order.size(); ++i)
                    seconds[order[i]].push_back((1 + drift * static_cast<double>(i) / 9) * disturbed(random));
                alarms += ratio_of(seconds[0], seconds[1]).excludes(1);
                ++orders;
            }
        }
        ASSERT_GT(orders, 1000);
        EXPECT_LE(static_cast<double>(alarms) / orders, 0.05 + 3 * std::sqrt(0.05 * 0.95 / orders)) << drift;
    }
}

}  // namespace
}  // namespace mpiprof::test
