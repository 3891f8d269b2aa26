// Ranks that lack a processor: when that is what a report begins with, and what it is said to cost.
#include <gtest/gtest.h>

#include "report/sections/rule_words.h"
#include "report/sections/verdict_table.h"
#include "tests/report/placement_jobs.h"
#include "tests/report/shown.h"
#include "tests/report/verdict_jobs.h"

namespace mpiprof::test {
namespace {

TEST(verdict, ranks_that_lose_their_processor_are_crowded) {
    EXPECT_EQ(name(top(crowded_cores())), "crowded");
    EXPECT_NE(sentence(crowded_cores()).find("runnable without a CPU for 76.2% of the run"), std::string::npos);
}

TEST(verdict, sleeping_and_yielding_is_no_crowding) {
    auto yields = crowded_cores();  // as often as sched_yield does it: it has the processor back at once
    for (ProfileSpec& rank : yields) rank.usage.involuntary_switches = 400'000;
    EXPECT_FALSE(is_said(job_of(yields), Rule::crowded));
    auto sleeps = crowded_cores();  // it gave the processor up itself
    for (ProfileSpec& rank : sleeps) rank.usage.voluntary_switches = 1'000;
    EXPECT_FALSE(is_said(job_of(sleeps), Rule::crowded));
    auto quiet = crowded_cores();
    for (ProfileSpec& rank : quiet) rank.usage.involuntary_switches = 50;
    EXPECT_FALSE(is_said(job_of(quiet), Rule::crowded));
}

TEST(verdict, the_kernels_account_of_waiting_for_a_processor_decides) {
    auto job = crowded_cores();  // by its switches
    for (ProfileSpec& rank : job) rank.processor = {8'000'000'000, 10'000'000, 0, 0};
    EXPECT_FALSE(is_said(job_of(job), Rule::crowded)) << "it hardly waited";
    for (ProfileSpec& rank : job) rank.usage.involuntary_switches = 0;
    for (ProfileSpec& rank : job) rank.processor.first_waited_ns = 5'000'000'000;
    EXPECT_EQ(name(top(job)), "crowded");
    EXPECT_NE(sentence(job).find("scheduler statistics"), std::string::npos) << sentence(job);
}

// Ranks that all lost 30 % of 10 s to somebody, on cores of their own.
std::vector<ProfileSpec> starved_on_own_cores(double busy_by_all) {
    return ranks_at({{.cpus = "0", .busy = 0.7, .ran = 7, .waited = 3, .all_busy = busy_by_all},
                     {.cpus = "1", .busy = 0.7, .ran = 7, .waited = 3, .all_busy = busy_by_all}});
}

TEST(verdict, foreign_load_is_named_before_all_other_causes) {
    const auto job = starved_on_own_cores(1);
    EXPECT_EQ(name(top(job)), "foreign-load");
    EXPECT_EQ(
        sentence(job),
        "Disturbed measurement: other processes used 0.60 of the 2 cores of ranks 0 and 1 on node nid1 (30.0%); ranks were runnable without a CPU for 30.0% of the time.");
    EXPECT_TRUE(explains(top(job), Rule::crowded));

    auto slow = starved_on_own_cores(1);  // and rank 1 works for longer than all of that costs
    slow[0].calls = {collective("MPI_Allreduce", {calls_of(1'000, 8, 6 * s, 5'800'000)})};
    slow[1].calls = {collective("MPI_Allreduce", {calls_of(1'000, 8, 1 * s, 900'000)})};
    EXPECT_EQ(name(top(slow)), "foreign-load");
}

TEST(verdict, foreign_load_on_cores_that_were_never_idle_disturbs_whatever_the_ranks_say_of_waiting) {
    const auto load = [](double by_all) {
        return ranks_at({{.cpus = "0", .busy = 0.6, .ran = 6, .all_busy = by_all},
                         {.cpus = "1", .busy = 0.6, .ran = 6, .all_busy = by_all}});
    };
    EXPECT_EQ(name(top(load(0.95))), "foreign-load");
    EXPECT_EQ(name(top(load(0.8))), "healthy");
}

TEST(verdict, of_a_job_that_runs_on_is_not_that_ranks_were_killed_as_well) {
    auto specs = starved_on_own_cores(1);
    for (ProfileSpec& rank : specs) rank.state = format::State::running;
    Job job = job_of(specs);
    for (report::Rank& rank : job.ranks) rank.life = report::Life::running;
    const std::string text = shown(job, "summary");
    EXPECT_NE(text.find("Disturbed measurement"), std::string::npos) << text;
    EXPECT_NE(text.find("still running. [unfinished]"), std::string::npos) << text;
    EXPECT_EQ(text.find("killed"), std::string::npos) << text;
}

TEST(verdict, ranks_with_their_cores_to_themselves_lack_a_processor_by_their_own_threads) {
    const auto job = starved_on_own_cores(0.72);
    const std::string words = report::words_of(top(job).finding, job_of(job));
    EXPECT_NE(words.find("other processes computed for only 2.0%: their own threads may take turns, or system work"),
              std::string::npos)
        << words;
}

TEST(verdict, foreign_load_that_cost_no_rank_its_processor_is_a_remark) {
    const auto job = ranks_at({{.cpus = "0-3", .busy = 0.7, .ran = 7, .waited = 0.01, .all_busy = 2.5},
                               {.cpus = "0-3", .busy = 0.7, .ran = 7, .waited = 0.01, .all_busy = 2.5}});
    EXPECT_NE(name(top(job)), "crowded");
    EXPECT_TRUE(is_said(job_of(job), Rule::foreign_load));
}

TEST(verdict, who_yields_inside_mpi_and_lacks_a_processor_outside_is_crowded) {
    // 6 s of 10 s without a processor, in slices and in turns; all of that may be turns of an MPI that yields, or not.
    auto job = in_allreduce({1 * s, 1 * s, 1 * s, 1 * s}), inside = in_allreduce({6 * s, 6 * s, 6 * s, 6 * s});
    for (auto* ranks : {&job, &inside})
        for (ProfileSpec& rank : *ranks) {
            rank.processor = {4'000'000'000, 6'000'000'000, 0, 0};
            rank.usage.involuntary_switches = 60'000;
        }
    EXPECT_EQ(name(top(job)), "crowded");
    EXPECT_TRUE(sentence(job).find("runnable without a CPU for at least 50.0% of the run") != std::string::npos);
    const Verdict varying = top(inside);  // varying-lateness
    EXPECT_TRUE(report::words_of(varying.finding, job_of(inside)).find("CPU for 60.0% of the run, inside MPI or") !=
                std::string::npos);
}

TEST(verdict, ranks_that_come_late_in_turn_are_said_to_lack_a_processor_only_outside_mpi) {
    // 6 s of 10 s without a processor, in turns; stretches of the run saw so much of it outside MPI.
    const auto words = [](std::uint64_t waited_between_calls_ns) {
        auto ranks = in_allreduce({6 * s, 6 * s, 6 * s, 6 * s});
        for (ProfileSpec& rank : ranks) {
            rank.processor = {4'000'000'000, 6'000'000'000, 0, 0};
            rank.usage.involuntary_switches = 60'000;
            rank.between_calls = {
                .ns = 100 * ms, .waited_ns = waited_between_calls_ns, .ran_ns = 100 * ms - waited_between_calls_ns};
            rank.in_calls = {.ns = 100 * ms, .waited_ns = 60 * ms};
        }
        EXPECT_EQ(name(top(ranks)), "varying-lateness");
        return report::words_of(top(ranks).finding, job_of(ranks));
    };
    EXPECT_EQ(words(0).find("processor"), std::string::npos) << words(0);
    EXPECT_NE(words(10 * ms).find("runnable without a CPU for 6.0% of the run outside MPI: "), std::string::npos)
        << words(10 * ms);
}

TEST(verdict, tiny_calls_whose_partners_have_no_processor_are_explained_by_that) {
    auto job = ranks_of_job(2);
    for (ProfileSpec& rank : job) {
        rank.calls = {collective("MPI_Allreduce", {calls_of(4'000'000, 8, 4 * s, 300)})};
        rank.processor = {7'000'000'000, 3'000'000'000, 0, 0};
    }
    EXPECT_EQ(name(top(job)), "crowded");
    EXPECT_TRUE(explains(top(job), Rule::small_messages));
    for (ProfileSpec& rank : job) rank.processor.first_waited_ns = 1'000'000'000;
    EXPECT_EQ(name(top(job)), "small-messages") << "which cost four times what was waited";
}

// Of 10 s each rank is in MPI for so long and 4 s without a processor, 4 ms at a time; in stretches outside MPI that
// were looked at for so much of 100 ms.
std::vector<ProfileSpec> without_processors(std::uint64_t inside_ns, std::uint64_t waited_between_calls_ns) {
    auto job = in_allreduce({inside_ns, inside_ns, inside_ns, inside_ns});
    for (ProfileSpec& rank : job) {
        rank.processor = {6'000'000'000, 4'000'000'000, 0, 0};
        rank.usage.involuntary_switches = 1000;
        rank.between_calls = {
            .ns = 100 * ms, .waited_ns = waited_between_calls_ns, .ran_ns = 100 * ms - waited_between_calls_ns};
        rank.in_calls = {.ns = 100 * ms, .waited_ns = 60 * ms};
    }
    return job;
}

TEST(verdict, a_crowd_costs_what_stretches_of_the_run_saw_outside_mpi) {
    const auto job = without_processors(1 * s, 20 * ms);  // 9 s x 0.2 outside to 1 s x 0.6 inside
    EXPECT_EQ(name(top(job)), "crowded");
    EXPECT_NEAR(top(job).finding.run_share, 0.3, 5e-3);
    EXPECT_NE(sentence(job).find("runnable without a CPU for 30.0% of the run, outside MPI (scheduler statistics)"),
              std::string::npos)
        << sentence(job);
}

TEST(verdict, a_slow_rank_without_a_processor_is_not_told_to_look_for_sleep) {
    // Rank 1 is outside MPI for 9.9 s, the others wait for it.
    const auto advice = [](std::uint64_t ran_ns, std::uint64_t waited_ns) {
        auto ranks = in_allreduce({9 * s, 100 * ms, 9 * s, 9 * s});
        ranks[1].usage.user_us = ran_ns / 1000;
        ranks[1].processor = {ran_ns, waited_ns, 0, 0};
        ranks[1].between_calls = {.ns = 100 * ms, .waited_ns = waited_ns / 100, .ran_ns = ran_ns / 100};
        const Job job = job_of(ranks);
        for (const Verdict& verdict : verdicts(job))
            for (const report::Finding& finding : verdict.explained)
                if (finding.rule == Rule::slow_rank) return report::next_step(finding, job);
        return report::next_step(top(job).finding, job);
    };
    EXPECT_NE(advice(2 * s, 7 * s).find("without a CPU for 70"), std::string::npos) << advice(2 * s, 7 * s);
    EXPECT_NE(advice(2 * s, 0).find("look for sleep"), std::string::npos) << advice(2 * s, 0);
}

TEST(verdict, a_crowd_does_not_hide_a_rank_that_ran_longer_than_the_others_are_outside_mpi) {
    // Rank 3 is outside MPI for 9.9 s and the others for 7 s; ranks 0 and 3 lack a processor there for a part of it.
    const auto job = [](std::uint64_t waited_of_100_ms) {
        auto ranks = in_allreduce({3 * s, 3 * s, 3 * s, 100 * ms});
        for (const std::size_t rank : {0, 3}) {
            const std::uint64_t outside = rank == 0 ? 7 * s : 9900 * ms, waited = outside / 100 * waited_of_100_ms;
            ranks[rank].processor = {10 * s - waited, waited, 0, 0};
            ranks[rank].between_calls = {
                .ns = 100 * ms, .waited_ns = waited_of_100_ms * ms, .ran_ns = (100 - waited_of_100_ms) * ms};
            ranks[rank].in_calls = {.ns = 100 * ms, .waited_ns = 0};
        }
        return ranks;
    };
    EXPECT_EQ(name(top(job(15))), "slow-rank") << sentence(job(15));
    EXPECT_TRUE(is_said(job_of(job(15)), Rule::crowded));
    EXPECT_EQ(name(top(job(40))), "crowded") << sentence(job(40));
    EXPECT_TRUE(explains(top(job(40)), Rule::slow_rank));
}

TEST(verdict, slices_inside_mpi_are_a_crowd_where_all_of_it_was_waited_there) {
    const auto job = without_processors(5 * s, 0);
    EXPECT_EQ(name(top(job)), "crowded");
    EXPECT_NE(sentence(job).find(
                  "runnable without a CPU for 40.0% of the run, inside MPI and outside (scheduler statistics)"),
              std::string::npos)
        << sentence(job);
}

TEST(verdict, a_crowd_is_not_why_ranks_wait_for_what_costs_far_more) {
    const auto chain = [](std::uint64_t between_waited_ns) {
        auto job = ranks_of_job(4);
        for (ProfileSpec& rank : job) {
            rank.calls = {receives("MPI_Recv", {calls_of(500, 1, 7500 * ms, 10 * ms)}),
                          sends("MPI_Send", {calls_of(500, 1, 1 * ms, 1 * us)})};
            rank.processor = {5'000'000'000, 5'000'000'000, 0, 0};
            rank.between_calls = {
                .ns = 100 * ms, .waited_ns = between_waited_ns, .ran_ns = 100 * ms - between_waited_ns};
            rank.in_calls = {.ns = 100 * ms, .waited_ns = 60 * ms};
        }
        return job;
    };
    EXPECT_EQ(name(top(chain(30 * ms))), "serial-chain") << sentence(chain(30 * ms));
    EXPECT_TRUE(is_said(job_of(chain(30 * ms)), Rule::crowded));
    EXPECT_FALSE(explains(top(chain(30 * ms)), Rule::crowded));
    auto crowd = chain(30 * ms);
    for (ProfileSpec& rank : crowd) rank.between_calls = rank.in_calls = {};  // all of it may be outside
    EXPECT_EQ(name(top(crowd)), "crowded") << sentence(crowd);
}

}  // namespace
}  // namespace mpiprof::test
