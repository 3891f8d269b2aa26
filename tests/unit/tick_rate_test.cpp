// How long a tick is where the clocks do not keep one pace: machines and containers that slept, clocks that were moved.
#include "libmpiprof/format/tick_rate.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpiprof::format {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr double ticks_per_ns = 2.6;
constexpr std::uint64_t khz = 2'600'000;

// A run in stretches: so long by the system's clock, and so long by the counter.
struct Stretch {
    double clock_ms, counter_ms;
};
std::vector<Anchor> anchors(const std::vector<Stretch>& stretches) {
    std::vector<Anchor> all{{1'000'000'000, 77'000'000'000, 1}};
    for (const Stretch& s : stretches) {
        Anchor next = all.back();
        next.monotonic_ns += static_cast<std::uint64_t>(s.clock_ms * ms);
        next.ticks += static_cast<std::uint64_t>(s.counter_ms * ms * ticks_per_ns);
        all.push_back(next);
    }
    return all;
}
double pace(const std::vector<Stretch>& stretches, std::uint64_t named = 0, bool* is_steady = nullptr) {
    const auto all = anchors(stretches);
    const TickRate rate = tick_rate(all.data(), all.size(), named);
    if (is_steady) *is_steady = rate.is_steady;
    return rate.ticks == 0 ? 0 : static_cast<double>(rate.ns) / static_cast<double>(rate.ticks) * ticks_per_ns;
}

TEST(tick_rate, is_that_of_the_whole_run_where_all_is_well) {
    bool is_steady = false;
    EXPECT_NEAR(pace({{120, 120}, {5000, 5000.001}, {0, 0}}, 0, &is_steady), 1, 1e-6);
    EXPECT_TRUE(is_steady);
    EXPECT_NEAR(pace({{2, 2.004}, {5000, 5000}}, 0, &is_steady), 1, 1e-6) << "an interrupt between two readings";
    EXPECT_TRUE(is_steady);
    EXPECT_NEAR(pace({{100, 100.05}, {5000, 5000}}, 0, &is_steady), 1, 1e-4) << "slewed by 500 parts in a million";
    EXPECT_TRUE(is_steady);
}

TEST(tick_rate, a_machine_that_slept_is_noticed_wherever_it_did) {
    for (const auto& stretches : std::vector<std::vector<Stretch>>{
             {{100, 100}, {1600, 4600}}, {{100, 3100}, {1600, 1600}}, {{100, 100}, {900, 900}, {700, 3700}}}) {
        bool is_steady = true;
        EXPECT_NEAR(pace(stretches, 0, &is_steady), 1, 1e-6);
        EXPECT_FALSE(is_steady);
        EXPECT_NEAR(pace(stretches, khz), 1, 1e-6);
    }
}

TEST(tick_rate, a_clock_that_stood_still_all_the_time_between_two_moments_is_noticed) {
    bool is_steady = true;
    EXPECT_NEAR(pace({{100, 100}, {0.5, 3000}, {900, 900}}, 0, &is_steady), 1, 1e-6);
    EXPECT_FALSE(is_steady);
}

TEST(tick_rate, a_counter_that_began_anew_on_another_machine_is_told_by_its_name) {
    // Restored after a checkpoint: the counter of the new machine is behind, so that a tick seems longer in one
    // stretch.
    bool is_steady = true;
    EXPECT_NEAR(pace({{300, 300}, {2000, 500}}, khz, &is_steady), 1, 1e-3);
    EXPECT_FALSE(is_steady);
}

TEST(tick_rate, a_clock_that_another_moves_is_told_by_the_counters_name) {
    bool is_steady = true;
    EXPECT_NEAR(pace({{200, 100}, {900, 300}}, khz, &is_steady), 1, 1e-6) << "no stretch goes as named";
    EXPECT_FALSE(is_steady);
}

TEST(tick_rate, nothing_is_said_by_one_moment_or_by_clocks_that_no_machine_has) {
    EXPECT_EQ(pace({}), 0);
    EXPECT_EQ(pace({{0, 0}}), 0);
    const Anchor odd[] = {{5, 5, 5}, {~std::uint64_t{0}, 6, 6}, {7, ~std::uint64_t{0}, 7}, {0, 0, 0}};
    const TickRate rate = tick_rate(odd, 4);
    EXPECT_LE(static_cast<double>(rate.ns), 1000.0 * static_cast<double>(rate.ticks));
}

}  // namespace
}  // namespace mpiprof::format
