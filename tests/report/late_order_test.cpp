// Ranks that are late in an order: call by call, in turn between collectives, along a pipeline, each at a line of its
// own; and those that are late by chance, of which no order may be told.
#include <gtest/gtest.h>

#include <random>

#include "libmpiprof/format/arrivals.h"
#include "report/merge/late_order.h"
#include "tests/report/verdict_jobs.h"

namespace mpiprof::test {
namespace {

using report::LateCall;
using report::LateOrder;

// One call each 10 ms, to which this rank comes 4 ms after the three others.
template <class Last>
std::vector<LateCall> calls_with(std::uint64_t count, Last last) {
    std::vector<LateCall> calls;
    for (std::uint64_t i = 0; i < count; ++i)
        calls.push_back({.number = i,
                         .rank = last(i),
                         .is_decided = true,
                         .waited_ns = 12e6,
                         .entered_ns = static_cast<std::int64_t>(10 * ms * i)});
    return calls;
}

TEST(late_order, of_ranks_that_are_drawn_nothing_is_told) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 draw(seed);
        const std::uint32_t ranks = 2 + seed % 7;
        const LateOrder order = report::late_order_of(
            calls_with(20 + seed, [&](auto) { return static_cast<std::uint32_t>(draw() % ranks); }), ranks);
        EXPECT_TRUE(order.is_by_chance || ranks == 2) << seed;
        EXPECT_EQ(order.period, 0u) << seed;
        EXPECT_FALSE(order.is_in_stretches) << seed;
    }
}

TEST(late_order, of_ranks_that_are_late_again_after_so_many_calls_the_number_is_told) {
    const LateOrder each =
        report::late_order_of(calls_with(60, [](auto i) { return static_cast<std::uint32_t>(i % 4); }), 4);
    EXPECT_EQ(each.period, 4u);
    EXPECT_EQ(each.turns, (Ranks{0, 1, 2, 3}));
    const LateOrder eight =
        report::late_order_of(calls_with(130, [](auto i) { return static_cast<std::uint32_t>((i + 3) / 8 % 4); }), 4);
    EXPECT_EQ(eight.period, 32u);
    EXPECT_EQ(eight.turns, (Ranks{0, 1, 2, 3}));
    EXPECT_TRUE(eight.is_in_stretches);
    EXPECT_NEAR(eight.stays, 8, 0.5);
}

TEST(late_order, calls_that_hardly_wait_are_not_counted) {
    auto calls = calls_with(240, [](auto i) { return static_cast<std::uint32_t>(i / 3 % 4); });
    for (LateCall& call : calls)
        if (call.number % 3 != 0)
            call.waited_ns = 1000, call.rank = static_cast<std::uint32_t>(call.number * 7 / 5 % 4);
    const LateOrder order = report::late_order_of(calls, 4);
    EXPECT_EQ(order.period, 12u);
    EXPECT_EQ(order.calls, 80u);
}

TEST(late_order, one_rank_that_is_always_last_and_few_calls_have_none) {
    EXPECT_EQ(report::late_order_of(calls_with(100, [](auto) { return 2u; }), 4).period, 0u);
    EXPECT_FALSE(report::late_order_of(calls_with(100, [](auto) { return 2u; }), 4).is_by_chance);
    EXPECT_EQ(report::late_order_of(calls_with(8, [](auto i) { return static_cast<std::uint32_t>(i % 2); }), 4).calls,
              0u);
}

// 4 ranks of 10 s that make 800 barriers; `outside` says how long a rank has something to do before the one of this
// number.
template <class Outside>
std::vector<ProfileSpec> between_barriers(Outside outside) {
    std::vector<ProfileSpec> job = ranks_of_job(4);
    std::vector<std::uint64_t> waited(4);
    std::uint64_t now = 0;
    for (std::uint64_t i = 0; i < 400; ++i) {
        std::uint64_t last = 0;
        for (std::uint32_t rank = 0; rank < 4; ++rank) last = std::max<std::uint64_t>(last, outside(rank, i));
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            const std::uint64_t own = outside(rank, i) + rank * us;
            const std::uint64_t inside = last + 10 * us - own;
            waited[rank] += inside;
            job[rank].communicators[0].kept.push_back({.call = "MPI_Barrier",
                                                       .number = i,
                                                       .begin_ns = static_cast<std::int64_t>(now + own),
                                                       .time_ns = inside,
                                                       .root = 0});
        }
        now += last + 10 * us;
    }
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        job[rank].elapsed_ns = now;
        job[rank].communicators[0].collectives = 400;
        CallSpec barrier = sync("MPI_Barrier", {calls_of(400, 0, waited[rank], 8 * us)});
        barrier.arguments = format::is_ordered | format::waits_for_all;
        job[rank].calls = {barrier};
    }
    return job;
}

