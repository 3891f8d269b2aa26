// Iterations: percentiles near the truth, whoever adds the ranks, and the rows of PyTorch's benchmark made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "report/analysis/analysed.h"
#include "report/layouts/layout.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/goldens.h"
#include "tests/report/profile_builder.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::RegionRow;

constexpr std::uint64_t ms = 1'000'000;

// As numpy has it: between the two neighbours.
double percentile(std::vector<std::uint64_t> values, double share) {
    std::sort(values.begin(), values.end());
    const double at = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const auto a = static_cast<double>(values[low]),
               b = static_cast<double>(values[std::min(low + 1, values.size() - 1)]);
    return a + (at - std::floor(at)) * (b - a);
}

ProfileSpec rank_of(std::uint32_t rank, std::uint32_t size, std::vector<std::uint64_t> durations) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    spec.host = "node" + std::to_string(rank / 8);
    spec.command = "/opt/bin/resnet50 --amp";
    const std::uint64_t iterations = durations.size();
    spec.elapsed_ns = std::accumulate(durations.begin(), durations.end(), std::uint64_t{0});
    spec.regions = {
        {.name = "iterations", .durations_ns = std::move(durations), .is_iteration = true, .items = 32 * iterations}};
    return spec;
}

std::string show(const Job& job) { return shown(job, "regions", {}, "text", {.width = 100, .has_utf8 = true}); }

TEST(regions, percentiles_of_iterations_are_within_five_percent_of_the_truth) {
    std::mt19937 random(5);
    // Even, skewed, with a second hump far away, and constant.
    const std::vector<std::vector<std::uint64_t> (*)(std::mt19937&)> kinds{
        [](std::mt19937& r) {
            std::vector<std::uint64_t> v(500);
            for (auto& x : v) x = std::uniform_int_distribution<std::uint64_t>(1000, 90 * ms)(r);
            return v;
        },
        [](std::mt19937& r) {
            std::vector<std::uint64_t> v(2000);
            for (auto& x : v) x = static_cast<std::uint64_t>(std::lognormal_distribution<>(16, 1.2)(r)) + 1;
            return v;
        },
        [](std::mt19937& r) {
            std::vector<std::uint64_t> v(1000);
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = (i % 8 == 7 ? 3000 : 2) * ms + r() % ms;
            return v;
        },
        [](std::mt19937&) { return std::vector<std::uint64_t>(50, 104 * ms); },
    };
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        std::vector<ProfileSpec> ranks;
        std::vector<std::uint64_t> all;
        for (std::uint32_t rank = 0; rank < 3; ++rank) {
            const auto durations = kinds[kind](random);
            all.insert(all.end(), durations.begin(), durations.end());
            ranks.push_back(rank_of(rank, 3, durations));
            ranks.back().clock = format::ClockKind::tsc;
            ranks.back().ticks_per_us = 2000 + 500 * rank;
        }
        const Job job = job_of(ranks);
        const RegionRow& row = job.regions.back();
        ASSERT_TRUE(row.is_iteration);
        EXPECT_EQ(row.entered, all.size());
        const std::pair<double, std::optional<double>> found[] = {
            {0.5, row.p50_ns}, {0.75, row.p75_ns}, {0.9, row.p90_ns}, {0.95, row.p95_ns}};
        for (const auto& [share, ns] : found) {
            ASSERT_TRUE(ns);
            const double truth = percentile(all, share);
            EXPECT_NEAR(*ns, truth, 0.05 * truth) << "kind " << kind << ", p" << share * 100;
        }
    }
}

// A solver that never left its last region, as with mpiP's reset or after a kill, on two ranks.
std::vector<ProfileSpec> solver() {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 2;
        spec.elapsed_ns = 2000 * ms;
        spec.regions = {{.name = "solve", .durations_ns = {300 * ms, (500 + rank * 40) * ms}},
                        {.name = "halo", .durations_ns = {20 * ms, 30 * ms, 40 * ms, 50 * ms}, .parent = 1},
                        {.name = "solve 2", .durations_ns = {100 * ms}},
                        {.name = "iteration", .durations_ns = {10 * ms, 10 * ms}},
                        {.name = "iteration",
                         .durations_ns = {400 * ms, 401 * ms, 402 * ms},
                         .is_iteration = true,
                         .items = 3'000'000},
                        {.name = "after reset 1", .open_for_ns = 600 * ms}};
        const auto calls_in = [](std::uint16_t region, std::uint64_t calls, std::uint64_t time_ns) {
            CellSpec cell{.calls = calls, .bytes = 8 * calls, .time_ns = time_ns};
            cell.region = region;
            return cell;
        };
        spec.calls = {
            collective("MPI_Allreduce", {calls_in(0, 2, 5 * ms), calls_in(1, 10, 60 * ms), calls_in(3, 4, 90 * ms)}),
            sends("MPI_Send", {calls_in(2, 8, 100 * ms)})};
        ranks.push_back(std::move(spec));
    }
    return ranks;
}

std::string screen_of(const Job& job, const char* section) {
    const auto tables = report::find_section(section)->answer(
        job, {.ranks = {}, .sort = {}, .by = {}, .top = {}, .is_for_screen = true});
    return tables ? report::find_view("text")->show({section, *tables}, {.width = 80, .has_utf8 = true})
                  : tables.error().line();
}

