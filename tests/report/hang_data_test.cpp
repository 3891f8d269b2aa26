// What `hang` says for programs, and how it counts ranks in words.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/sections/hang_words.h"
#include "tests/report/shown.h"
#include "tests/report/stuck_jobs.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

constexpr std::uint64_t s = 1'000'000'000;

TEST(hang, two_ranks_are_both_ranks) {
    report::Job job;
    for (const auto& [size, words] : {std::pair{1u, "The only rank"}, {2u, "Both ranks"}, {64u, "All 64 ranks"}}) {
        job.size = size;
        EXPECT_EQ(report::of_all(size, job), words);
    }
    EXPECT_EQ(report::of_all(3, job), "3 of 64 ranks");
}

TEST(hang, what_is_proven_has_its_kind_and_parties_for_programs) {
    auto job = stuck(4, sync("MPI_Barrier", {calls_of(9)}));
    const auto said = [&] { return nlohmann::json::parse(shown(job_of(job), "hang", {}, "json")); };
    EXPECT_EQ(said().at("hang").at("is_proven"), false);
    EXPECT_TRUE(said().at("hang").at("class").is_null());
    EXPECT_TRUE(said().at("parties").empty());
    job[3].calls = {sync("MPI_Barrier", {calls_of(9)}), collective("MPI_Allreduce", {calls_of(0)})};
    job[3].threads = {{.in_call = "MPI_Allreduce", .in_call_for_ns = 4 * s}};
    const auto proven = said();
    EXPECT_EQ(proven.at("hang").at("is_proven"), true);
    EXPECT_EQ(proven.at("hang").at("class"), "different-collectives");
    EXPECT_EQ(proven.at("hang").at("communicator"), "MPI_COMM_WORLD");
    EXPECT_EQ(proven.at("hang").at("for_ns"), 5 * s);
    ASSERT_EQ(proven.at("parties").size(), 2);
    EXPECT_EQ(proven.at("parties").at(0).at("ranks"), "0-2");
    EXPECT_EQ(proven.at("parties").at(0).at("call"), "MPI_Barrier");
    EXPECT_EQ(proven.at("parties").at(1).at("ranks"), "3");
    EXPECT_EQ(proven.at("parties").at(1).at("call"), "MPI_Allreduce");
    EXPECT_FALSE(says(shown(job_of(job), "hang"), "is_proven")) << "people read it in the title";
}

// Who only sends to the root of a gather may be finalized long before the others come to it. How many it has made is
// not known behind MPI_Finalize.
TEST(hang, a_member_that_may_have_made_a_gather_and_is_finalized_is_not_missing) {
    std::string said;
    const auto is_proven = [&](const CallSpec& call) {
        auto job = stuck(3, call);
        job[1].state = format::State::finalized;
        job[1].threads = {ThreadSpec{}};
        job[2].threads = {{.in_call_for_ns = 4 * s, .last_call = "MPI_Send"}};  // computes
        said = shown(job_of(job), "hang", {}, "json");
        return nlohmann::json::parse(said).at("hang").at("is_proven").get<bool>();
    };
    CallSpec gather = collective("MPI_Gather", {calls_of(9)});
    gather.arguments = format::is_ordered | format::has_root;
    EXPECT_FALSE(is_proven(gather)) << said;
    EXPECT_TRUE(is_proven(sync("MPI_Barrier", {calls_of(9)}))) << "nobody leaves it before all have come";
}

}  // namespace
}  // namespace mpiprof::test
