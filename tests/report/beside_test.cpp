// MPI on other threads than the main one: what is said of it, and of which jobs nothing is.
#include "report/analysis/beside.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/sections/rule_words.h"
#include "tests/report/stories.h"
#include "tests/report/verdict_jobs.h"

namespace mpiprof::test {
namespace {

TEST(verdict, mpi_beside_a_main_thread_that_runs_on_is_said_first) {
    EXPECT_EQ(name(top(background_training())), "overlap");
    EXPECT_NE(sentence(background_training()).find("of that time the main thread was not blocked"), std::string::npos)
        << sentence(background_training());
    EXPECT_FALSE(is_said(job_of(background_training()), Rule::varying));
    const Job job = job_of(background_training());
    ASSERT_FALSE(top(background_training()).finding.calls.empty());
    EXPECT_EQ(job.calls[top(background_training()).finding.calls[0]].name, "MPI_Allreduce") << "whose line is named";
}

// All calls on thread 2, and how long each rank's main thread ran of the whole.
std::vector<ProfileSpec> on_thread_2(std::vector<ProfileSpec> job, double main_ran) {
    for (ProfileSpec& rank : job) {
        for (CallSpec& call : rank.calls)
            for (CellSpec& cell : call.cells) cell.thread = 2;
        rank.processor.first_ran_ns = static_cast<std::uint64_t>(main_ran * static_cast<double>(rank.elapsed_ns));
        rank.usage.user_us = rank.elapsed_ns / 1000;
    }
    return job;
}

TEST(verdict, a_program_that_is_all_in_one_other_thread_is_judged_as_any) {
    const auto job = on_thread_2(uneven_work(), 0.001);
    EXPECT_EQ(name(top(job)), "slow-rank") << sentence(job);
    EXPECT_EQ(sentence(job), sentence(uneven_work()));
    const auto& overlap = verdicts(job_of(job));
    const auto said =
        std::find_if(overlap.begin(), overlap.end(), [](const Verdict& v) { return v.finding.rule == Rule::overlap; });
    ASSERT_NE(said, overlap.end());
    EXPECT_FALSE(said->finding.is_serious);
    EXPECT_EQ(
        report::words_of(said->finding, job_of(job)),
        "100% of the MPI time is on threads other than the main thread (1.0 cores busy per rank), which was blocked for "
        "99.9% of the run: the thread that calls MPI is treated as the program.");
}

TEST(verdict, a_thread_that_began_mpi_itself_does_not_run_beside_its_own_calls) {
    auto job = on_thread_2(uneven_work(), 0.99);
    for (ProfileSpec& rank : job) rank.flags = format::another_thread_began;
    EXPECT_EQ(name(top(job)), "slow-rank") << sentence(job);
}

TEST(verdict, a_main_thread_that_waits_for_the_thread_that_communicates_is_not_beside_it) {
    auto job = on_thread_2(in_allreduce({5 * s, 5 * s, 1 * s, 5 * s}), 0.45);
    EXPECT_EQ(name(top(job)), "slow-rank") << sentence(job);
    EXPECT_EQ(sentence(job).find("lost"), std::string::npos) << sentence(job);
    // It ran on for 40 % of the run at least, while others were in MPI for 50 %.
    for (ProfileSpec& rank : job) rank.processor.first_ran_ns = 9 * s;
    EXPECT_NE(name(top(job)), "slow-rank") << sentence(job);
}

TEST(verdict, where_nobody_knows_who_ran_meanwhile_nothing_is_said_of_it) {
    const auto expect_nothing = [](const std::vector<ProfileSpec>& job, const char* why) {
        EXPECT_EQ(name(top(job)), "healthy") << why << ": " << sentence(job);
        EXPECT_TRUE(is_said(job_of(job), Rule::overlap)) << why;
        for (const Rule rule :
             {Rule::slow_rank, Rule::imbalance, Rule::growing_work, Rule::varying, Rule::serial_chain})
            EXPECT_FALSE(is_said(job_of(job), rule)) << why << report::id_of(rule);
    };
    auto job = on_thread_2(uneven_work(), 0);
    expect_nothing(job, "no account");
    job = on_thread_2(uneven_work(), 0.001);
    for (ProfileSpec& rank : job) rank.usage.user_us *= 3;
    expect_nothing(job, "other threads ran, too");
    job = on_thread_2(uneven_work(), 0.001);
    for (ProfileSpec& rank : job) rank.processor.others_waited_ns = rank.elapsed_ns / 2;
    expect_nothing(job, "other threads wanted to");
    job = on_thread_2(in_allreduce({5 * s, 5 * s, 1 * s, 5 * s}), 0.001);
    for (ProfileSpec& rank : job) {
        std::vector<CellSpec>& cells = rank.calls.front().cells;
        cells.front().calls /= 2, cells.front().bytes /= 2, cells.front().time_ns /= 2;
        cells.push_back(cells.front());
        cells.back().thread = 3;
    }
    expect_nothing(job, "two threads call MPI");
}

}  // namespace
}  // namespace mpiprof::test
