// Steps of a program that marks none, found from some of its collectives, and slow stretches of the run.
#include "report/analysis/steps.h"
#include "report/analysis/analysed.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "libmpiprof/format/arrivals.h"
#include "report/sections/section.h"
#include "report/views/view.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::Steps;

constexpr double ms = 1e6, s = 1e9;

// Collective number n is `place_of(n)`, and takes `length_of(n)` until the next; what of them is kept.
Job job_of_calls(
    std::uint64_t calls, const std::function<std::uint64_t(std::uint64_t)>& place_of,
    const std::function<double(std::uint64_t)>& length_of = [](std::uint64_t) { return ms; }) {
    Job job;
    for (const char* name : {"MPI_Allreduce", "MPI_Barrier", "MPI_Bcast", "MPI_Alltoall"})
        job.calls.push_back({.name = name});
    job.pace.collectives = calls;
    const unsigned level = format::arrival_level(calls);
    double now = 0;
    for (std::uint64_t n = 0; n < calls; now += length_of(n++)) {
        if (format::arrival_of_block(n >> level, level) != n) continue;
        const std::uint64_t place = place_of(n);
        job.pace.calls.push_back({.number = n,
                                  .begin_ns = static_cast<std::int64_t>(now),
                                  .place = place + 100,
                                  .call = static_cast<std::uint16_t>(place % 4)});
    }
    return job;
}

TEST(steps, are_found_from_the_order_in_which_collectives_recur) {
    for (const std::uint64_t length : {2u, 3u, 7u, 31u, 64u}) {
        const auto steps = report::steps_of(job_of_calls(length * 5000, [&](std::uint64_t n) { return n % length; }));
        ASSERT_TRUE(steps) << length;
        EXPECT_EQ(steps->collectives, length);
        EXPECT_NEAR(steps->steps, 5000, 1);
        EXPECT_NEAR(steps->mean_ns, static_cast<double>(length) * ms, 1e-6 * static_cast<double>(length) * ms);
        EXPECT_TRUE(steps->slow.empty());
    }
}

TEST(steps, of_one_collective_are_its_calls) {
    const auto steps = report::steps_of(job_of_calls(300, [](std::uint64_t) { return 0; }));
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->collectives, 1u);
    EXPECT_LT(steps->of_part, 10);
    EXPECT_LE(steps->parts.size(), 64u);
}

TEST(steps, are_found_behind_a_beginning_of_another_order) {
    const auto steps =
        report::steps_of(job_of_calls(40'000, [](std::uint64_t n) { return n < 1000 ? n * n % 97 : n % 5; }));
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->collectives, 5u);
}

TEST(steps, with_a_call_every_tenth_time_are_the_ten_together) {
    const auto steps =
        report::steps_of(job_of_calls(100'000, [](std::uint64_t n) { return n % 31 == 30 ? 9 : n % 31 % 3; }));
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->collectives, 31u);
}

// A solver whose iterations differ in number from step to step; calls in no order; one call, and now and then another.
TEST(steps, are_not_found_where_there_is_no_order) {
    std::mt19937 random(3);
    std::vector<std::uint64_t> solver, any, rare;
    while (solver.size() < 20'000) {
        solver.push_back(0);
        for (std::uint64_t i = 5 + random() % 20; i > 0; --i) solver.push_back(1);
    }
    for (int i = 0; i < 20'000; ++i) any.push_back(random() % 3), rare.push_back(random() % 12 == 0 ? 1 : 0);
    for (const auto* calls : {&solver, &any, &rare})
        EXPECT_FALSE(report::steps_of(job_of_calls(20'000, [&](std::uint64_t n) { return (*calls)[n]; })));
    EXPECT_FALSE(report::steps_of(job_of_calls(20, [](std::uint64_t n) { return n % 2; })));
}

TEST(steps, that_take_longer_for_a_while_are_a_slow_stretch) {
    // 10,000 steps of 3 ms; from the 4,000th to the 6,000th they take twice as long.
    const Job job = job_of_calls(
        30'000, [](std::uint64_t n) { return n % 3; },
        [](std::uint64_t n) { return n / 3 >= 4000 && n / 3 < 6000 ? 2 * ms : ms; });
    const auto steps = report::steps_of(job);
    ASSERT_TRUE(steps);
    EXPECT_NEAR(steps->median_ns, 3 * ms, 0.01 * ms);
    ASSERT_EQ(steps->slow.size(), 1u);
    EXPECT_NEAR(steps->slow[0].begin_ns, 12 * s, 1 * s);
    EXPECT_NEAR(steps->slow[0].end_ns, 24 * s, 1 * s);
    EXPECT_NEAR(steps->slow[0].step_ns, 6 * ms, 0.3 * ms);

    const auto tables = report::find_section("steps")->answer(job, {});
    ASSERT_TRUE(tables);
    const std::string text = report::find_view("text")->show({"steps", *tables}, {});
    EXPECT_NE(text.find("SLOW PHASES"), std::string::npos) << text;
    EXPECT_NE(text.find("a step: MPI_Allreduce, MPI_Barrier, MPI_Bcast"), std::string::npos) << text;
}

TEST(steps, give_way_to_iterations_that_the_program_marks) {
    Job job = job_of_calls(30'000, [](std::uint64_t n) { return n % 3; });
    job.regions.emplace_back().is_iteration = true;
    const auto tables = report::find_section("steps")->answer(job, {});
    const std::string text = report::find_view("text")->show({"steps", *tables}, {});
    EXPECT_NE(text.find("the program marks its iterations"), std::string::npos) << text;
}

}  // namespace
}  // namespace mpiprof::test