TEST(regions, what_they_are_and_how_long_is_on_the_screen) {
    const std::string text = screen_of(job_of(solver()), "regions");
    expect_golden("screens/regions.txt", text);
    expect_fits(text, 80);
}

TEST(regions, percentiles_lie_between_the_shortest_and_the_longest_time) {
    const Job job = job_of(solver());
    const RegionRow* iterations = nullptr;
    for (const RegionRow& row : job.regions)
        if (row.is_iteration) iterations = &row;
    ASSERT_TRUE(iterations);
    for (const auto& ns : {iterations->p50_ns, iterations->p75_ns, iterations->p90_ns, iterations->p95_ns}) {
        EXPECT_GE(*ns, 400.0 * ms);
        EXPECT_LE(*ns, 402.0 * ms);
    }
}

TEST(regions, one_that_was_never_left_was_entered_nevertheless) {
    const Job job = job_of(solver());
    const auto open = std::find_if(job.regions.begin(), job.regions.end(),
                                   [](const RegionRow& row) { return row.path == "after reset 1"; });
    ASSERT_NE(open, job.regions.end());
    EXPECT_EQ(open->entered, 2u);
    EXPECT_EQ(open->time_ns, 1200 * ms);
}

TEST(regions, inner_ones_stand_below_their_own) {
    std::vector<std::string> paths;
    for (const RegionRow& row : job_of(solver()).regions) paths.push_back(row.path);
    EXPECT_EQ(paths, (std::vector<std::string>{"", "after reset 1", "iteration", "iteration", "solve", "solve/halo",
                                               "solve 2"}));
}

TEST(regions, one_that_is_named_iteration_is_not_the_iterations) {
    std::vector<std::pair<bool, std::uint64_t>> found;
    for (const RegionRow& row : job_of(solver()).regions)
        if (row.path == "iteration") found.emplace_back(row.is_iteration, row.entered);
    EXPECT_EQ(found, (std::vector<std::pair<bool, std::uint64_t>>{{false, 4}, {true, 6}}));
}

TEST(regions, percentiles_are_numpys_where_times_are_kept_singly) {
    // numpy.percentile([0.012, 0.010, 0.040, 0.011, 0.0105, 0.025], [50, 75, 90, 95])
    ProfileSpec spec = rank_of(0, 1, {12 * ms, 10 * ms, 40 * ms, 11 * ms, 10'500'000, 25 * ms});
    spec.regions[0].has_single_times = true;
    const RegionRow row = job_of({spec}).regions.back();
    EXPECT_TRUE(row.has_exact_percentiles);
    EXPECT_NEAR(*row.p50_ns, 11.5 * ms, 1);
    EXPECT_NEAR(*row.p75_ns, 21.75 * ms, 1);
    EXPECT_NEAR(*row.p90_ns, 32.5 * ms, 1);
    EXPECT_NEAR(*row.p95_ns, 36.25 * ms, 1);
}

TEST(regions, ranks_that_kept_every_second_time_count_as_much_as_others) {
    std::vector<std::uint64_t> many(8000, 20 * ms);
    ProfileSpec few = rank_of(1, 2, std::vector<std::uint64_t>(2000, 10 * ms)), often = rank_of(0, 2, many);
    few.regions[0].has_single_times = often.regions[0].has_single_times = true;
    const RegionRow row = job_of({often, few}).regions.back();
    EXPECT_EQ(row.stride, 2u);
    EXPECT_EQ(row.marked_by, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_NEAR(percentile_of(row.times, 0.19) * 1e9, 10 * ms, 1);
    EXPECT_NEAR(percentile_of(row.times, 0.21) * 1e9, 20 * ms, 1);
    EXPECT_NE(show(job_of({often, few})).find("over every second one"), std::string::npos);
}

TEST(regions, times_that_were_being_thinned_when_the_rank_was_killed_are_left_to_the_buckets) {
    ProfileSpec spec = rank_of(0, 1, std::vector<std::uint64_t>(100, 10 * ms));
    spec.regions[0].has_single_times = true;
    spec.regions[0].single_changes = 3;
    const RegionRow row = job_of({spec}).regions.back();
    EXPECT_FALSE(row.has_exact_percentiles);
    EXPECT_NEAR(*row.p50_ns, 10.0 * ms, 0.5 * ms);
    EXPECT_NE(show(job_of({spec})).find("within 5%"), std::string::npos);
}

TEST(regions, single_times_are_the_same_in_any_order_of_ranks) {
    std::mt19937 random(7);
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 5; ++rank) {
        std::vector<std::uint64_t> times(3000);
        for (auto& ns : times) ns = std::uniform_int_distribution<std::uint64_t>(ms, 90 * ms)(random);
        ranks.push_back(rank_of(rank, 5, times));
        ranks.back().regions[0].has_single_times = true;
    }
    std::vector<std::uint64_t> all;
    for (const ProfileSpec& spec : ranks)
        for (const std::uint64_t ns : spec.regions[0].durations_ns) all.push_back((ns + 500) / 1000);
    const RegionRow row = job_of(ranks).regions.back();
    for (const double share : {0.5, 0.75, 0.9, 0.95, 1.0})
        EXPECT_NEAR(percentile_of(row.times, share) * 1e6, percentile(all, share), 1e-6) << share;
}

}  // namespace
}  // namespace mpiprof::test
