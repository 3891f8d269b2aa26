// Every rule of placement: that it speaks, and that it keeps silent.
#include <gtest/gtest.h>

#include <set>

#include "report/analysis/placement_findings.h"
#include "report/sections/rule_words.h"
#include "tests/report/placement_jobs.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;

// The names of the rules that speak, serious ones with "!".
std::set<std::string> rules(const std::vector<At>& places) {
    std::set<std::string> names;
    for (const auto& finding : report::placement_findings(job_of(ranks_at(places))))
        names.insert((finding.is_serious ? "!" : "") + std::string(id_of(finding.rule)));
    return names;
}

using Rules = std::set<std::string>;

TEST(placement_rules, say_nothing_of_ranks_bound_to_cores_of_their_own) {
    EXPECT_EQ(rules({{"0"}, {"1"}, {"4"}, {"5"}}), Rules{});
    EXPECT_EQ(rules({{"0-3"}, {"0-3"}, {"4-7"}, {"4-7"}}), Rules{}) << "bound to NUMA nodes";
    EXPECT_EQ(rules({{"0-7"}, {"0-7", "nid2"}}), Rules{}) << "one rank a node, all of it";
}

TEST(placement_rules, cores_that_overlap_without_being_the_same_are_said) {
    EXPECT_EQ(rules({{"0-2"}, {"2-3"}}), Rules{"!masks"});
    EXPECT_TRUE(rules({{"0-7"}, {"1"}, {"5"}}).contains("!masks")) << "one within the other";
    EXPECT_EQ(rules({{"0-2"}, {"2-3", "nid2"}}), Rules{}) << "on two nodes";
    EXPECT_FALSE(rules({{"0,2"}, {"1,3"}}).contains("!masks")) << "interleaved";
}

TEST(placement_rules, more_ranks_than_cores_are_said) {
    EXPECT_EQ(rules({{"0-1"}, {"0-1"}, {"0-1"}}), Rules{"!too-many"});
    EXPECT_EQ(rules({{"0"}, {"0"}, {"1"}, {"2"}}), Rules{"!too-many"}) << "two on one core, others free";
    EXPECT_TRUE(rules({{"0-1"}, {"0"}, {"1"}}).contains("!too-many")) << "others' masks within one";
    EXPECT_TRUE(rules({{"0-1"}, {"1-2"}, {"0,2"}, {"0-2"}}).contains("!too-many")) << "all of them together";
    EXPECT_FALSE(rules({{"0-1"}, {"0-1"}}).contains("!too-many"));
}

TEST(placement_rules, other_processes_on_the_cores_are_said) {
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.5, .all_busy = 0.65}, {.cpus = "1", .busy = 0.5, .all_busy = 0.5}}),
              Rules{"!foreign-load"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.5, .all_busy = 0.58}, {.cpus = "1", .busy = 0.5, .all_busy = 0.5}}),
              Rules{})
        << "little of it";
    EXPECT_EQ(rules({{.cpus = "0-1", .busy = 0.9, .all_busy = 1.8}, {.cpus = "0-1", .busy = 0.9, .all_busy = 1.8}}),
              Rules{})
        << "each other's";
    EXPECT_TRUE(rules({{.cpus = "0-1", .busy = 0.7, .all_busy = 1.8}, {.cpus = "0-1", .busy = 0.7, .all_busy = 1.8}})
                    .contains("!foreign-load"));
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.8, .all_busy = 0.8, .stolen = 0.2},
                     {.cpus = "1", .busy = 0.5, .all_busy = 0.5}}),
              Rules{"!foreign-load"})
        << "by the hypervisor";
}

TEST(placement_rules, foreign_load_is_not_said_where_it_is_not_known) {
    EXPECT_EQ(rules({{.cpus = "0-2", .busy = 0.5, .all_busy = 2.9}, {.cpus = "2-3", .busy = 0.5, .all_busy = 2}}),
              Rules{"!masks"})
        << "whose they are";
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.5, .all_busy = -1}, {.cpus = "1", .busy = 0.5}}), Rules{});
    auto job = ranks_at({{.cpus = "0-1", .busy = 0.5, .all_busy = 1}, {.cpus = "0-1", .busy = 0.5, .all_busy = 1}});
    job.pop_back();
    EXPECT_TRUE(report::placement_findings(job_of(job)).empty()) << "the rank without a profile may be the other one";
}

TEST(placement_rules, unbound_ranks_are_said) {
    EXPECT_EQ(rules({{"0-7"}, {"0-7"}}), Rules{"unbound"});
    EXPECT_EQ(rules({{"0-7"}}), Rules{});
    EXPECT_EQ(rules({{"0-3"}, {"0-3"}}), Rules{}) << "bound to one of two NUMA nodes";
}

