// Iterations: percentiles near the truth, whoever adds the ranks, and the rows of PyTorch's benchmark made of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "report/layouts/layout.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/goldens.h"
#include "tests/report/profile_builder.h"
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

std::string ddp(const Job& job) {
    const auto text = report::Listing(job, *report::find_layout("ddp")).text(0);
    return text ? *text : "problem: " + text.error().line();
}

TEST(ddp_layout, has_the_rows_of_pytorchs_benchmark) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 16; ++rank)
        ranks.push_back(rank_of(rank, 16, std::vector<std::uint64_t>(20, 104'400'000)));
    const std::string text = ddp(job_of(ranks));
    // The figures of seed 002's "  16 GPUs --    2M/8G:" row, as near as the buckets are.
    EXPECT_EQ(
        text.substr(0, text.rfind("  16 GPUs")),
        "Benchmark: resnet50 with batch size 32\n\n"
        "                            sec/iter    ex/sec      sec/iter    ex/sec      sec/iter    ex/sec      sec/iter    ex/sec\n");
    const std::string row = text.substr(text.rfind("  16 GPUs"));
    const double p50 = *job_of(ranks).regions.back().p50_ns / 1e9;
    EXPECT_NEAR(p50, 0.1044, 0.0044);
    std::string expected = "  16 GPUs --    2M/8G:";
    for (const char* name : {"p50", "p75", "p90", "p95"}) {
        char cell[64];  // by the C format of the original
        std::snprintf(cell, sizeof cell, "  %s:  %1.3fs  %6d/s", name, p50, static_cast<int>(32 / p50));
        expected += cell;
    }
    EXPECT_EQ(row, expected + "\n");
}

TEST(ddp_layout, names_the_region_that_is_iterated) {
    ProfileSpec spec = rank_of(0, 1, {ms, ms});
    spec.regions[0].items = 0;
    spec.regions.insert(spec.regions.begin(), {.name = "train", .durations_ns = {2 * ms}});
    spec.regions[1].parent = 1;
    const std::string text = ddp(job_of({spec}));
    EXPECT_TRUE(text.starts_with("Benchmark: train\n")) << text;
    EXPECT_NE(text.find("   1 GPUs --    1M/1G:  p50:  0.001s       -/s"), std::string::npos) << text;
}

TEST(ddp_layout, of_a_program_without_marks_says_how_to_make_them) {
    EXPECT_NE(ddp(job_of({ProfileSpec{}})).find("marks no iterations; mpiprof_mark"), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
