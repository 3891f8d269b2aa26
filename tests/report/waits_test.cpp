// Waiting or moving: what calls took longer than the fastest of their kind, where that says something.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "report/analysis/analysed.h"
#include "report/merge/partial_merge.h"
#include "report/read/profile_reader.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/profile_builder.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::Row;

constexpr std::uint64_t us = 1'000;

CellSpec calls_of(std::uint64_t calls, std::uint64_t time_ns, std::uint64_t min_ns, std::uint16_t communicator = 1) {
    return {.calls = calls, .time_ns = time_ns, .min_ns = min_ns, .max_ns = time_ns, .communicator = communicator};
}

ProfileSpec rank_of(std::uint32_t rank, std::uint32_t size) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    return spec;
}

const Row& row_of(const Job& job, std::string_view name) {
    for (const Row& row : job.rows)
        if (job.calls[row.sum.call].name == name) return row;
    throw std::runtime_error("no row");
}

TEST(waiting, is_what_calls_took_longer_than_the_fastest_of_their_size_on_as_many_ranks) {
    ProfileSpec first = rank_of(0, 4), second = rank_of(1, 4);
    const CommunicatorSpec pair{
        .name = "", .id = 9, .size = 2, .how = format::origin_made, .handle = 0x90, .made_by = "MPI_Barrier"};
    first.communicators.push_back(pair);
    second.communicators.push_back(pair);
    first.calls = {sync("MPI_Barrier", {calls_of(30, 3000 * us, 50 * us), calls_of(30, 600 * us, 5 * us, 2)})};
    second.calls = {sync("MPI_Barrier", {calls_of(10, 700 * us, 10 * us), calls_of(5, 100 * us, 20 * us, 2)})};
    const Job job = job_of({first, second});
    // The fastest of four ranks took 10 us, of two 5 us.
    const std::uint64_t of_first = (3000 - 30 * 10) * us + (600 - 30 * 5) * us;
    const std::uint64_t of_second = (700 - 10 * 10) * us + (100 - 5 * 5) * us;
    EXPECT_EQ(row_of(job, "MPI_Barrier").waiting_ns, of_first + of_second);
    EXPECT_EQ(row_of(job, "MPI_Barrier").judged_ns, 4400 * us);
    EXPECT_EQ(job.ranks[0].waiting_ns, of_first);
    EXPECT_EQ(job.ranks[1].waiting_ns, of_second);
    EXPECT_EQ(job.ranks[1].judged_ns, 800 * us);
}

