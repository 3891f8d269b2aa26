// Ranks that the others wait for although they are no longer outside MPI than these: late inside MPI, late to
// MPI_Finalize, and late one after the other.
#include <gtest/gtest.h>

#include "libmpiprof/format/arrivals.h"
#include "tests/report/verdict_jobs.h"

namespace mpiprof::test {
namespace {

// 4 ranks of 10 s that make 1000 Allreduces, every tenth of them kept. `late` come 4 ms after the others to each, and
// spend as long in `call` before, or outside MPI where that is empty.
std::vector<ProfileSpec> late_ranks(const Ranks& late, const std::string& call, format::Traffic traffic) {
    std::vector<ProfileSpec> job = ranks_of_job(4);
    for (ProfileSpec& rank : job) {
        const bool is_late = std::find(late.begin(), late.end(), rank.rank) != late.end();
        rank.communicators[0].collectives = 1000;
        for (std::uint64_t i = 0; i < 1000; i += 10)
            rank.communicators[0].kept.push_back(
                {.call = "MPI_Allreduce",
                 .number = i,
                 .begin_ns = static_cast<std::int64_t>(i * 10 * ms + (is_late ? 4 * ms + rank.rank * us : 0)),
                 .time_ns = is_late ? 10 * us : 4 * ms + 10 * us,
                 .bytes = 8,
                 .root = 0});
        CallSpec sums = collective("MPI_Allreduce", {calls_of(1000, 8, is_late ? 10 * ms : 4 * s + 10 * ms, 5 * us)});
        sums.arguments = format::is_ordered | format::waits_for_all;
        rank.calls = {sums};
        if (!call.empty() && is_late)
            rank.calls.push_back({.name = call, .traffic = traffic, .cells = {calls_of(1000, 65536, 4 * s, 3 * ms)}});
    }
    return job;
}

TEST(late_inside, one_that_writes_a_file_is_named_with_the_call) {
    const Job job = job_of(late_ranks({2}, "MPI_File_write_at", format::Traffic::file));
    const Verdict verdict = top(job);
    EXPECT_EQ(name(verdict), "late-inside");
    EXPECT_EQ(verdict.finding.ranks, Ranks{2});
    EXPECT_EQ(
        sentence(job),
        "Rank 2 on node node1 arrives late at MPI_Allreduce after spending 4.000 s more in MPI_File_write_at than the others; the "
        "other ranks spend 40.0% of the run waiting for it.");
    EXPECT_TRUE(explains(verdict, Rule::varying)) << "nothing is random in it";
}

TEST(late_inside, one_that_waits_itself_is_not_accused) {
    const Job job = job_of(late_ranks({2}, "MPI_Recv", format::Traffic::receive));
    EXPECT_FALSE(is_said(job, Rule::late_inside)) << sentence(job);
    EXPECT_EQ(top(job).finding.rule, Rule::late_sender) << sentence(job);
    EXPECT_TRUE(top(job).finding.ranks.empty());
}

TEST(late_partners, one_that_waits_for_a_lock_or_a_target_is_told_so) {
    const Job job = job_of(late_ranks({2}, "MPI_Win_lock", format::Traffic::sync));
    EXPECT_EQ(top(job).finding.rule, Rule::passive_target) << sentence(job);
    EXPECT_TRUE(sentence(job).starts_with("Passive target: ")) << sentence(job);
    EXPECT_NE(sentence(job).find("mostly in MPI_Win_lock; no rank is slow overall."), std::string::npos)
        << sentence(job);
    EXPECT_FALSE(is_said(job_of(late_ranks({2}, "MPI_File_write_at", format::Traffic::file)), Rule::passive_target));
}

TEST(late_inside, two_that_are_late_together_are_named) {
    const Verdict verdict = top(late_ranks({0, 1}, "MPI_File_write_at", format::Traffic::file));
    EXPECT_EQ(name(verdict), "late-inside");
    EXPECT_EQ(verdict.finding.ranks, (Ranks{0, 1}));
}

TEST(late_inside, one_that_is_longer_outside_is_a_slow_rank) {
    const Job job = job_of(late_ranks({2}, "", format::Traffic::none));
    EXPECT_EQ(name(top(job)), "slow-rank");
    EXPECT_FALSE(is_said(job, Rule::late_inside));
}

TEST(late_inside, ranks_that_come_at_once_are_not_named) {
    const Job job = job_of(late_ranks({}, "", format::Traffic::none));
    EXPECT_FALSE(is_said(job, Rule::late_inside));
}

TEST(finalize, the_rank_that_the_others_wait_for_is_named) {
    std::vector<ProfileSpec> job = ranks_of_job(3);
    for (ProfileSpec& rank : job) rank.finalize_ns = rank.rank == 1 ? 2 * ms : 4 * s;
    job[1].elapsed_ns = 14 * s;
    const Verdict verdict = top(job);
    EXPECT_EQ(name(verdict), "finalize");
    EXPECT_EQ(verdict.finding.ranks, Ranks{1});
    EXPECT_NE(sentence(job).find("reaches MPI_Finalize 3.998 s after the first rank"), std::string::npos)
        << sentence(job);
    job[2].state = format::State::running;
    EXPECT_NE(name(top(job)), "finalize") << "one has not left it";
    for (ProfileSpec& rank : job) rank.state = format::State::finalized, rank.finalize_ns = 4 * s;
    EXPECT_NE(name(top(job)), "finalize") << "all were there as long";
    job[0].finalize_ns = 9 * s;
    job[1].elapsed_ns = 10 * s;
    EXPECT_NE(name(top(job)), "finalize") << "all entered it at once: the library has more to do on one";
}

// All spend half of the run in one call: what it waits for is its partner, and no chance.
std::vector<ProfileSpec> waiting_for_partners(const CallSpec& call) {
    auto ranks = ranks_of_job(4);
    for (ProfileSpec& rank : ranks) rank.calls = {call};
    return ranks;
}

TEST(late_partners, sends_that_wait_for_their_receiver_are_no_chance) {
    const auto job = waiting_for_partners(sends("MPI_Send", {calls_of(600, 64 << 10, 5 * s, 100 * us)}));
    EXPECT_EQ(top(job).finding.rule, Rule::late_receiver) << sentence(job);
    EXPECT_TRUE(sentence(job).starts_with("Late receivers: ")) << sentence(job);
    EXPECT_NE(sentence(job).find("mostly in MPI_Send of 64 KiB; no rank is slow overall."), std::string::npos)
        << sentence(job);
}

TEST(late_partners, receives_that_wait_for_their_sender_are_no_chance) {
    const auto job = waiting_for_partners(receives("MPI_Recv", {calls_of(600, 1000, 5 * s, 10 * us)}));
    EXPECT_EQ(top(job).finding.rule, Rule::late_sender) << sentence(job);
    EXPECT_TRUE(sentence(job).starts_with("Late senders: ")) << sentence(job);
}

// Nearly all programs have some collectives, to which somebody is last.
TEST(late_partners, are_named_in_programs_with_collectives_too) {
    auto ranks = waiting_for_partners(sends("MPI_Send", {calls_of(600, 64 << 10, 5 * s, 100 * us)}));
    for (ProfileSpec& rank : ranks) {
        rank.communicators[0].collectives = 100;
        for (std::uint64_t i = 0; i < 100; ++i)
            rank.communicators[0].kept.push_back({.call = "MPI_Barrier",
                                                  .number = i,
                                                  .begin_ns = static_cast<std::int64_t>(i * 90 * ms + rank.rank * ms),
                                                  .time_ns = (4 - rank.rank) * ms,
                                                  .root = 0});
        CallSpec barrier = sync("MPI_Barrier", {calls_of(100, 0, 100 * (4 - rank.rank) * ms, 1 * ms)});
        barrier.arguments = format::is_ordered | format::waits_for_all;
        rank.calls.push_back(barrier);
    }
    const Job job = job_of(ranks);
    ASSERT_FALSE(job.comparison.calls.empty()) << "they were compared";
    EXPECT_EQ(top(job).finding.rule, Rule::late_receiver) << sentence(job);
    EXPECT_EQ(report::confidence_of(top(job).finding), report::Confidence::estimated);
}

// 3 ranks wait for 2 s each in MPI_Finalize, or in MPI_Init: 6 s, whatever the run between them takes.
TEST(finalize, what_init_and_finalize_cost_is_added_up_over_the_ranks) {
    auto ranks = ranks_of_job(4);
    for (ProfileSpec& rank : ranks) {
        rank.elapsed_ns = rank.rank == 0 ? 10 * s : 8 * s;
        rank.finalize_ns = rank.rank == 0 ? 5 * ms : 2 * s + 5 * ms;
    }
    const auto cost_of = [](const Job& job) {
        return report::cost_ns(top(job).finding, report::Analysed(job).figures());
    };
    const Job ends = job_of(ranks);
    ASSERT_EQ(top(ends).finding.rule, Rule::finalize) << sentence(ends);
    EXPECT_NEAR(cost_of(ends), 6e9, 1e7);

    ranks = ranks_of_job(4);
    for (ProfileSpec& rank : ranks) rank.init_ns = rank.rank == 0 ? 20 * ms : 2 * s + 20 * ms;
    const Job begins = job_of(ranks);
    ASSERT_EQ(top(begins).finding.rule, Rule::init) << sentence(begins);
    EXPECT_NEAR(cost_of(begins), 6e9, 1e7);
}

// Nothing of it is waiting.
TEST(moving_data, is_said_beside_the_cause_and_before_one_that_costs_little) {
    const auto ranks_that_move = [](std::uint64_t bytes, std::uint64_t waited_ns) {
        auto ranks = ranks_of_job(4);
        for (ProfileSpec& rank : ranks) {
            const bool is_slow = rank.rank == 2;
            rank.calls = {collective("MPI_Alltoall", {calls_of(500, bytes, 5 * s, 10 * ms)}),
                          collective("MPI_Allreduce", {calls_of(500, 8, is_slow ? 5 * ms : waited_ns, 10 * us)})};
        }
        return ranks;
    };
    const Job job = job_of(ranks_that_move(10'000'000, 3 * s));
    EXPECT_EQ(top(job).finding.rule, Rule::slow_rank) << sentence(job);
    ASSERT_TRUE(is_said(job, Rule::moving_data));
    EXPECT_FALSE(is_said(job_of(ranks_that_move(8, 3 * s)), Rule::moving_data)) << "8 bytes take no time to move";
    const Job mostly = job_of(ranks_that_move(10'000'000, 1 * s));
    EXPECT_EQ(top(mostly).finding.rule, Rule::moving_data) << sentence(mostly);
    EXPECT_TRUE(is_said(mostly, Rule::slow_rank));
    auto alone = ranks_that_move(10'000'000, 1 * s);
    for (ProfileSpec& rank : alone) rank.calls.pop_back();
    EXPECT_EQ(top(job_of(alone)).finding.rule, Rule::transfers);
    EXPECT_FALSE(is_said(job_of(alone), Rule::moving_data)) << "the first sentence says it";
}

// The cause is another one, and what ranks do outside MPI is mostly not to run.
TEST(off_cpu, what_ranks_sleep_outside_mpi_is_said_beside_the_cause) {
    auto ranks = waiting_for_partners(receives("MPI_Recv", {calls_of(600, 1000, 5 * s, 10 * us)}));
    for (ProfileSpec& rank : ranks) rank.processor = {1 * s, 0, 0, 0};
    const Job job = job_of(ranks);
    EXPECT_EQ(top(job).finding.rule, Rule::late_sender) << sentence(job);
    EXPECT_TRUE(is_said(job, Rule::off_cpu));
    for (ProfileSpec& rank : ranks) rank.processor = {9 * s, 0, 0, 0};
    EXPECT_FALSE(is_said(job_of(ranks), Rule::off_cpu));
}

}  // namespace
}  // namespace mpiprof::test
