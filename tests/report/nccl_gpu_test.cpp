// NCCL's time on the GPU in the report: bandwidths, who came last, what computing hides, and where times are from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/sections/section.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::Question;

std::string show(const Job& job, const std::string& section, const char* view = "text", const Question& question = {},
                 unsigned width = 160) {
    return shown(job, section, question, view, {.width = width, .has_utf8 = true});
}

TEST(nccl, time_on_the_gpu_gives_bandwidth) {
    const Job job = job_of(gpu_training_with_cupti());
    const std::string text = show(job, "calls", "csv", {.ranks = {}, .sort = {}, .by = "call", .top = {}});
    const auto at = text.find("\nncclAllReduce,");
    const std::string row = text.substr(at + 1, text.find('\n', at + 1) - at - 1);

    // 100 of 64 MiB on each of 4 ranks: 3 ms each, but 2 ms for the one that came last.
    const double seconds = (4 * 300 - 100) / 1e3, bytes = 4 * 100 * 64 * 1048576.0;
    EXPECT_TRUE(says(row, fmt::format(",{:.0f},{:.0f},1.5,", bytes / seconds, 1.5 * bytes / seconds))) << row;
    EXPECT_TRUE(says(show(job, "calls"), "known by CUPTI")) << show(job, "calls");
    EXPECT_TRUE(says(show(job, "calls"), "GPU TIME"));
    EXPECT_FALSE(says(show(job_of(gpu_training()), "calls"), "GPU TIME"));
}

TEST(nccl, replays_of_graphs_are_told_apart_from_calls) {
    const std::string text = show(job_of(gpu_training_with_cupti()), "nccl", "csv");

    EXPECT_TRUE(says(text, "ncclAllReduce,graph,1048576,10,400000,40000,")) << text;
    EXPECT_TRUE(says(text, "ncclGroupEnd,group,8388608,50,5000000,100000,")) << text;
}

TEST(nccl, replays_that_are_counted_are_collectives_without_calls_and_times) {
    auto ranks = gpu_training();
    for (ProfileSpec& rank : ranks)
        rank.gpu_times.push_back({.call = "ncclAllReduce",
                                  .durations_ns = {},
                                  .bytes = 1 << 20,
                                  .source = format::GpuSource::none,
                                  .replays = 1000});
    const Job job = job_of(ranks);
    ASSERT_EQ(job.gpu.replayed.size(), 1u);
    EXPECT_EQ(job.gpu.replayed[0].collectives, 4000u);
    EXPECT_TRUE(job.gpu.rows.empty());
    const std::string text = show(job, "nccl");
    EXPECT_TRUE(says(text, "1,000 of these are replays of CUDA graphs")) << text;
    EXPECT_TRUE(says(text, "1,100")) << text;
    EXPECT_FALSE(says(text, "are lower bounds")) << text;
    EXPECT_FALSE(says(show(job_of(gpu_training()), "nccl"), "replays of CUDA graphs"));
    auto timed = gpu_training_with_cupti();
    EXPECT_FALSE(says(show(job_of(timed), "nccl"), "GPU TIME >="));
    for (ProfileSpec& rank : timed) rank.gpu_times.push_back(ranks[0].gpu_times[0]);
    EXPECT_TRUE(says(show(job_of(timed), "nccl"), "GPU TIME >=")) << "of 1,010 replays ten have a time";
    EXPECT_EQ(show(job, "calls", "csv"), show(job_of(gpu_training()), "calls", "csv"));
}

TEST(nccl, summary_and_calls_say_that_most_operations_are_replays_of_graphs) {
    auto ranks = gpu_training();
    EXPECT_FALSE(says(show(job_of(ranks), "summary"), "[graph-replays]"));
    const auto add = [&](std::uint64_t replays) {
        for (ProfileSpec& rank : ranks)
            rank.gpu_times.push_back({.call = "ncclAllReduce",
                                      .durations_ns = {},
                                      .bytes = 1 << 20,
                                      .source = format::GpuSource::none,
                                      .replays = replays});
    };
    add(10);
    EXPECT_FALSE(says(show(job_of(ranks), "summary"), "[graph-replays]")) << "a tenth is not much";
    EXPECT_TRUE(says(show(job_of(ranks), "calls"), "replays of CUDA graphs repeat NCCL operations"));
    add(990);
    const std::string text = show(job_of(ranks), "summary");
    EXPECT_TRUE(says(text, "CUDA graphs replayed 1,000 NCCL operations per rank (mean), and 700 were called directly"))
        << text;
}