TEST(in_turn, ranks_that_work_alone_one_after_the_other_are_named) {
    const Job job =
        job_of(between_barriers([](std::uint32_t rank, std::uint64_t i) { return i % 4 == rank ? 5 * ms : 20 * us; }));
    const Verdict verdict = top(job);
    EXPECT_EQ(name(verdict), "in-turn") << sentence(job);
    EXPECT_TRUE(sentence(job).starts_with(
        "The ranks take turns (0, 1, 2, 3): one works while all others wait in MPI_Barrier; 7"))
        << sentence(job);
    EXPECT_TRUE(explains(verdict, Rule::varying));
    EXPECT_EQ(report::words_of(verdict.explained.front(), job).find("late each time"), std::string::npos);
}

TEST(in_turn, ranks_that_have_more_to_do_in_turn_do_not_work_alone) {
    const Job job =
        job_of(between_barriers([](std::uint32_t rank, std::uint64_t i) { return i % 4 == rank ? 15 * ms : 6 * ms; }));
    EXPECT_FALSE(is_said(job, Rule::in_turn)) << sentence(job);
    EXPECT_NE(
        sentence(job).find("late in a fixed order (rank 0, then 1, then 2, then 3, again after every 4 collectives)"),
        std::string::npos)
        << sentence(job);
}

TEST(in_turn, a_rank_that_works_alone_by_chance_is_none) {
    std::mt19937 draw(5);
    std::vector<std::uint32_t> late(400);
    for (std::uint32_t& rank : late) rank = static_cast<std::uint32_t>(draw() % 4);
    const Job job = job_of(
        between_barriers([&](std::uint32_t rank, std::uint64_t i) { return late[i] == rank ? 5 * ms : 20 * us; }));
    EXPECT_FALSE(is_said(job, Rule::in_turn)) << sentence(job);
    EXPECT_FALSE(is_said(job, Rule::slow_rank)) << sentence(job);
    // Where all have something to do, chance is all that is to be said.
    const Job even = job_of(
        between_barriers([&](std::uint32_t rank, std::uint64_t i) { return late[i] == rank ? 15 * ms : 6 * ms; }));
    EXPECT_NE(sentence(even).find("late each time"), std::string::npos) << sentence(even);
    EXPECT_NE(report::words_of(top(even).finding, even).find("a different rank is late"), std::string::npos);
}

TEST(slow_ranks, that_are_late_to_calls_of_their_own_are_waited_for_in_both) {
    const Job job = job_of(
        between_barriers([](std::uint32_t rank, std::uint64_t i) { return rank == 1 + i % 2 ? 10 * ms : 5 * ms; }));
    EXPECT_EQ(name(top(job)), "slow-rank") << sentence(job);
    EXPECT_EQ(top(job).finding.ranks, (Ranks{1, 2}));
    EXPECT_NE(sentence(job).find("the others spend 50.0% of the run waiting for them"), std::string::npos)
        << sentence(job);
    EXPECT_FALSE(is_said(job, Rule::varying)) << "all of the waiting is for these";
}

