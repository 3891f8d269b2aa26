// What a report begins with: the cause, the culprit, and what follows from it. Jobs with one known cause each, and what
// must not be said of them.
#include "report/analysis/analysed.h"
#include "report/analysis/finding.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/compare/charts.h"
#include "report/model/units.h"
#include "report/sections/rule_words.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/stories.h"
#include "tests/report/verdict_jobs.h"

namespace mpiprof::test {
namespace {

// ---- who is late ----

TEST(verdict, a_slow_rank_comes_before_the_calls_that_wait_for_it) {
    const Verdict found = top(uneven_work());
    EXPECT_EQ(found.finding.rule, Rule::slow_rank) << name(found);
    EXPECT_EQ(found.finding.ranks, (Ranks{2}));
    EXPECT_TRUE(explains(found, Rule::waiting));
    EXPECT_EQ(
        sentence(uneven_work()),
        "Rank 2 on node nid10001 computes 65.6% longer than the other ranks; the others spend 39.2% of the run waiting for it.");
}

TEST(verdict, a_rank_that_is_slower_than_twice_is_so_many_times_as_slow) {
    const auto slow = [](std::uint64_t others_in_mpi_ns) {
        return sentence(in_allreduce({others_in_mpi_ns, others_in_mpi_ns, others_in_mpi_ns, 10 * ms}));
    };
    EXPECT_NE(slow(6 * s).find("Rank 3 on node node1 computes 2.5x as long as the other ranks"), std::string::npos)
        << slow(6 * s);
    EXPECT_NE(slow(9500 * ms).find("more than 10x as long as the other ranks"), std::string::npos) << slow(9500 * ms);
}

TEST(verdict, a_slow_rank_that_sleeps_is_not_said_to_compute) {
    auto job = uneven_work();
    for (ProfileSpec& rank : job) rank.usage.user_us = 100'000;
    EXPECT_NE(sentence(job).find("Rank 2 on node nid10001 spends 65.6% longer outside MPI"), std::string::npos)
        << sentence(job);
}

TEST(verdict, a_slow_rank_whose_cgroup_was_throttled_is_said_why) {
    auto job = uneven_work();
    EXPECT_EQ(sentence(job).find("quota"), std::string::npos);
    job[2].throttled_us = job[2].elapsed_ns / 2000;
    EXPECT_NE(sentence(job).find("than the other ranks (the quota of its cgroup throttled it for "), std::string::npos)
        << sentence(job);
    for (ProfileSpec& rank : job) rank.throttled_us = job[2].throttled_us;
    EXPECT_EQ(sentence(job).find("quota"), std::string::npos) << "as that of all others was: " << sentence(job);
}

TEST(verdict, a_slow_node_is_named_by_its_host) {
    const Verdict found = top(slow_node());
    EXPECT_EQ(found.finding.rule, Rule::slow_node) << name(found);
    EXPECT_EQ(found.finding.ranks, (Ranks{40, 41, 42, 43, 44, 45, 46, 47}));
    EXPECT_NE(sentence(slow_node()).find("All ranks of node nid10006 (40-47) compute"), std::string::npos);
}

// Ranks 0 and 1 are inside MPI 0.5 of each of 100 periods, rank 2 from the 60th on 0.1.
TEST(verdict, a_rank_that_became_slow_is_told_since_when) {
    auto ranks = in_allreduce({5 * s, 5 * s, 3400 * ms});
    for (ProfileSpec& rank : ranks) {
        rank.calls[0].cells[0].min_ns = 3400 * us;
        rank.calls[0].cells[0].bytes = 1000 << 20;  // so that even on a slow network as much was moving
    }
    Job job = job_of(ranks);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        report::RankActivity activity{.rank = rank, .activity = {.width_ns = 100e6, .bins = {}}};
        for (std::size_t bin = 0; bin < 100; ++bin)
            activity.activity.bins.push_back({.time_ns = (rank == 2 && bin >= 60 ? 10 : 50) * ms});
        job.activities.push_back(activity);
    }
    const auto e = std::get<report::evidence::Imbalance>(top(job).finding.evidence);
    ASSERT_TRUE(e.when);
    EXPECT_NEAR(static_cast<double>(e.when->began_ns), 6e9, 3e8);
    EXPECT_EQ(e.when->ended_ns, 0u);
    EXPECT_NEAR(e.longer_share, 0.8, 0.05) << "0.9 instead of 0.5 outside, while it was slow";
    EXPECT_NE(sentence(job).find(" since "), std::string::npos) << sentence(job);