TEST(placement_rules, masks_over_several_numa_nodes_are_said) {
    EXPECT_EQ(rules({{"2-5"}, {"0-1"}}), Rules{"spread"});
    EXPECT_EQ(rules({{"0-5"}, {"6-7"}}), Rules{}) << "more cores than a NUMA node has";
}

TEST(placement_rules, a_far_adapter_is_said_if_cores_beside_it_are_free) {
    EXPECT_EQ(rules({{"4"}, {"5", "nid2"}}), Rules{"far-adapter"});
    EXPECT_EQ(rules({{"0"}, {"1", "nid2"}}), Rules{});
    EXPECT_EQ(rules({{"4"}, {"5"}}), Rules{}) << "one node: nothing goes through it";
    EXPECT_EQ(rules({{"0-1"}, {"2-3"}, {"4-5"}, {"0-7", "nid2"}}), Rules{}) << "no core beside it is free";
}

TEST(placement_rules, a_far_gpu_is_said) {
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "2"}, {.cpus = "4", .gpu = "1"}}), Rules{"far-gpu"});
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "0"}, {.cpus = "4", .gpu = "3"}}), Rules{});
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "2,3"}, {.cpus = "4", .gpu = "GPU-8932f937"}}), Rules{}) << "cannot be told";
    EXPECT_EQ(rules({{.cpus = "0", .gpu = "7"}}), Rules{}) << "no such GPU";
}

TEST(placement_rules, more_threads_than_cores_are_said) {
    EXPECT_EQ(rules({{.cpus = "0", .threads = "8"}, {.cpus = "1", .threads = "8"}}), Rules{"threads"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 1, .threads = "8"}}), Rules{"!threads"});
    EXPECT_EQ(rules({{.cpus = "0-3", .threads = "4,2"}, {.cpus = "4-7", .threads = "4"}}), Rules{});
    EXPECT_TRUE(rules({{.cpus = "0-7", .threads = "8"}, {.cpus = "0-7", .threads = "8"}}).contains("threads"))
        << "16 for 8";
}

TEST(placement_rules, a_rank_that_needs_more_than_its_core_is_said) {
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.99, .pushed_off = 120}, {.cpus = "1", .busy = 0.99}}), Rules{"!starved"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.3, .pushed_off = 120}}), Rules{}) << "not busy";
    EXPECT_FALSE(rules({{.cpus = "0-1", .busy = 1.9, .pushed_off = 150}, {.cpus = "0-1"}}).contains("!starved"))
        << "pushed off by another rank";
}

