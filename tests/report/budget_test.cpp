// Where the time of a rank went: the parts add up to all of it, and each holds what was planned for it. What follows of
// them for the job as a whole: the efficiencies of POP.
#include "report/analysis/budget.h"

#include <gtest/gtest.h>

#include "report/analysis/figures.h"
#include "tests/report/all_stories.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Budget;
using report::budget_of;
using report::Job;
using report::Part;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t MiB = 1 << 20;
constexpr double s = 1e9;

// A second between MPI_Init and MPI_Finalize, 700 ms of it outside MPI.
ProfileSpec rank_of(std::uint32_t rank, std::uint32_t size) {
    ProfileSpec spec;
    spec.rank = rank;
    spec.size = size;
    spec.own_setup_ns = ms;
    // 20 calls of 5 ms at least: 100 ms of moving, the rest of 200 ms was waiting.
    spec.calls = {
        collective("MPI_Allreduce",
                   {{.calls = 20, .bytes = 200 * MiB, .time_ns = 200 * ms, .min_ns = 5 * ms, .max_ns = 60 * ms}}),
        file_access("MPI_File_write_all", {{.calls = 1, .bytes = 10, .time_ns = 60 * ms}}),
        CallSpec{.name = "MPI_Comm_dup", .cells = {{.calls = 1, .time_ns = 40 * ms}}}};
    return spec;
}

Budget budget_of_first(const std::vector<ProfileSpec>& ranks) { return budget_of(job_of(ranks).ranks.front()); }

TEST(time_budget, adds_up_to_the_life_of_each_rank_of_every_story) {
    for (const Story& story : all_stories())
        for (const report::Rank& rank : job_of(story.ranks()).ranks) {
            if (!rank.has_profile) continue;
            const auto life = static_cast<double>(
                (rank.process_ns ? rank.process_ns : rank.init_ns + rank.setup_ns + rank.elapsed_ns) +
                rank.finalize_ns);
            EXPECT_NEAR(budget_of(rank).total(), life, 1e-9 * life) << story.name << " " << rank.rank;
        }
}

TEST(time_budget, has_every_part_that_a_profile_knows) {
    const Budget budget = budget_of_first({rank_of(0, 2), rank_of(1, 2)});
    EXPECT_NEAR(budget.of(Part::before_init), 49e6, 1e3) << "50 ms, but for our own set-up";
    EXPECT_NEAR(budget.of(Part::init), 20e6, 1e3);
    EXPECT_NEAR(budget.of(Part::profiler), 1e6, 1e3);
    EXPECT_NEAR(budget.of(Part::computing), 0.7 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::waiting), 0.1 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::moving), 0.1 * s, 1e3);
    EXPECT_EQ(budget.of(Part::waiting_or_moving), 0);
    EXPECT_NEAR(budget.of(Part::file), 60e6, 1e3);
    EXPECT_NEAR(budget.of(Part::other), 40e6, 1e3);
    EXPECT_NEAR(budget.of(Part::finalize), 5e6, 1e3);
    EXPECT_FALSE(budget[Part::processor]) << "the kernel kept no account";
}

TEST(time_budget, of_calls_on_another_thread_is_that_thread_s_where_it_acts_for_the_program) {
    ProfileSpec spec = rank_of(0, 2);
    for (CallSpec& call : spec.calls)
        for (CellSpec& cell : call.cells) cell.thread = 2;
    spec.processor.first_ran_ns = 2 * ms;
    spec.usage.user_us = 550'000;  // 0.7 s outside
    const Budget budget = budget_of_first({spec, rank_of(1, 2)});
    EXPECT_NEAR(budget.of(Part::computing), 0.55 * s, 1e3) << "nobody computes longer than there was a processor";
    EXPECT_NEAR(budget.of(Part::blocked), 0.15 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::waiting), 0.1 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::moving), 0.1 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::file), 60e6, 1e3);
}