    // The map of ranks over time is marked there, in the picture and on the terminal.
    const report::HeatMap map = report::time_map(job);
    ASSERT_EQ(map.marks.size(), 1u);
    EXPECT_NEAR(map.marks[0].at, 0.6, 0.04);
    const auto tables = report::find_section("time")->answer(job, {});
    const std::string text = report::find_view("text")->show({"time", *tables}, {.width = 100, .has_utf8 = true});
    EXPECT_NE(text.find("the mark is when [slow-rank] begins: "), std::string::npos) << text;
    const std::size_t mark = text.find('^'), line = text.rfind('\n', mark);
    ASSERT_NE(mark, std::string::npos) << text;
    const std::size_t head = text.find("FROM START TO END"), head_line = text.rfind('\n', head);
    EXPECT_NEAR(static_cast<double>((mark - line) - (head - head_line)), 36, 3) << text;

    for (std::size_t bin = 0; bin < 100; ++bin)  // slow all the time: no onset
        job.activities[2].activity.bins[bin].time_ns = 34 * ms;
    EXPECT_TRUE(report::time_map(job).marks.empty());
    EXPECT_FALSE(std::get<report::evidence::Imbalance>(top(job).finding.evidence).when);
    for (std::size_t bin = 0; bin < 100; ++bin)  // five bursts: none of them is when it was slow
        job.activities[2].activity.bins[bin].time_ns = (bin % 20 < 3 ? 0 : 50) * ms;
    EXPECT_FALSE(std::get<report::evidence::Imbalance>(top(job).finding.evidence).when);
}

TEST(verdict, a_rank_that_was_slow_for_a_while_is_told_from_when_to_when) {
    const Job job = job_of(uneven_work());
    report::Finding finding = top(job).finding;
    const auto said = [&](const report::Stretch& when) {
        std::get<report::evidence::Imbalance>(finding.evidence).when = when;
        return report::sentence_of(finding, job);
    };
    const report::Stretch when{.began_ns = 2460 * s, .began_at = 2460 * s, .ended_ns = 2943 * s, .ended_at = 2943 * s};
    const std::string from = report::human_clock(when.began_at), to = report::human_clock(when.ended_at);
    const auto says = [](const std::string& text, const std::string& words) {
        EXPECT_NE(text.find(" than the other ranks " + words + "; the others spend "), std::string::npos) << text;
    };
    says(said(when), "from " + from + " to " + to + " (2460 s to 2943 s after the first MPI_Init)");
    says(said({.began_ns = when.began_ns, .began_at = when.began_at}),
         "since " + from + " (2460 s after the first MPI_Init)");
    says(said({.ended_ns = when.ended_ns, .ended_at = when.ended_at}),
         "until " + to + " (2943 s after the first MPI_Init)");
}

TEST(verdict, work_that_grows_by_rank_is_not_one_slow_rank) {
    const auto job = in_allreduce({6 * s, 4500 * ms, 3 * s, 1500 * ms, 10 * ms});
    EXPECT_EQ(top(job).finding.rule, Rule::growing_work);
    EXPECT_EQ(
        sentence(job),
        "Load imbalance: work grows with the rank number (rank 4 on node node1 computes 2.5x as long as rank 0); the other "
        "ranks spend 37.5% of the run waiting for it.");
    const auto falls = in_allreduce({10 * ms, 1500 * ms, 3 * s, 4500 * ms, 6 * s});
    EXPECT_TRUE(sentence(falls).starts_with("Load imbalance: work falls with the rank number (rank 0 "))
        << sentence(falls);
}

TEST(verdict, even_ranks_that_wait_have_varying_lateness) {
    const auto job = in_allreduce({3 * s, 3100 * ms, 3050 * ms, 3 * s});
    EXPECT_EQ(name(top(job)), "varying-lateness");
    EXPECT_TRUE(explains(top(job), Rule::waits));
    EXPECT_TRUE(top(job).finding.ranks.empty());
}

// 6 s of large transfers, none of which took much longer than another, and small calls that only wait.
TEST(verdict, a_little_waiting_beside_large_transfers_is_no_cause) {
    const auto waiting = [](std::uint64_t ns) {
        auto ranks = in_allreduce({ns, ns});
        for (ProfileSpec& rank : ranks)
            rank.calls.push_back(collective("MPI_Alltoall", {calls_of(1000, 4 << 20, 6 * s, 5900 * us)}));
        return ranks;
    };
    EXPECT_EQ(name(top(waiting(1 * s))), "transfers");
    EXPECT_EQ(name(top(waiting(3 * s))), "varying-lateness");
}

TEST(verdict, a_hot_spot_that_moves_from_rank_to_rank_is_told_from_chance) {
    auto ranks = in_allreduce({3 * s, 3 * s, 3 * s, 3 * s});
    for (ProfileSpec& rank : ranks) rank.calls[0].cells[0].min_ns = 20 * us;
    Job job = job_of(ranks);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        report::RankActivity activity{.rank = rank, .activity = {.width_ns = 100e6, .bins = {}}};
        for (std::size_t bin = 0; bin < 100; ++bin)
            activity.activity.bins.push_back({.time_ns = (bin / 25 == rank ? 1 : 40) * ms});
        job.activities.push_back(activity);
    }
    EXPECT_EQ(name(top(job)), "varying-lateness");
    EXPECT_NE(sentence(job).find("The straggler changes during the run (rank 0, then 1, then 2, "
                                 "then 3)"),
              std::string::npos)
        << sentence(job);
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        for (std::size_t bin = 0; bin < 100; ++bin)
            job.activities[rank].activity.bins[bin].time_ns = ((bin * 7 / 2) % 4 == rank ? 1 : 40) * ms;
    EXPECT_NE(sentence(job).find("spent waiting for ranks that are late at times"), std::string::npos) << sentence(job);
}

