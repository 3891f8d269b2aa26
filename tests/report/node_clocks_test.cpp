// Clocks of nodes lined up by calls that nobody leaves before the last has entered.
#include "report/merge/node_clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mpiprof::test {
namespace {

using report::NodeClocks;

constexpr double us = 1e3, ms = 1e6, s = 1e9;

// Calls every 10 ms for 10 s; `clock` is what the other node's shows at a moment of the first.
template <class Clock>
NodeClocks lined_up(Clock clock, double latency_ns = 20 * us) {
    NodeClocks clocks(0);
    std::mt19937 random(7);
    const auto up_to = [&](double most) { return static_cast<double>(random() % 1000) / 1000 * most; };
    for (double t = 0; t < 10 * s; t += 10 * ms) {
        const double in[2] = {t + up_to(ms), t + up_to(ms)};
        const double all_in = std::max(in[0], in[1]);
        const double out[2] = {all_in + latency_ns + up_to(latency_ns), all_in + latency_ns + up_to(latency_ns)};
        const auto whole = [](double ns) { return static_cast<std::int64_t>(std::llround(ns)); };
        clocks.add(1, {whole(clock(in[1])), whole(clock(out[1]))}, {whole(in[0]), whole(out[0])});
    }
    clocks.solve();
    return clocks;
}

template <class Clock>
double largest_error(const NodeClocks& clocks, Clock clock) {
    double error = 0;
    for (double t = 0; t < 10 * s; t += 100 * ms) {
        const auto there = static_cast<std::int64_t>(std::llround(clock(t)));
        const auto offset = clocks.offset(1, there);
        if (!offset) return 1e300;
        error = std::max(error, std::abs(static_cast<double>(there + *offset) - t));
    }
    return error;
}

TEST(node_clocks, that_are_apart_are_lined_up_to_less_than_a_message) {
    const auto clock = [](double t) { return t + 300'000 * s; };
    const NodeClocks clocks = lined_up(clock);
    EXPECT_LT(largest_error(clocks, clock), 20 * us);
    EXPECT_GT(clocks.error_ns(1), 0);
    EXPECT_LT(clocks.error_ns(1), 30 * us);
}

TEST(node_clocks, that_drift_are_lined_up_all_along) {
    for (const double ppm : {-500.0, -50.0, 50.0, 500.0}) {
        const auto clock = [&](double t) { return t * (1 + ppm * 1e-6) - 1000 * s; };
        EXPECT_LT(largest_error(lined_up(clock), clock), 20 * us) << ppm;
    }
}

TEST(node_clocks, that_are_corrected_during_the_run_are_lined_up_before_and_after) {
    const auto clock = [](double t) { return t + (t > 5 * s ? 500e-6 * (t - 5 * s) : 0); };
    EXPECT_LT(largest_error(lined_up(clock), clock), 60 * us);
}

TEST(node_clocks, that_jump_back_and_forth_are_not_known) {
    int call = 0;
    const NodeClocks clocks = lined_up([&](double t) { return t + (++call % 4 < 2 ? 50 * ms : 0); });
    EXPECT_FALSE(clocks.knows(1));
    EXPECT_FALSE(clocks.offset(1, 0));
}

TEST(node_clocks, of_one_node_need_no_offset) {
    NodeClocks clocks(3);
    clocks.solve();
    EXPECT_EQ(clocks.offset(3, 12345), 0);
    EXPECT_FALSE(clocks.knows(1));
}

}  // namespace
}  // namespace mpiprof::test