TEST(time_budget, never_has_more_computing_than_cpu_time) {
    ProfileSpec spec = rank_of(0, 1);  // and no account of the kernel's
    spec.usage.user_us = 300'000;
    spec.usage.system_us = 100'000;
    spec.usage_at_start.user_us = 200'000;
    EXPECT_NEAR(budget_of_first({spec}).of(Part::computing), 0.2 * s, 1e3);
    EXPECT_NEAR(budget_of_first({spec}).of(Part::blocked), 0.5 * s, 1e3);
}

TEST(time_budget, has_what_the_profiler_took_between_calls_as_its_own) {
    ProfileSpec spec = rank_of(0, 1);  // 0.7 s outside
    spec.calls[0].cells[0].calls = 2'000'000;
    spec.own_ns_of_16_calls = 160;
    const std::uint64_t calls = 2'000'000 + 1 + 1;
    const Budget budget = budget_of_first({spec});
    EXPECT_NEAR(budget.of(Part::profiler), 1e6 + 10.0 * calls, 1e3);
    EXPECT_NEAR(budget.of(Part::computing), 0.7 * s - 10.0 * calls, 1e3);
    spec.calls[0].cells[0].calls = 2'000'000'000;
    EXPECT_EQ(budget_of_first({spec}).of(Part::computing), 0) << "and never more than there was";
}

TEST(time_budget, splits_the_wait_for_a_processor_by_where_the_run_was) {
    ProfileSpec spec = rank_of(0, 1);
    spec.processor = {.first_ran_ns = 600 * ms, .first_waited_ns = 400 * ms};
    const Budget budget = budget_of_first({spec});
    EXPECT_NEAR(budget.of(Part::processor), 0.7 * 0.4 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::computing), 0.7 * 0.6 * s, 1e3);
    spec.processor.first_waited_ns = 10'000 * ms;  // of several seconds before an exec
    EXPECT_EQ(budget_of_first({spec}).of(Part::computing), 0);
    EXPECT_NEAR(budget_of_first({spec}).of(Part::processor), 0.7 * s, 1e3) << "never more than there was";
    spec.calls = {counted("MPI_Comm_rank", 1)};
    spec.processor.first_waited_ns = 400 * ms;
    EXPECT_NEAR(budget_of_first({spec}).of(Part::processor), 0.4 * s, 1e3) << "without any time in MPI";
}

TEST(time_budget, splits_the_wait_for_a_processor_as_stretches_of_the_run_were) {
    ProfileSpec spec = rank_of(0, 1);  // 0.7 s outside, 0.3 s inside
    spec.processor = {.first_ran_ns = 600 * ms, .first_waited_ns = 400 * ms};
    spec.between_calls = {.ns = 70 * ms, .waited_ns = 20 * ms};  // 0.2 s of 0.7 s
    spec.in_calls = {.ns = 10 * ms, .waited_ns = 10 * ms};       // all of it
    EXPECT_NEAR(budget_of_first({spec}).of(Part::processor), 0.4 * 0.2 / (0.2 + 0.3) * s, 1e3);
    spec.in_calls.waited_ns = 0;
    EXPECT_NEAR(budget_of_first({spec}).of(Part::processor), 0.4 * s, 1e3) << "and not inside";
    spec.between_calls.waited_ns = 0;
    spec.in_calls.waited_ns = 10 * ms;
    EXPECT_NEAR(budget_of_first({spec}).of(Part::processor), 0.1 * s, 1e3) << "but what does not fit inside";
}

TEST(time_budget, of_turns_that_an_mpi_yields_has_what_does_not_fit_into_its_calls) {
    ProfileSpec spec = rank_of(0, 1);
    spec.processor = {.first_ran_ns = 600 * ms, .first_waited_ns = 400 * ms};
    spec.usage.involuntary_switches = 40'000;  // 10 us each
    EXPECT_NEAR(budget_of_first({spec}).of(Part::processor), 0.1 * s, 1e3);
}