// In a chain of ranks even the fastest call waits; what 8 bytes take on a slow network is 0.1 ms a message.
TEST(waiting, is_what_calls_took_longer_than_on_a_slow_network_where_all_of_them_did) {
    ProfileSpec spec = rank_of(0, 2);
    CellSpec small = calls_of(20, 100'000 * us, 5000 * us), large = small;
    small.bytes = 20 * 8;
    large.bytes = 20 << 20;
    spec.calls = {receives("MPI_Recv", {small}), collective("MPI_Bcast", {small}), sends("MPI_Send", {large}),
                  completion("MPI_Wait", {calls_of(20, 100'000 * us, 5000 * us)})};
    const Job job = job_of({spec});
    const double each = 100e3 + 8 / 0.1;
    EXPECT_NEAR(static_cast<double>(row_of(job, "MPI_Recv").waiting_ns), 100e6 - 20 * each, 1e3);
    EXPECT_NEAR(static_cast<double>(row_of(job, "MPI_Bcast").waiting_ns), 100e6 - 20 * 2 * each, 1e3);
    EXPECT_EQ(row_of(job, "MPI_Send").waiting_ns, 0u) << "a megabyte may take 5 ms";
    EXPECT_EQ(row_of(job, "MPI_Wait").waiting_ns, 0u) << "nobody knows what it moves";
}

// No network is crossed by ranks of one node: 20 us a message, and 1 GB/s.
TEST(waiting, is_what_calls_took_longer_than_a_node_needs_where_all_ranks_are_on_one) {
    const auto waiting_of = [](const std::string& node_of_other, std::uint32_t size) {
        std::vector<ProfileSpec> ranks{rank_of(0, size), rank_of(1, size)};
        ranks[1].node = node_of_other;
        for (ProfileSpec& rank : ranks) {
            CellSpec large = calls_of(20, 100'000 * us, 5000 * us);
            large.bytes = 20 << 20;
            rank.calls = {sends("MPI_Send", {large})};
        }
        return static_cast<double>(row_of(job_of(ranks), "MPI_Send").waiting_ns);
    };
    const std::string node = rank_of(0, 2).node;
    EXPECT_NEAR(waiting_of(node, 2), 2 * (100e6 - 20 * (20e3 + (1 << 20))), 1e3);
    EXPECT_EQ(waiting_of(node + "2", 2), 0);
    EXPECT_EQ(waiting_of(node, 3), 0) << "where the third rank was is not known";
}

// A megabyte that a receive has in 0.2 ms is not on its way for 5 ms: its send waited for the receiver.
TEST(waiting, of_large_sends_is_what_they_take_longer_than_receives_of_their_size) {
    const auto waiting_of_send = [](std::uint64_t size, std::uint64_t receives_of_it, std::uint64_t requests) {
        ProfileSpec spec = rank_of(0, 2);
        CellSpec sent = calls_of(20, 100'000 * us, 5000 * us), received = calls_of(receives_of_it, 4000 * us, 200 * us);
        sent.bytes = 20 * size;
        received.bytes = receives_of_it * size;
        received.requests = requests;
        spec.calls = {sends("MPI_Send", {sent}), receives("MPI_Recv", {received})};
        return row_of(job_of({spec}), "MPI_Send").waiting_ns;
    };
    EXPECT_EQ(waiting_of_send(1 << 20, 20, 0), (100'000 - 20 * 200) * us);
    EXPECT_EQ(waiting_of_send(1 << 20, 19, 0), 0u) << "too few";
    EXPECT_EQ(waiting_of_send(1 << 20, 20, 20), 0u) << "such a call, as MPI_Irecv, only posts and receives nothing";
    EXPECT_EQ(waiting_of_send(1000, 20, 0), waiting_of_send(1000, 19, 0)) << "it may have been sent before";
}

TEST(waiting, is_not_said_of_few_calls) {
    for (const std::uint64_t calls : {19u, 20u}) {
        ProfileSpec spec = rank_of(0, 2);
        spec.calls = {collective("MPI_Bcast", {calls_of(calls, 900 * us, 3 * us)})};
        const Job job = job_of({spec});
        EXPECT_EQ(row_of(job, "MPI_Bcast").judged_ns, calls < 20 ? 0 : 900 * us);
        EXPECT_EQ(row_of(job, "MPI_Bcast").waiting_ns, calls < 20 ? 0 : 840 * us);
    }
}

TEST(waiting, is_not_said_of_file_io_nor_of_calls_that_only_post_requests) {
    ProfileSpec spec = rank_of(0, 2);
    CellSpec posted = calls_of(100, 900 * us, 3 * us);
    posted.requests = 40;
    CellSpec completing = calls_of(100, 900 * us, 3 * us);
    completing.requests = 40;  // that it saw complete
    spec.calls = {file_access("MPI_File_write", {calls_of(100, 900 * us, 3 * us)}),
                  receives("MPI_Irecv", {posted}),
                  completion("MPI_Wait", {completing}),
                  {.name = "MPI_Test",
                   .traffic = format::Traffic::completion,
                   .cells = {calls_of(100, 900 * us, 3 * us)},
                   .treatment = format::Treatment::polled,
                   .calls = 1600}};
    const Job job = job_of({spec});
    EXPECT_EQ(row_of(job, "MPI_File_write").judged_ns, 0u);
    EXPECT_EQ(row_of(job, "MPI_Irecv").judged_ns, 0u);
    EXPECT_EQ(row_of(job, "MPI_Test").judged_ns, 0u);
    EXPECT_EQ(row_of(job, "MPI_Wait").waiting_ns, 600 * us);
}

TEST(waiting, of_a_rank_with_itself_there_is_none) {
    ProfileSpec spec = rank_of(0, 2);
    spec.communicators.push_back(
        {.name = "MPI_COMM_SELF", .id = 3, .size = 1, .how = format::origin_self, .handle = 0x91});
    spec.calls = {collective("MPI_Bcast", {calls_of(5, 900 * us, 3 * us, 2)})};
    const Job job = job_of({spec});
    EXPECT_EQ(row_of(job, "MPI_Bcast").judged_ns, 900 * us);
    EXPECT_EQ(row_of(job, "MPI_Bcast").waiting_ns, 0u);
}

// Ranks beside the root of an intercommunicator return at once. On a communicator of as many, calls without data wait.
TEST(waiting, is_not_judged_by_ranks_that_take_no_part_in_a_collective_between_two_groups) {
    ProfileSpec spec = rank_of(0, 4);
    spec.communicators.push_back({.name = "",
                                  .id = 9,
                                  .size = 4,
                                  .how = format::origin_made,
                                  .flags = format::is_intercommunicator,
                                  .handle = 0x90,
                                  .made_by = "MPI_Bcast"});
    spec.calls = {collective("MPI_Bcast", {calls_of(20, 2000 * us, 80 * us), calls_of(1000, 1000 * us, us / 2, 2)})};
    spec.calls[0].arguments = format::has_root;
    const Job job = job_of({spec});
    EXPECT_EQ(row_of(job, "MPI_Bcast").judged_ns, 2000 * us);
    EXPECT_EQ(row_of(job, "MPI_Bcast").waiting_ns, 400 * us);

    spec.communicators.back().flags = 0;
    EXPECT_EQ(row_of(job_of({spec}), "MPI_Bcast").judged_ns, 3000 * us);
}

TEST(waiting, of_text_without_extremes_is_not_known) {
    ProfileSpec spec = rank_of(0, 2);
    spec.calls = {collective("MPI_Bcast", {calls_of(100, 900 * us, 0)})};
    EXPECT_EQ(row_of(job_of({spec}), "MPI_Bcast").judged_ns, 0u);
}

// Ranks that differ in what they call, where, and on which communicators.
std::vector<report::Profile> different_ranks() {
    std::mt19937 random(3);
    std::vector<report::Profile> profiles;
    for (std::uint32_t rank = 0; rank < 7; ++rank) {
        ProfileSpec spec = rank_of(rank, 7);
        spec.modules = {{.path = "/bin/app"}};
        for (std::uint64_t i = 0; i < 5; ++i) spec.sites.push_back({{1, 0x100 + i}});
        for (std::uint64_t i = 0; i < 3; ++i)
            spec.communicators.push_back({.name = "",
                                          .id = 100 + i,
                                          .size = static_cast<std::uint32_t>(2 + i),
                                          .how = format::origin_made,
                                          .handle = 0x90 + i,
                                          .made_by = "MPI_Comm_dup"});
        spec.calls = {counted("MPI_Comm_dup", 3)};
        for (const std::uint64_t name : {std::uint64_t{random() % 3}, std::uint64_t{3 + random() % 3}}) {
            CallSpec call = collective(std::string("MPI_") + "ABCDEF" [name], {});
            for (int i = 0; i < 20; ++i) {
                const std::uint64_t calls = 1 + random() % 30, best = (1 + random() % 9) * us;
                CellSpec cell = calls_of(calls, calls * best + random() % 100 * us, best,
                                         static_cast<std::uint16_t>(1 + random() % 4));
                cell.bytes = calls * (random() % 300);
                cell.site = static_cast<std::uint32_t>(random() % 6);
                call.cells.push_back(cell);
            }
            spec.calls.push_back(call);
        }
        auto profile = report::read_profile(build(spec), "x");
        if (!profile) throw std::runtime_error(profile.error().line());
        profiles.push_back(std::move(*profile));
    }
    return profiles;
}

struct Sums {
    std::uint64_t rows = 0, ranks = 0, sites = 0, judged = 0;
    bool operator==(const Sums&) const = default;
};
Sums sums_of(const Job& job) {
    Sums sums;
    for (const Row& row : job.rows) sums.rows += row.waiting_ns, sums.judged += row.judged_ns;
    for (const auto& rank : job.ranks) sums.ranks += rank.waiting_ns;
    for (const auto& site : job.sites.sites) sums.sites += site.waiting_ns;
    return sums;
}

TEST(waiting, is_the_same_by_call_by_rank_and_by_site_whoever_added_what) {
    const auto profiles = different_ranks();
    std::optional<Sums> first;
    for (unsigned seed = 1; seed < 8; ++seed) {
        std::vector<std::size_t> order{0, 1, 2, 3, 4, 5, 6};
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        report::CallRegistry registry;
        std::vector<report::PartialMerge> parts;
        for (unsigned i = 0; i < 1 + seed % 3; ++i) parts.emplace_back(registry);
        for (std::size_t i = 0; i < order.size(); ++i) parts[i % parts.size()].add(profiles[order[i]]);
        for (std::size_t i = 1; i < parts.size(); ++i) parts[0].absorb(std::move(parts[i]));
        const Sums sums = sums_of(parts[0].finish());
        EXPECT_GT(sums.rows, 0u);
        EXPECT_EQ(sums.rows, sums.ranks);
        EXPECT_EQ(sums.rows, sums.sites);
        if (!first) first = sums;
        EXPECT_EQ(sums, *first) << seed;
    }
}

TEST(summary, says_that_the_time_in_mpi_is_mostly_waiting_and_where) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        ProfileSpec spec = rank_of(rank, 2);
        spec.calls = {
            receives("MPI_Recv",
                     {{.calls = 100, .bytes = std::uint64_t{1000} << 20, .time_ns = 500'000 * us, .min_ns = 300 * us}}),
            collective("MPI_Bcast", {{.calls = 100, .bytes = 100 << 20, .time_ns = 40'000 * us, .min_ns = 390 * us}})};
        ranks.push_back(spec);
    }
    const auto text_of = [](const std::vector<ProfileSpec>& specs) {
        const auto tables = report::find_section("summary")->answer(job_of(specs), {});
        return report::find_view("text")->show({"summary", *tables}, {.width = 400});
    };
    const std::string text = text_of(ranks);
    EXPECT_NE(text.find("Up to 87.2% of the time in MPI is spent waiting, not transferring data"), std::string::npos)
        << text;
    EXPECT_NE(text.find("Mostly in MPI_Recv (47.0% of the run). Call sites: mpiprof-report sites. [waits]"),
              std::string::npos);
    for (ProfileSpec& spec : ranks) spec.calls[0].cells[0].min_ns = 4900 * us;
    EXPECT_EQ(text_of(ranks).find("[waits]"), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