// What stands below the first line of one rule; empty if nothing does.
std::string words_of_explained(const std::vector<ProfileSpec>& ranks, Rule rule) {
    const Job job = job_of(ranks);
    for (const report::Finding& finding : top(job).explained)
        if (finding.rule == rule) return report::words_of(finding, job);
    return "";
}

TEST(verdict, ranks_that_work_one_after_the_other_are_a_chain) {
    auto job = ranks_of_job(4);
    for (ProfileSpec& rank : job)
        rank.calls = {receives("MPI_Recv", {calls_of(500, 1, 7500 * ms, 10 * ms)}),
                      sends("MPI_Send", {calls_of(500, 1, 1 * ms, 1 * us)})};
    EXPECT_EQ(name(top(job)), "serial-chain");
    const std::string below = words_of_explained(job, Rule::varying);
    EXPECT_NE(below.find("of their time in MPI is spent waiting"), std::string::npos) << below;
    EXPECT_EQ(below.find("a different rank is late"), std::string::npos) << below;
    // The same shares of the run, but the time is in what is moved.
    for (ProfileSpec& rank : job)
        rank.calls = {collective("MPI_Alltoall", {calls_of(500, 10'000'000, 7500 * ms, 14 * ms)})};
    EXPECT_EQ(name(top(job)), "transfers") << sentence(job);
}

