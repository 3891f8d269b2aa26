// The sentence of `mpiprof-report scaling` on laws that are known.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "report/compare/scaling.h"
#include "report/compare/scaling_tables.h"

namespace mpiprof::test {
namespace {

using report::Sample;
using report::Scaling;
using report::UnitWords;

constexpr UnitWords gpus{"GPU", "GPUs"};

Scaling of_law(const std::function<double(double)>& seconds, double most, bool is_weak = false, double first = 1) {
    std::vector<Sample> samples;
    for (double n = first; n <= most; ++n) samples.push_back({.n = n, .seconds = seconds(n)});
    return report::scaling_of("", samples, is_weak, 0.25);
}

double last_worth(const Scaling& scaling) { return scaling.points[scaling.last_worth].n; }

TEST(scaling_law, amdahls_plateau_is_where_the_law_has_it) {
    for (const double serial : {0.01, 0.05, 0.1, 0.2, 0.4}) {
        const auto speedup = [&](double n) { return 1 / (serial + (1 - serial) / n); };
        double expected = 1;
        while (expected < 64 && speedup(expected + 1) - speedup(expected) >= 0.25) ++expected;
        const Scaling scaling = of_law([&](double n) { return 100 / speedup(n); }, 64);
        EXPECT_EQ(last_worth(scaling), expected) << serial;
        EXPECT_EQ(scaling.has_plateau(), expected < 64);
        for (std::size_t i = 1; i < scaling.points.size(); ++i)
            EXPECT_NEAR(*scaling.points[i].karp_flatt, serial, 1e-9) << "Karp and Flatt find Amdahl's serial share";
    }
}

TEST(scaling_law, perfect_scaling_has_no_plateau_and_no_serial_share) {
    const Scaling scaling = of_law([](double n) { return 100 / n; }, 32);
    EXPECT_FALSE(scaling.has_plateau());
    EXPECT_NEAR(*scaling.points.back().karp_flatt, 0, 1e-12);
    EXPECT_NEAR(scaling.points.back().relative_su, 1, 1e-12);
    EXPECT_EQ(report::advice_of(scaling, gpus),
              "Still scaling at 32 GPUs, the largest size measured: the last one still adds 1.00 of one.");
}

TEST(scaling_law, a_program_that_becomes_slower_is_told_to_stop_before_it_does) {
    // Gunther's law with a peak: contention and exchange between all.
    const auto speedup = [](double n) { return n / (1 + 0.05 * (n - 1) + 0.02 * n * (n - 1)); };
    const Scaling scaling = of_law([&](double n) { return 60 / speedup(n); }, 16);
    double expected = 1;
    while (speedup(expected + 1) - speedup(expected) >= 0.25) ++expected;
    EXPECT_EQ(last_worth(scaling), expected);
    EXPECT_LT(last_worth(scaling), std::sqrt(0.95 / 0.02)) << "the peak itself";
    const Scaling worse = of_law([](double n) { return 10 * n; }, 3);
    EXPECT_EQ(report::advice_of(worse, gpus),
              "Scaling levels off at 1 GPU: the 2nd loses 0.50 of one and raises the SU from 1.00 to 4.00.");
}

TEST(scaling_law, weak_scaling_is_judged_by_the_work_that_is_done) {
    // Gustafson: 10 % of the time does not grow with N.
    const Scaling scaling = of_law([](double n) { return 100 * n / (0.1 + 0.9 * n); }, 16, true);
    EXPECT_FALSE(scaling.has_plateau());
    for (const auto& point : scaling.points) {
        EXPECT_NEAR(point.speedup, 0.1 + 0.9 * point.n, 1e-9);
        EXPECT_NEAR(point.efficiency, scaling.points[0].seconds / point.seconds, 1e-9);
        EXPECT_FALSE(point.karp_flatt);
    }
    const Scaling stuck = of_law([](double n) { return n <= 4 ? 10.0 : 10.0 * n / 4; }, 8, true);
    EXPECT_EQ(report::advice_of(stuck, gpus),
              "Scaling levels off at 4 GPUs: the 5th adds 0.00 of one and raises the SU from 1.00 to 1.25.");
}

TEST(scaling_law, one_dip_is_no_plateau_if_later_units_gain_again) {
    const std::vector<Sample> samples{{.n = 1, .seconds = 100}, {.n = 2, .seconds = 99}, {.n = 3, .seconds = 40}};
    EXPECT_FALSE(report::scaling_of("", samples, false, 0.25).has_plateau());
}

TEST(scaling_law, what_only_makes_up_for_a_dip_is_no_gain) {
    // As two cores were seen with 1 to 4 ranks: the 3rd and 4th gain, but all four together do no more than one.
    const std::vector<Sample> samples{
        {.n = 1, .seconds = 4.2}, {.n = 2, .seconds = 9.5}, {.n = 3, .seconds = 5.6}, {.n = 4, .seconds = 4.0}};
    EXPECT_NE(report::advice_of(report::scaling_of("", samples, false, 0.25), gpus).find("levels off at 1 GPU"),
              std::string::npos);
}

TEST(scaling_law, without_one_unit_all_is_relative_to_the_smallest) {
    const Scaling scaling = of_law([](double n) { return 80 / n; }, 8, false, 4);
    EXPECT_NEAR(scaling.points.back().speedup, 2, 1e-12);
    EXPECT_NEAR(scaling.points.back().efficiency, 1, 1e-12);
    EXPECT_NEAR(*scaling.points.back().gain, 1, 1e-12) << "each adds what each of the four does";
    EXPECT_NEAR(*scaling.points.back().karp_flatt, 0, 1e-12);
}

TEST(scaling_law, between_sizes_that_were_not_measured_nothing_is_said) {
    const std::vector<Sample> samples{{.n = 1, .seconds = 100}, {.n = 4, .seconds = 30}, {.n = 16, .seconds = 25}};
    EXPECT_EQ(report::advice_of(report::scaling_of("", samples, false, 0.25), gpus),
              "16 GPUs are not worth it: beyond 4, each of 12 more adds 0.06 of one, which raises the SU from 1.20 to "
              "4.00. Nothing was measured between 4 and 16.");
    EXPECT_EQ(report::advice_of(report::scaling_of("", {{.n = 4, .seconds = 1}}, false, 0.25), gpus),
              "Only 4 GPUs were measured: nothing can be said about other sizes.");
}

TEST(scaling_law, the_next_unit_is_counted_as_people_count) {
    for (const auto& [last, next] :
         {std::pair(1, "2nd"), {2, "3rd"}, {3, "4th"}, {10, "11th"}, {12, "13th"}, {20, "21st"}}) {
        const auto seconds = [last = last](double n) { return 60 / std::min(n, static_cast<double>(last)); };
        EXPECT_NE(report::advice_of(of_law(seconds, last + 1), gpus).find(fmt::format("the {} adds 0.00", next)),
                  std::string::npos);
    }
}

TEST(scaling_law, noise_moves_the_limit_by_little_and_repeats_say_when_it_might) {
    // Three repeats of Amdahl's law with 2 % of noise: the median holds the limit within one unit of the law's.
    const auto seconds = [](double n) { return 100 * (0.1 + 0.9 / n); };
    const double exact = last_worth(of_law(seconds, 24));
    std::mt19937_64 random(18);
    std::normal_distribution<double> noise(0, 0.002);
    int silently_moved = 0;
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<Sample> samples;
        for (double n = 1; n <= 24; ++n)
            for (int repeat = 0; repeat < 3; ++repeat)
                samples.push_back({.n = n, .seconds = seconds(n) * std::exp(noise(random))});
        const Scaling scaling = report::scaling_of("", samples, false, 0.25);
        EXPECT_NEAR(last_worth(scaling), exact, 2) << trial;
        if (last_worth(scaling) == exact) continue;
        const bool is_said = report::advice_of(scaling, gpus).find("may be elsewhere") != std::string::npos;
        EXPECT_EQ(is_said, scaling.is_close());
        silently_moved += !is_said;
    }
    EXPECT_LE(silently_moved, 10) << "of 200";
}

}  // namespace
}  // namespace mpiprof::test