TEST(nccl, counts_are_at_least_where_graphs_are_captured_and_nobody_follows_them) {
    const auto shown_with = [](std::vector<FactSpec> facts) {
        auto ranks = gpu_training();
        ranks[1].facts = std::move(facts);
        return show(job_of(ranks), "nccl");
    };
    const FactSpec captured{format::FactKind::process, "gpu_not_timed.captured", "8"};
    EXPECT_TRUE(says(shown_with({captured}), "are lower bounds"));
    EXPECT_FALSE(
        says(shown_with({captured, {format::FactKind::process, "graphs_followed", "yes"}}), "are lower bounds"));
    EXPECT_TRUE(says(shown_with({{format::FactKind::process, "graphs_followed", "yes"},
                                 {format::FactKind::process, "graphs_followed", "no"}}),
                     "are lower bounds"));
}

TEST(nccl, the_shortest_of_an_operation_is_the_transfer_and_the_rest_is_waiting_for_the_last_rank) {
    const Job job = job_of(gpu_training_with_cupti());
    const std::string text = show(job, "nccl", "csv");

    ASSERT_EQ(job.gpu.comms.size(), 3u);
    const auto& comm =
        *std::find_if(job.gpu.comms.begin(), job.gpu.comms.end(), [](const auto& c) { return c.id == 0xabc0; });
    EXPECT_EQ(comm.compared, 100u);
    EXPECT_EQ(comm.waiting_ns, 300'000'000u) << "three others, 1 ms each, 100 times";
    EXPECT_EQ(comm.compared_ns, 1'100'000'000u);
    EXPECT_TRUE(says(text, "default_pg,2,75,0.75,225000000,")) << text;
    EXPECT_TRUE(says(text, "default_pg,0,25,0.25,75000000,")) << text;
    const std::string summary = show(job, "summary");
    EXPECT_TRUE(says(summary, "75.0% of it for rank 2, which was last in 75")) << summary;
}

TEST(nccl, times_by_events_are_at_most_and_say_nothing_of_bus_bandwidth_or_of_who_came_last) {
    auto ranks = gpu_training_with_cupti();
    for (ProfileSpec& rank : ranks)
        for (GpuTimeSpec& time : rank.gpu_times) time.source = format::GpuSource::events;
    const Job job = job_of(ranks), by_cupti = job_of(gpu_training_with_cupti());

    for (const char* section : {"nccl", "calls"}) {
        EXPECT_TRUE(says(show(job, section), "GPU TIME <=")) << show(job, section);
        EXPECT_FALSE(says(show(by_cupti, section), "<=")) << show(by_cupti, section);
    }
    EXPECT_TRUE(says(show(job, "nccl"), "times from CUDA events are upper bounds")) << show(job, "nccl");
    EXPECT_TRUE(says(show(job, "summary"), "an upper bound, by events")) << show(job, "summary");
    for (const char* section : {"nccl", "calls", "summary"}) {
        EXPECT_FALSE(says(show(job, section), "BUSBW ")) << section;
        EXPECT_FALSE(says(show(job, section), "CAME LAST")) << section;
        EXPECT_FALSE(says(show(job, section), "which was last in")) << section;
    }
    EXPECT_TRUE(says(show(by_cupti, "nccl"), "BUSBW ")) << show(by_cupti, "nccl");
    EXPECT_TRUE(says(show(by_cupti, "nccl"), "CAME LAST")) << show(by_cupti, "nccl");
    EXPECT_TRUE(says(show(by_cupti, "summary"), "which was last in")) << show(by_cupti, "summary");
}

TEST(nccl, groups_that_send_and_receive_have_the_bus_bandwidth_of_nccl_tests) {
    auto ranks = gpu_training_with_cupti();
    // An all-to-all of 4 ranks, 2 MiB to each, the own part included.
    for (ProfileSpec& rank : ranks) rank.gpu_times[2].others_bytes = 6 << 20;
    const std::string text = show(job_of(ranks), "nccl", "csv");

    const auto at = text.find("\n\"ncclSend, ncclRecv\",group,8388608,50,");
    ASSERT_NE(at, std::string::npos) << text;
    const std::string row = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    const double each_s = 100e-6, bytes = 8 * 1048576.0;
    EXPECT_TRUE(says(row, fmt::format(",{:.0f},{:.0f},", bytes / each_s, bytes * 3 / 4 / each_s))) << row;
}

TEST(nccl, a_group_of_collectives_has_no_bus_bandwidth) {
    const std::string text = show(job_of(gpu_training_with_cupti()), "nccl", "csv");
    EXPECT_TRUE(says(text, fmt::format(",{:.0f},,,", 8 * 1048576.0 / 100e-6))) << text;
}

TEST(nccl, bus_bandwidth_of_moving_alone_leaves_out_the_waiting_for_the_last_rank) {
    const Job job = job_of(gpu_training_with_cupti());
    const auto row = std::find_if(job.gpu.rows.begin(), job.gpu.rows.end(), [&](const report::GpuRow& r) {
        return job.calls[r.call].name == "ncclAllReduce" && !r.is_replayed;
    });
    ASSERT_NE(row, job.gpu.rows.end());
    ASSERT_TRUE(row->moving_ns);
    // 100 on each of 4 ranks: 2 ms to move, whoever waits.
    EXPECT_NEAR(*row->moving_ns, 4 * 100 * 2e6, 1e3);
    const double moving = 1.5 * 64 * 1048576.0 / 2e-3;
    EXPECT_TRUE(says(show(job, "nccl", "csv"), fmt::format(",{:.0f},", moving))) << show(job, "nccl", "csv");
    EXPECT_TRUE(says(show(job, "nccl", "text", {}, 200), "BUSBW (NO WAIT)")) << show(job, "nccl", "text", {}, 200);

    auto ranks = gpu_training_with_cupti();
    for (ProfileSpec& rank : ranks) rank.gpu_sequences[0].us.resize(19);
    const Job few = job_of(ranks);
    EXPECT_FALSE(says(show(few, "nccl"), "BUSBW (NO WAIT)")) << "too few were compared";
    for (const report::GpuRow& one : few.gpu.rows) EXPECT_FALSE(one.moving_ns);
}

TEST(nccl, who_came_last_is_told_beyond_the_resolution_of_the_clock_alone) {
    auto ranks = gpu_training_with_cupti();
    for (ProfileSpec& rank : ranks) rank.gpu_sequences[0].us.assign(100, 50.0 + (rank.rank == 1 ? 0.5 : 0));
    const Job tied = job_of(ranks);
    EXPECT_FALSE(says(show(tied, "nccl"), "CAME LAST")) << show(tied, "nccl");
    EXPECT_FALSE(says(show(tied, "summary"), "which was last in")) << show(tied, "summary");

    for (ProfileSpec& rank : ranks) rank.gpu_sequences[0].us.assign(100, rank.rank < 2 ? 50.0 : 5000.0);
    EXPECT_FALSE(says(show(job_of(ranks), "nccl"), "CAME LAST")) << "two came at once";
}

TEST(nccl, times_by_launches_of_kernels_are_what_they_are) {
    auto ranks = gpu_training_with_cupti();
    for (ProfileSpec& rank : ranks)
        for (GpuTimeSpec& time : rank.gpu_times) time.source = format::GpuSource::launches;
    const Job job = job_of(ranks);

    EXPECT_FALSE(says(show(job, "nccl"), "<=")) << show(job, "nccl");
    EXPECT_TRUE(says(show(job, "nccl"), "BUSBW ")) << show(job, "nccl");
    EXPECT_TRUE(says(show(job, "nccl"), "CAME LAST")) << show(job, "nccl");
    EXPECT_TRUE(says(show(job, "calls"), "known by kernel launches")) << show(job, "calls");
}

TEST(nccl, a_communicator_without_a_name_has_one_label_in_all_tables) {
    auto ranks = gpu_training_with_cupti();
    for (ProfileSpec& rank : ranks)
        for (CommunicatorSpec& comm : rank.communicators)
            if (comm.id == 0xabc0) comm.name = "";
    const std::string text = show(job_of(ranks), "nccl");
    std::size_t found = 0;
    for (auto at = text.find("000000000000abc0"); at != std::string::npos; at = text.find("000000000000abc0", at + 1))
        ++found;
    EXPECT_EQ(found, 3u) << "communicators, and two lines of whom the others waited for\n" << text;
}

TEST(nccl, operations_that_a_member_did_not_measure_are_not_compared) {
    auto ranks = gpu_training_with_cupti();
    ranks[1].gpu_sequences[0].us[7] = 0;
    ranks[3].gpu_sequences[0].us.resize(90);  // killed before the last ten

    const Job job = job_of(ranks);
    const auto comm =
        std::find_if(job.gpu.comms.begin(), job.gpu.comms.end(), [](const auto& c) { return c.id == 0xabc0; });
    ASSERT_NE(comm, job.gpu.comms.end());
    EXPECT_EQ(comm->compared, 89u);
}

TEST(nccl, of_sequences_longer_than_what_is_kept_the_last_are_compared) {
    std::vector<ProfileSpec> ranks = gpu_training_with_cupti();
    ranks.resize(2);
    for (ProfileSpec& rank : ranks) {
        rank.size = 2;
        rank.communicators = {{.name = "pair", .id = 5, .size = 2, .rank = rank.rank, .how = format::origin_made}};
        rank.calls = {collective("ncclAllReduce", {{.calls = 1, .bytes = 8, .time_ns = 8}})};
        rank.gpu_times.clear();
        rank.gpu_sequences = {{.us = std::vector<double>(6000, rank.rank == 0 ? 10.0 : 11.0), .enqueued_before = 100}};
    }
    const Job job = job_of(ranks);

    ASSERT_EQ(job.gpu.comms.size(), 1u);
    EXPECT_EQ(job.gpu.comms[0].compared, 4096u);
    EXPECT_EQ(job.gpu.comms[0].waiting_ns, 4096 * 1000u);
    EXPECT_EQ(job.gpu.comms[0].most_enqueued, 6100u);
}

TEST(nccl, traffic_that_kernels_make_themselves_is_said_to_be_missing) {
    auto ranks = gpu_training();
    EXPECT_FALSE(says(show(job_of(ranks), "nccl"), "device API"));
    ranks[0].calls.push_back(counted("ncclDevCommCreate", 1));
    ranks[0].calls.back().family = format::Family::nccl;
    EXPECT_TRUE(says(show(job_of(ranks), "nccl"), "device API")) << show(job_of(ranks), "nccl");
}

TEST(nccl, where_times_are_from_and_what_has_none_is_said) {
    auto ranks = gpu_training_with_cupti();
    for (ProfileSpec& rank : ranks)
        rank.facts = {{format::FactKind::process, "gpu_times", "events"},
                      {format::FactKind::process, "gpu_times",
                       rank.rank == 3 ? "events: CUPTI is in use by another tool (39)" : "CUPTI 13.0"},
                      {format::FactKind::process, "gpu_not_timed.captured", "1"},
                      {format::FactKind::process, "gpu_not_timed.captured", "2"},
                      {format::FactKind::process, "gpu_not_timed.no room", "1"},
                      {format::FactKind::process, "gpu_records_dropped", "5"}};
    const std::string text = show(job_of(ranks), "nccl");

    EXPECT_TRUE(says(text, "GPU times: CUPTI 13.0 (3 ranks); events: CUPTI is in use by another tool (39) (1 rank)"))
        << text;
    EXPECT_TRUE(says(text, "launches without a time on the GPU: 8 captured, 4 no room (docs/nccl.md)")) << text;
    EXPECT_TRUE(says(text, "CUPTI dropped 20 records")) << text;
}

TEST(nccl, gpu_time_is_at_least_where_a_tenth_of_all_launches_have_none) {
    const auto with_untold = [](const char* untold, bool by_events) {
        auto ranks = gpu_training_with_cupti();
        for (ProfileSpec& rank : ranks) rank.facts = {{format::FactKind::process, "gpu_not_timed.untold", untold}};
        Job job = job_of(ranks);
        if (by_events) job.gpu.ranks_by_events = 1;
        return job;
    };
    std::uint64_t timed = 0;
    for (const auto& row : job_of(gpu_training_with_cupti()).gpu.rows)
        if (!row.is_replayed) timed += row.operations;
    const std::string few = fmt::format("{}", timed / 4 / 9 - 1), many = fmt::format("{}", timed / 4 / 9 + 1);

    for (const char* section : {"nccl", "calls"}) {
        EXPECT_FALSE(says(show(with_untold(few.c_str(), false), section), "GPU TIME >="));
        EXPECT_TRUE(says(show(with_untold(many.c_str(), false), section), "GPU TIME >="));
        EXPECT_TRUE(says(show(with_untold(many.c_str(), true), section), "GPU TIME ~"));
        EXPECT_TRUE(says(show(with_untold(few.c_str(), true), section), "GPU TIME <="));
    }
    EXPECT_TRUE(
        says(show(with_untold(many.c_str(), false), "nccl"), "a tenth of all or more: not included in GPU TIME"));
    EXPECT_FALSE(says(show(with_untold(few.c_str(), false), "nccl"), "a tenth of all"));
}

TEST(nccl, exposed_communication_is_what_no_other_kernel_hides) {
    const Job job = job_of(gpu_training_with_cupti());

    EXPECT_TRUE(says(show(job, "nccl", "csv"), "\"kernels of NCCL\",560,,300000000,,120000000,10"))
        << show(job, "nccl", "csv");
    EXPECT_TRUE(says(show(job, "summary"), "40.0% of NCCL's GPU time is exposed")) << show(job, "summary");
}

}  // namespace
}  // namespace mpiprof::test
