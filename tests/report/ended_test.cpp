// What a report begins with where a job ended before its end, or was many: who ended it, and for whom the others
// waited.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/sections/section.h"
#include "tests/report/stories.h"
#include "tests/report/verdict_jobs.h"

namespace mpiprof::test {
namespace {

TEST(verdict, who_aborted_is_named_with_the_code) {
    EXPECT_EQ(sentence(killed_in_receive()),
              "Rank 1 on node nid10001 called MPI_Abort(3) 10.00 s after MPI_Init; 2 other ranks ended with it.");
}

// Ranks 1 and 3 of four that compute alike all the time are killed after 4 s, the others after 10.
TEST(verdict, ranks_that_were_killed_early_are_not_said_to_have_had_less_work) {
    auto job = in_allreduce({100 * ms, 100 * ms, 100 * ms, 100 * ms});
    for (ProfileSpec& rank : job) rank.state = format::State::running;
    for (const std::uint32_t rank : {1u, 3u}) job[rank].elapsed_ns = 4 * s;
    const auto names_slow_ranks = [](const Job& whole) {
        return is_said(whole, Rule::imbalance) || is_said(whole, Rule::slow_rank) || is_said(whole, Rule::growing_work);
    };
    EXPECT_FALSE(names_slow_ranks(job_of(job)));
    for (const std::uint32_t rank : {0u, 2u}) job[rank].state = format::State::finalized;
    EXPECT_FALSE(names_slow_ranks(job_of(job)));
    for (const std::uint32_t rank : {1u, 3u}) job[rank].is_updated = false;  // they are taken to have lived on
    EXPECT_FALSE(names_slow_ranks(job_of(job)));
}

// As where its time is up: the last writes of ranks are apart by a part of the period.
TEST(verdict, a_job_that_was_killed_all_at_once_names_its_slow_rank) {
    auto job = in_allreduce({6 * s, 6 * s, 6 * s, 100 * ms});
    for (ProfileSpec& rank : job) rank.state = format::State::running;
    job[1].elapsed_ns = 9500 * ms;
    EXPECT_TRUE(is_said(job_of(job), Rule::slow_rank));
}

TEST(verdict, a_killed_job_names_whom_the_others_waited_for) {
    const Verdict found = top(one_never_arrived());
    EXPECT_EQ(name(found), "unfinished");
    EXPECT_EQ(found.finding.ranks, (Ranks{7}));
    EXPECT_TRUE(explains(found, Rule::slow_rank)) << "that rank 7 was outside MPI longest follows from it";
    EXPECT_NE(
        sentence(one_never_arrived()).find("15 ranks waited for 48.00 s in MPI_Barrier for rank 7 on node nid10001"),
        std::string::npos)
        << sentence(one_never_arrived());
}

TEST(verdict, the_rank_whose_record_stops_first_is_named) {
    auto job = ranks_of_job(4);
    for (ProfileSpec& rank : job) {
        rank.state = format::State::running;
        rank.calls = {sends("MPI_Send", {calls_of(10, 8, 1 * ms, 1 * us)})};
        rank.threads = {{.in_call_for_ns = 1 * ms, .last_call = "MPI_Send"}};
    }
    job[2].elapsed_ns = 5 * s;
    EXPECT_EQ(top(job).finding.ranks, (Ranks{2}));
    EXPECT_NE(
        sentence(job).find(
            "Rank 2 on node node1 was killed (or on a node that cannot be checked from here) first, 5.000 s after MPI_Init"),
        std::string::npos)
        << sentence(job);
}

TEST(verdict, many_jobs_of_one_rank_have_the_wrong_launcher) {
    auto ranks = ranks_of_job(1);
    ranks[0].launcher = "Hydra";
    Job job = job_of(ranks);
    const report::OtherLaunch alike{.number = 2,
                                    .launch = "x",
                                    .job = job.job,
                                    .command = job.command,
                                    .started_at_ns = job.ranks[0].started_at_ns + s,
                                    .files = 1,
                                    .size = 1};
    job.other_launches = {alike, alike, alike};
    EXPECT_EQ(
        sentence(job),
        "Launcher mismatch: 4 jobs of one rank each instead of one job of 4 ranks; Hydra started a program that is linked with Open MPI.");
    job.launcher = "Open MPI";  // its own: a script that runs four serial programs
    EXPECT_FALSE(is_said(job, Rule::wrong_launcher));
    job.launcher = "none";
    EXPECT_FALSE(is_said(job, Rule::wrong_launcher));
}

}  // namespace
}  // namespace mpiprof::test