TEST(placement_rules, a_rank_that_hardly_ran_or_hardly_waited_is_not_said_to_need_more_than_its_core) {
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.99, .pushed_off = 120, .seconds = 0.9}}), Rules{}) << "under a second";
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.99, .pushed_off = 120, .seconds = 1.1}}), Rules{"!starved"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.99, .pushed_off = 120, .ran = 9.9, .waited = 0.1}}), Rules{})
        << "the kernel says that it waited for 1 % of the time";
    EXPECT_EQ(rules({{.cpus = "0", .busy = 0.99, .pushed_off = 120, .ran = 9.9, .waited = 0.6}}), Rules{"!starved"});
    auto yields = ranks_at({{.cpus = "0", .busy = 0.99, .pushed_off = 9000, .ran = 9.4, .waited = 0.6}});
    yields[0].calls = {receives("MPI_Recv", {{.calls = 100, .bytes = 800, .time_ns = 9'000'000'000}})};
    EXPECT_TRUE(report::placement_findings(job_of(yields)).empty()) << "it waits 7 us at a time, inside MPI";
}

TEST(placement_rules, more_cores_busy_than_allowed_are_said) {
    EXPECT_EQ(rules({{.cpus = "0", .busy = 8.5}, {.cpus = "1", .busy = 8.5}}), Rules{"!beyond"});
    EXPECT_EQ(rules({{.cpus = "0", .busy = 1.02}}), Rules{});
}

TEST(placement_rules, throttling_is_said_from_a_hundredth_of_the_time_on) {
    EXPECT_EQ(rules({{.cpus = "0", .throttled = 0.2}}), Rules{"!throttled"});
    EXPECT_EQ(rules({{.cpus = "0", .throttled = 0.05}}), Rules{}) << "what was before MPI_Init does not count";
}

TEST(placement_rules, memory_close_to_the_limit_is_said) {
    EXPECT_EQ(rules({{.cpus = "0", .memory = 3.8, .limit = 4}}), Rules{"!memory"});
    EXPECT_EQ(rules({{.cpus = "0", .memory = 2, .limit = 4}, {.cpus = "1", .memory = 1.8, .limit = 4}}),
              Rules{"memory"});
    EXPECT_EQ(rules({{.cpus = "0", .memory = 2, .limit = 4}, {.cpus = "1", .memory = 1, .limit = 4}}), Rules{});
    EXPECT_EQ(rules({{.cpus = "0", .memory = 3, .limit = 4}, {.cpus = "1", .memory = 3, .limit = 4}}), Rules{})
        << "more together than the limit: each has its own";
    EXPECT_EQ(rules({{.cpus = "0", .memory = 2000}}), Rules{}) << "no limit";
}

TEST(placement_rules, advise_in_the_words_of_the_launcher) {
    for (const auto& [launcher, words] :
         {std::pair("Open MPI", "mpirun --map-by core --bind-to core."), std::pair("Slurm", "srun --cpu-bind=cores."),
          std::pair("Hydra", "mpiexec -bind-to core"), std::pair("none", "(srun).")}) {
        const Job job = job_of(ranks_at({{"0-7"}, {"0-7"}}, launcher));
        const auto findings = report::placement_findings(job);
        ASSERT_EQ(findings.size(), 1);
        const std::string advice = advice_of(findings[0], job);
        EXPECT_NE(advice.find(words), std::string::npos) << advice;
    }
    const Job job = job_of(ranks_at({{.cpus = "0", .threads = "8"}}, "Slurm"));
    const std::string advice = advice_of(report::placement_findings(job).at(0), job);
    EXPECT_NE(advice.find("--cpus-per-task=8 "), std::string::npos) << advice;
}

// The summary of ranks that mostly wait in MPI and seldom have a processor.
TEST(placement_rules, tell_the_summary_why_a_rank_has_no_processor) {
    const auto summary = [](const std::vector<At>& places) {
        auto ranks = ranks_at(places);
        for (ProfileSpec& rank : ranks) rank.calls[0].cells[0].time_ns = rank.elapsed_ns / 10 * 9;
        std::string text = shown(job_of(ranks), "summary");
        for (std::size_t at = 0; (at = text.find("\n    ", at)) != std::string::npos;) text.replace(at, 5, " ");
        return text;
    };
    const At alone{.cpus = "0", .busy = 0.2, .pushed_off = 120};
    const At beside{.cpus = "1", .busy = 0.2, .pushed_off = 120};
    EXPECT_NE(summary({alone, beside}).find("No other rank shares their cores, but other processes run on them"),
              std::string::npos);
    const At with_threads{.cpus = "0", .busy = 0.2, .pushed_off = 120, .threads = "4"};
    const std::string own = summary({with_threads, beside});
    EXPECT_NE(own.find("OMP_NUM_THREADS asks for 4 threads on 1 core (0)."), std::string::npos) << own;
    EXPECT_EQ(own.find("but other processes run on them"), std::string::npos) << own;
    const std::string shared = summary({alone, alone});
    EXPECT_NE(shared.find("2 ranks on 1 core (0). Start fewer ranks per node"), std::string::npos) << shared;
    EXPECT_EQ(shared.find("[placement]"), std::string::npos) << "said once";
}

// More ranks than cores are a remark where they hardly waited for these, as ranks that sleep.
TEST(placement_rules, weigh_oversubscription_by_what_was_waited_outside_mpi) {
    const auto summary = [](double waited) {
        const At at{.cpus = "0", .busy = 0.4, .ran = 4, .waited = waited};
        return shown(job_of(ranks_at({at, at})), "summary");
    };
    const std::string little = summary(0.001);
    EXPECT_NE(little.find("\n  . Ranks 0 and 1 on node nid1 are oversubscribed"), std::string::npos) << little;
    EXPECT_NE(little.find("that cost little"), std::string::npos) << little;
    const std::string much = summary(0.3);
    EXPECT_NE(much.find("\n  ! Ranks 0 and 1 on node nid1 are oversubscribed"), std::string::npos) << much;
    EXPECT_EQ(much.find("that cost little"), std::string::npos) << much;
}

TEST(placement_rules, need_profiles_that_say_where_they_ran) {
    std::vector<ProfileSpec> ranks = ranks_at({{"0"}, {"0"}});
    for (ProfileSpec& rank : ranks) rank.facts.clear();
    EXPECT_TRUE(report::placement_findings(job_of(ranks)).empty());
}

}  // namespace
}  // namespace mpiprof::test