TEST(time_budget, has_what_was_neither_run_nor_waited_as_blocked) {
    ProfileSpec spec = rank_of(0, 1);  // 0.7 s outside, 0.3 s inside
    spec.processor = {.first_ran_ns = 900 * ms, .first_waited_ns = 1 * ms};
    EXPECT_EQ(budget_of_first({spec}).of(Part::blocked), 0) << "it may have run all the time outside MPI";
    spec.between_calls = {.ns = 70 * ms, .waited_ns = 0, .ran_ns = 20 * ms};
    EXPECT_NEAR(budget_of_first({spec}).of(Part::blocked), 0.099 * s, 1e6) << "it ran for all the rest of 1 s";
    spec.processor.first_ran_ns = 400 * ms;
    EXPECT_NEAR(budget_of_first({spec}).of(Part::blocked), 0.5 * s, 1e6);
    EXPECT_NEAR(budget_of_first({spec}).of(Part::computing), 0.2 * s, 2e6);
    spec.processor.first_ran_ns = 900 * ms;
    spec.between_calls.ran_ns = 70 * ms;
    EXPECT_EQ(budget_of_first({spec}).of(Part::blocked), 0);
    spec.processor.first_ran_ns = 200 * ms;
    EXPECT_NEAR(budget_of_first({spec}).of(Part::blocked), 0.5 * s, 2e6) << "the run as a whole says so";
}

TEST(time_budget, does_not_divide_what_cannot_be_judged) {
    ProfileSpec spec = rank_of(0, 2);
    spec.calls.front().cells.front().calls = 4;  // of so few the fastest may have been slow itself
    const Budget budget = budget_of_first({spec});
    EXPECT_FALSE(budget[Part::waiting]);
    EXPECT_FALSE(budget[Part::moving]);
    EXPECT_NEAR(budget.of(Part::waiting_or_moving), 0.2 * s, 1e3);
}

TEST(time_budget, is_that_of_the_main_thread) {
    ProfileSpec spec = rank_of(0, 1);
    spec.calls.front().cells.front().thread = 2;
    spec.calls.resize(1);
    spec.threads.push_back({.id = 2, .kind = format::ThreadKind::other});
    spec.processor = {.first_ran_ns = 600 * ms, .first_waited_ns = 400 * ms};
    const Budget budget = budget_of_first({spec});
    EXPECT_NEAR(budget.of(Part::computing), 0.6 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::processor), 0.4 * s, 1e3);
    EXPECT_EQ(budget.of(Part::waiting), 0) << "the other thread's";
    spec.processor = {};
    EXPECT_NEAR(budget_of_first({spec}).of(Part::computing), s, 1e3);
    EXPECT_FALSE(budget_of_first({spec})[Part::processor]) << "the kernel keeps no account";
}

TEST(time_budget, is_that_of_the_thread_that_began_mpi_where_it_makes_the_calls) {
    ProfileSpec spec = rank_of(0, 1);
    spec.calls.front().cells.front().thread = 2;
    spec.calls.resize(1);
    spec.threads = {{.id = 2, .kind = format::ThreadKind::other}};
    spec.flags = format::another_thread_began;
    spec.processor = {.first_ran_ns = 600 * ms, .first_waited_ns = 400 * ms};
    const Budget budget = budget_of_first({spec});
    EXPECT_NEAR(budget.of(Part::waiting) + budget.of(Part::moving), 0.2 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::processor), 0.8 * 0.4 * s, 1e3);
}

TEST(time_budget, has_a_call_that_has_not_returned_and_pauses) {
    ProfileSpec spec = rank_of(0, 1);
    spec.state = format::State::running;
    spec.finalize_ns = 0;
    spec.paused_ns = 100 * ms;
    spec.threads.front().in_call = "MPI_Allreduce";
    spec.threads.front().in_call_for_ns = 300 * ms;
    const Budget budget = budget_of_first({spec});
    EXPECT_NEAR(budget.of(Part::unreturned), 0.3 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::paused), 0.1 * s, 1e3);
    EXPECT_NEAR(budget.of(Part::computing), 0.3 * s, 1e3);
}

TEST(time_budget, fits_into_the_run_where_sampled_calls_stand_for_more) {
    ProfileSpec spec = rank_of(0, 1);
    spec.calls.front().cells.front().time_ns = 1900 * ms;
    const Budget budget = budget_of_first({spec});
    EXPECT_EQ(budget.of(Part::computing), 0);
    EXPECT_NEAR(budget.of(Part::file), 30e6, 1e3) << "2 s of calls in a run of one second";
}