TEST(verdict, one_rank_that_serves_all_comes_before_its_being_slow) {
    auto job = ranks_of_job(5);
    for (std::uint32_t rank = 0; rank < 5; ++rank) {
        job[rank].calls = {receives("MPI_Recv", {calls_of(1000, 8, rank == 0 ? 100 * ms : 7 * s, 5 * us)}),
                           sends("MPI_Send", {calls_of(1000, 8, 5 * ms, 1 * us)})};
        for (std::uint32_t other = 0; other < 5; ++other)
            if (other != rank && (rank == 0 || other == 0))
                job[rank].peers.push_back(
                    {.rank = other, .sent = {1000, 8000, 5 * ms}, .received = {1000, 8000, 7 * s}});
    }
    const Verdict found = top(job);
    EXPECT_EQ(name(found), "one-serves-all");
    EXPECT_EQ(found.finding.ranks, (Ranks{0}));
    EXPECT_TRUE(explains(found, Rule::slow_rank));
    // However many messages: rank 0 is outside for 9.895 s, and each of the others for 2.995 s.
    for (std::uint32_t rank = 0; rank < 5; ++rank)
        job[rank].calls[0].cells[0] = calls_of(40'000, 8, rank == 0 ? 100 * ms : 7 * s, 5 * us);
    EXPECT_NEAR(std::get<report::evidence::OneServesAll>(top(job).finding.evidence).others_run_share, 0.69, 1e-6);
    // Workers that compute, and a master that waits for them, are as they should be.
    for (std::uint32_t rank = 0; rank < 5; ++rank)
        job[rank].calls = {receives("MPI_Recv", {calls_of(1000, 8, rank == 0 ? 9900 * ms : 50 * ms, 5 * us)})};
    EXPECT_FALSE(is_said(job_of(job), Rule::one_serves_all)) << sentence(job);
}

// ---- calls that cost time themselves ----

TEST(verdict, millions_of_tiny_calls_are_no_waiting) {
    auto job = ranks_of_job(2);
    for (ProfileSpec& rank : job) rank.calls = {collective("MPI_Allreduce", {calls_of(4'000'000, 8, 4 * s, 300)})};
    EXPECT_EQ(name(top(job)), "small-messages");
    EXPECT_FALSE(is_said(job_of(job), Rule::varying));
    EXPECT_NE(
        sentence(job).find("each rank makes 4,000,000 calls averaging 8 B, mostly MPI_Allreduce; they take 40.0%"),
        std::string::npos)
        << sentence(job);
}

TEST(verdict, a_query_that_is_asked_too_often_is_named_with_who_asks) {
    auto job = ranks_of_job(2);
    job[1].calls = {counted("MPI_Comm_size", 800'000'000)};
    EXPECT_EQ(name(top(job)), "cheap-calls");
    EXPECT_EQ(
        sentence(job),
        "Rank 1 on node node1 calls MPI_Comm_size 80.00 M times per second: about 40.0% of its run (an estimate).");
}

TEST(verdict, polling_names_the_rank_that_polls) {
    auto job = ranks_of_job(4);
    job[3].calls = {{.name = "MPI_Test",
                     .traffic = format::Traffic::completion,
                     .cells = {calls_of(400'000, 0, 300 * ms, 100)},
                     .treatment = format::Treatment::polled,
                     .calls = 4'000'000}};
    const Job merged = job_of(job);
    for (const Verdict& verdict : verdicts(merged))
        if (verdict.finding.rule == Rule::polling) {
            EXPECT_EQ(verdict.finding.ranks, (Ranks{3}));
            EXPECT_EQ(report::sentence_of(verdict.finding, merged).find("Each rank"), std::string::npos);
            return;
        }
    FAIL() << "polling is not seen";
}

TEST(verdict, a_rank_that_is_late_to_init_is_named) {
    auto job = ranks_of_job(4);
    for (ProfileSpec& rank : job) rank.init_ns = rank.rank == 1 ? 300 * ms : 5300 * ms;
    EXPECT_EQ(name(top(job)), "init");
    EXPECT_EQ(top(job).finding.ranks, (Ranks{1}));
    EXPECT_NE(sentence(job).find("rank 1 on node node1 entered it 5.000 s after the first"), std::string::npos)
        << sentence(job);
}

// ---- what is no cause ----

TEST(verdict, a_job_with_errors_or_lost_calls_is_not_called_healthy) {
    auto job = balanced_stencil();
    job[1].drops.sites = 3;  // a detail
    EXPECT_EQ(name(top(job)), "healthy");
    job[1].drops.write_errors = 2;
    EXPECT_EQ(name(top(job)), "dropped");
    EXPECT_EQ(name(top(errors_and_drops())), "errors");
}

TEST(verdict, a_training_whose_gpus_nobody_saw_is_not_called_healthy) {
    EXPECT_EQ(name(top(gpu_training())), "unseen");
    EXPECT_TRUE(sentence(gpu_training()).ends_with("NCCL's time on the GPU was not recorded."))
        << sentence(gpu_training());
}

TEST(verdict, a_balanced_job_is_healthy) {
    EXPECT_EQ(name(top(balanced_stencil())), "healthy");
    EXPECT_EQ(verdicts(job_of(balanced_stencil())).size(), 1u);
}

TEST(verdict, a_job_that_is_blocked_outside_mpi_is_not_called_worth_no_time) {
    auto job = balanced_stencil();
    EXPECT_EQ(sentence(job).find("blocked"), std::string::npos) << sentence(job);
    for (ProfileSpec& rank : job) rank.processor = {rank.elapsed_ns / 10, 0, 0, 0};
    EXPECT_TRUE(sentence(job).starts_with("No bottleneck in MPI: ")) << sentence(job);
    EXPECT_NE(sentence(job).find("outside it, ranks are blocked "), std::string::npos) << sentence(job);
}

TEST(verdict, tiny_calls_of_which_few_wait_long_are_not_too_many) {
    auto job = ranks_of_job(2);
    CellSpec cell{.bytes = 8 * 101'000};
    cell.durations_ns.assign(100'000, us);
    cell.durations_ns.resize(101'000, 5 * ms);  // half of the run, 50 us a call on average
    for (ProfileSpec& rank : job) rank.calls = {collective("MPI_Allreduce", {cell})};
    EXPECT_FALSE(is_said(job_of(job), Rule::small_messages)) << sentence(job);
    for (ProfileSpec& rank : job) rank.calls.front().cells.front().durations_ns.assign(101'000, 30 * us);
    EXPECT_EQ(name(top(job)), "small-messages") << "each of them costs that";
}

TEST(verdict, a_run_of_milliseconds_is_not_judged) {
    auto job = uneven_work();
    for (ProfileSpec& rank : job) rank.elapsed_ns /= 1000;
    for (ProfileSpec& rank : job)
        for (auto& call : rank.calls)
            for (CellSpec& cell : call.cells) cell.time_ns /= 1000;
    EXPECT_EQ(name(top(job)), "healthy");
    EXPECT_NE(sentence(job).find("too short"), std::string::npos) << sentence(job);
}

TEST(verdict, a_rank_that_is_slow_for_want_of_a_processor_is_crowded) {
    auto job = uneven_work();
    job[2].usage.user_us = 5'000'000;
    job[2].usage.involuntary_switches = 1'200;
    const Verdict found = top(job);
    EXPECT_EQ(name(found), "crowded");
    EXPECT_EQ(found.finding.ranks, (Ranks{2}));
    EXPECT_TRUE(explains(found, Rule::slow_rank));
}

TEST(verdict, what_is_set_up_again_and_again_is_named) {
    auto job = ranks_of_job(2);
    for (ProfileSpec& rank : job) rank.calls = {setup("MPI_Comm_dup", {calls_of(20'000, 0, 4 * s, 150 * us)})};
    EXPECT_EQ(sentence(job), "Each rank calls MPI_Comm_dup 20,000 times, 200 us each: 40.0% of the run.");
    for (ProfileSpec& rank : job) rank.calls.push_back(setup("MPI_Comm_free", {calls_of(20'000, 0, 2 * s, 90 * us)}));
    EXPECT_EQ(
        sentence(job),
        "Each rank calls MPI_Comm_dup 20,000 times, 200 us each: 40.0% of the run, 60.0% with all other setup calls.");
    for (ProfileSpec& rank : job) rank.calls = {setup("MPI_Comm_dup", {calls_of(3, 0, 4 * s, 150 * us)})};
    EXPECT_FALSE(is_said(job_of(job), Rule::setup)) << "long, not often, and one of them short: they wait";
    for (ProfileSpec& rank : job) rank.calls = {setup("MPI_Comm_spawn", {calls_of(1, 0, 3 * s, 3 * s)})};
    EXPECT_EQ(sentence(job), "Each rank calls MPI_Comm_spawn once, 3.000 s each: 30.0% of the run.");
    const Job spawns = job_of(job);
    EXPECT_NE(report::text_of(Rule::setup)
                  .next({top(spawns).finding, spawns, report::vocabulary_of(spawns)})
                  .find("Start all processes with the job"),
              std::string::npos);
    for (ProfileSpec& rank : job)
        rank.calls = {
            setup("MPI_Comm_spawn", {calls_of(1, 0, rank.rank == 0 ? 3 * s : ms, rank.rank == 0 ? 3 * s : ms)})};
    EXPECT_FALSE(is_said(job_of(job), Rule::setup)) << "rank 0 waited in it for the other one";
}

// ---- what is said of rules ----

TEST(verdict, is_the_first_line_of_the_summary_and_the_first_object_of_its_data) {
    const Job job = job_of(uneven_work());
    const auto tables = report::find_section("summary")->answer(job, {});
    ASSERT_TRUE(tables);
    EXPECT_EQ(tables->front().title, sentence(job) + " [slow-rank]");
    const std::string json = report::find_view("json")->show({"summary", *tables}, {});
    EXPECT_NE(json.find(R"("rule": "slow-rank")"), std::string::npos) << json.substr(0, 600);
    EXPECT_NE(json.find(R"("ranks": "2")"), std::string::npos) << json.substr(0, 600);
    EXPECT_NE(json.find(R"("because": "slow-rank")"), std::string::npos);
}

TEST(explain, every_rule_has_its_words) {
    for (const Rule rule : report::all_rules()) {
        const report::RuleWords& text = report::text_of(rule);
        for (const std::string_view part : {text.means, text.evidence, text.check})
            EXPECT_TRUE(part.size() > 10 && part.ends_with('.')) << report::id_of(rule) << ": " << part;
        EXPECT_EQ(report::rule_called(report::id_of(rule)), rule);
    }
    EXPECT_FALSE(report::rule_called("no-such-rule"));
}

}  // namespace
}  // namespace mpiprof::test