// Whoever waits for another needs no processor: that it had none, for slices of the kernel's, cost nothing.
TEST(crowds, a_rank_that_waits_for_another_all_the_time_has_lost_nothing_without_a_processor) {
    const auto without_processor = [](std::uint32_t who) {
        auto job = between_barriers([](std::uint32_t rank, std::uint64_t) { return rank == 1 ? 20 * ms : ms; });
        for (ProfileSpec& rank : job) {
            rank.processor = {rank.elapsed_ns, 0, 0, 0};
            rank.usage.involuntary_switches = 100;
        }
        job[who].processor = {job[who].elapsed_ns / 10, job[who].elapsed_ns * 8 / 10, 0, 0};
        return job_of(job);
    };
    EXPECT_FALSE(is_said(without_processor(2), Rule::crowded)) << sentence(without_processor(2));
    EXPECT_TRUE(is_said(without_processor(1), Rule::crowded)) << sentence(without_processor(1));
}

// On one node 1 MiB is there in less than 8 ms; over a slow network it might not be.
TEST(late_inside, one_whose_large_sends_wait_on_its_own_node_is_not_accused) {
    auto job = between_barriers([](std::uint32_t rank, std::uint64_t) { return rank == 0 ? 16 * ms : 8 * ms; });
    job[0].calls.push_back(sends("MPI_Send", {calls_of(400, 1 << 20, 400 * 8 * ms, 7 * ms)}));
    EXPECT_FALSE(is_said(job_of(job), Rule::late_inside)) << sentence(job);
    EXPECT_EQ(top(job).finding.rule, Rule::late_receiver) << sentence(job);
}

// Blocks go from rank to rank, and the last one is waited for at the end of each sweep.
std::vector<ProfileSpec> sweeps() {
    auto job = between_barriers([](std::uint32_t rank, std::uint64_t) { return 9 * ms + 3 * ms * rank; });
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        job[rank].calls.push_back(receives("MPI_Recv", {calls_of(1200, 1000, 400 * (3 * rank * ms + us), us)}));
        if (rank > 0) job[rank].peers.push_back({.rank = rank - 1, .received = {1200, 1'200'000, us}});
        if (rank < 3) job[rank].peers.push_back({.rank = rank + 1, .sent = {1200, 1'200'000, us}});
    }
    return job;
}

TEST(pipeline, that_fills_and_runs_empty_is_told_from_late_senders) {
    const Job job = job_of(sweeps());
    EXPECT_EQ(name(top(job)), "pipeline") << sentence(job);
    EXPECT_TRUE(sentence(job).starts_with("Pipeline: ")) << sentence(job);
    EXPECT_NE(sentence(job).find("waiting for it to fill and to run empty again, mostly in MPI_Recv of 1000 B"),
              std::string::npos)
        << sentence(job);
}

TEST(pipeline, with_a_slow_rank_blames_not_the_last_one) {
    auto ranks = sweeps();
    for (ProfileSpec& rank : ranks)  // rank 1 is outside MPI for longer, the others wait in MPI_Recv for so much more
        if (rank.rank > 1) rank.calls.back().cells[0].time_ns += 800 * ms;
    ranks[0].calls.back().cells[0].time_ns += 800 * ms;
    const Job job = job_of(ranks);
    EXPECT_TRUE(is_said(job, Rule::slow_rank)) << sentence(job);
    EXPECT_EQ(name(top(job)), "pipeline") << sentence(job);
    EXPECT_NE(sentence(job).find("its slowest rank sets the pace"), std::string::npos) << sentence(job);
}

TEST(pipeline, is_none_where_messages_come_back_or_go_up_a_tree) {
    auto ring = sweeps();
    ring[0].peers.push_back({.rank = 3, .received = {1200, 1'200'000, us}});
    ring[3].peers.push_back({.rank = 0, .sent = {1200, 1'200'000, us}});
    EXPECT_FALSE(is_said(job_of(ring), Rule::pipeline)) << sentence(ring);
    auto tree = sweeps();
    for (ProfileSpec& rank : tree) rank.peers.clear();
    for (const auto& [from, to] : {std::pair{0u, 1u}, {2u, 3u}, {1u, 3u}}) {
        tree[from].peers.push_back({.rank = to, .sent = {1200, 1'200'000, us}});
        tree[to].peers.push_back({.rank = from, .received = {1200, 1'200'000, us}});
    }
    EXPECT_FALSE(is_said(job_of(tree), Rule::pipeline)) << sentence(tree);
}

}  // namespace
}  // namespace mpiprof::test