TEST(time_budget, of_a_job_is_the_mean_of_its_ranks) {
    ProfileSpec late = rank_of(1, 2);
    late.calls.erase(late.calls.begin());
    EXPECT_NEAR(report::mean_budget(job_of({rank_of(0, 2), late})).of(Part::computing), 0.8 * s, 1e3);
}

// Rank 0 computes 700 ms of a second, rank 1 900 ms. Of the Allreduces the fastest took 2 ms: 40 and 20 of them moved
// data for 80 and 40 ms.
std::vector<ProfileSpec> uneven_ranks() {
    ProfileSpec early = rank_of(0, 2), late = rank_of(1, 2);
    early.calls.front() = collective(
        "MPI_Allreduce", {{.calls = 40, .bytes = 40 * MiB, .time_ns = 200 * ms, .min_ns = 3 * ms, .max_ns = 60 * ms}});
    late.calls = {collective(
        "MPI_Allreduce", {{.calls = 20, .bytes = 20 * MiB, .time_ns = 100 * ms, .min_ns = 2 * ms, .max_ns = 9 * ms}})};
    return {early, late};
}

TEST(pop_efficiencies, go_down_to_serialisation_and_transfer) {
    const auto efficiency = report::figures_of(job_of(uneven_ranks())).efficiency;
    ASSERT_TRUE(efficiency && efficiency->serialisation && efficiency->transfer);
    EXPECT_NEAR(efficiency->load_balance, 0.8 / 0.9, 1e-6);
    EXPECT_NEAR(efficiency->communication, 0.9, 1e-6);
    EXPECT_NEAR(*efficiency->transfer, 0.96, 1e-6) << "rank 1 moves least, so the ideal run is its 960 ms";
    EXPECT_NEAR(*efficiency->serialisation, 0.9 / 0.96, 1e-6);
    EXPECT_NEAR(*efficiency->serialisation * *efficiency->transfer, efficiency->communication, 1e-9);
}

TEST(pop_efficiencies, below_communication_are_not_known_where_waiting_is_not) {
    std::vector<ProfileSpec> ranks = uneven_ranks();
    for (ProfileSpec& spec : ranks) spec.calls.front().cells.front().calls = 4;
    const Job job = job_of(ranks);
    const auto efficiency = report::figures_of(job).efficiency;
    ASSERT_TRUE(efficiency);
    EXPECT_FALSE(efficiency->serialisation);
    EXPECT_FALSE(efficiency->transfer);
    EXPECT_TRUE(says(shown(job, "summary", detailed()), "    transfer            -  "));
}

TEST(pop_efficiencies, are_what_they_were_where_a_little_is_not_told_apart) {
    std::vector<ProfileSpec> ranks = uneven_ranks();
    ranks[1].calls.push_back(collective("MPI_Bcast", {{.calls = 1, .bytes = 8, .time_ns = 9 * ms}}));
    const auto efficiency = report::figures_of(job_of(ranks)).efficiency;
    ASSERT_TRUE(efficiency && efficiency->transfer);
    EXPECT_NEAR(*efficiency->transfer, 0.96, 1e-6);
}

TEST(budget_screen, names_the_ranks_at_both_ends_and_takes_one_rank) {
    ProfileSpec late = rank_of(1, 2);
    late.calls.erase(late.calls.begin());
    const Job job = job_of({rank_of(0, 2), late});
    const std::string csv = shown(job, "budget", {}, "csv");
    EXPECT_NE(csv.find("\ncomputing,800000000,"), std::string::npos) << csv;
    const std::string of_one = shown(job, "budget", {.ranks = {1}, .sort = {}, .by = "rank", .top = {}}, "csv");
    EXPECT_NE(of_one.find("\n1,"), std::string::npos) << of_one;
    EXPECT_EQ(of_one.find("\n0,"), std::string::npos) << of_one;
}

}  // namespace
}  // namespace mpiprof::test
