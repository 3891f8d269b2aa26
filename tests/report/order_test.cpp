// Members of a communicator that have not made the same collectives: where they parted, and what the summary says of
// it.
#include <gtest/gtest.h>

#include "report/analysis/analysed.h"
#include "report/analysis/orders.h"
#include "report/sections/section.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

CallSpec ordered(CallSpec call, std::uint8_t more = 0) {
    call.arguments = static_cast<std::uint8_t>(format::is_ordered | more);
    return call;
}
CellSpec one_call() { return {.calls = 1, .time_ns = 1000, .communicator = 1}; }
CallSpec rooted(std::string name) { return ordered(collective(std::move(name), {one_call()}), format::has_root); }

// Killed, outside MPI.
std::vector<ProfileSpec> two_ranks() {
    std::vector<ProfileSpec> job(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        job[rank].rank = rank;
        job[rank].size = 2;
        job[rank].state = format::State::running;
        job[rank].elapsed_ns = 10'000'000'000;
        job[rank].calls = {ordered(sync("MPI_Barrier", {one_call()}))};
        job[rank].threads = {ThreadSpec{}};
    }
    return job;
}

// Two ranks that reached MPI_Finalize and made these collectives on MPI_COMM_WORLD.
report::Job ended(const std::vector<OrderedSpec>& by_rank_0, const std::vector<OrderedSpec>& by_rank_1) {
    auto job = two_ranks();
    for (ProfileSpec& rank : job) {
        rank.state = format::State::finalized;
        rank.threads = {ThreadSpec{}};
        rank.calls.push_back(rooted("MPI_Bcast"));
    }
    job[0].communicators[0].made = by_rank_0;
    job[1].communicators[0].made = by_rank_1;
    return job_of(job);
}

TEST(order, is_alike_where_members_made_the_same) {
    EXPECT_TRUE(ended({{"MPI_Bcast", 1}, {"MPI_Barrier"}}, {{"MPI_Bcast", 1}, {"MPI_Barrier"}}).orders.empty());
}

TEST(order, names_the_call_at_which_members_parted) {
    const report::Job job = ended({{"MPI_Barrier"}, {"MPI_Bcast", 0}, {"MPI_Barrier"}, {"MPI_Barrier"}},
                                  {{"MPI_Barrier"}, {"MPI_Barrier"}, {"MPI_Barrier"}, {"MPI_Barrier"}});
    ASSERT_EQ(job.orders.size(), 1u);
    EXPECT_TRUE(job.orders[0].is_broken);
    const auto& members = job.orders[0].members;
    const auto parting = report::OrderedCalls(job, 2).parting(4, members[0].order, members[1].order);
    ASSERT_TRUE(parting);
    EXPECT_EQ(parting->at, 2u);
    EXPECT_EQ(job.calls[parting->one.call].name, "MPI_Bcast");
    EXPECT_EQ(parting->one.root, 0);
    EXPECT_EQ(job.calls[parting->other.call].name, "MPI_Barrier");
    EXPECT_FALSE(parting->are_swapped);
}

TEST(order, names_two_calls_that_are_the_other_way_round) {
    const report::Job job = ended({{"MPI_Bcast", 1}, {"MPI_Barrier"}, {"MPI_Barrier"}},
                                  {{"MPI_Barrier"}, {"MPI_Bcast", 1}, {"MPI_Barrier"}});
    ASSERT_EQ(job.orders.size(), 1u);
    EXPECT_TRUE(job.orders[0].is_broken);
    const auto& members = job.orders[0].members;
    const auto parting = report::OrderedCalls(job, 2).parting(3, members[0].order, members[1].order);
    ASSERT_TRUE(parting);
    EXPECT_EQ(parting->at, 1u);
    EXPECT_TRUE(parting->are_swapped);
}

// What `summary` says first of two ranks that have kept these calls (each with its number) and made so many in all.
std::string first_words(const std::vector<KeptSpec>& by_rank_0, const std::vector<KeptSpec>& by_rank_1,
                        bool ended_well) {
    auto job = two_ranks();
    for (ProfileSpec& rank : job) {
        if (ended_well) rank.state = format::State::finalized;
        rank.threads = {ThreadSpec{}};
        rank.calls.push_back(rooted("MPI_Bcast"));
        auto& kept = rank.communicators[0].kept = rank.rank == 0 ? by_rank_0 : by_rank_1;
        rank.communicators[0].made.assign(kept.back().number + 1, {"MPI_Barrier"});
        for (KeptSpec& call : kept) {
            call.time_ns = 1000;
            rank.communicators[0].made[call.number].call = call.call;
        }
    }
    const auto tables = report::find_section("summary")->answer(job_of(job), {});
    return tables ? tables->at(0).title : tables.error().line();
}

TEST(order, is_told_by_kept_calls_though_members_made_more_or_fewer) {
    const std::string said = first_words({{"MPI_Bcast", 0}, {"MPI_Barrier", 1}, {"MPI_Barrier", 2}},
                                         {{"MPI_Bcast", 0}, {"MPI_Bcast", 1}}, true);
    EXPECT_TRUE(said.starts_with(
        "Mismatched collectives: ranks 0 and 1 called different ones on MPI_COMM_WORLD: call 2 of 3 was "
        "MPI_Barrier on rank 0 and MPI_Bcast with root 0 on rank 1; in all rank 0 made 3 calls, "
        "rank 1 made 2. The job finished, but its results may be wrong"))
        << said;
}

TEST(order, of_calls_between_which_some_were_not_kept_is_told_as_closely_as_these_allow) {
    const std::string said = first_words({{"MPI_Bcast", 0}, {"MPI_Barrier", 7}},
                                         {{"MPI_Bcast", 0}, {"MPI_Bcast", 7}, {"MPI_Bcast", 8}}, false);
    EXPECT_NE(
        said.find(
            "call 8 of 9 was MPI_Barrier on rank 0 and MPI_Bcast with root 0 on rank 1; they may have diverged "
            "at call 2 already; in all rank 0 made 8 calls, rank 1 made 9. MPI does not define what such a program does."),
        std::string::npos)
        << said;
}

TEST(order, names_the_first_call_that_a_member_has_not_made) {
    const std::string said =
        first_words({{"MPI_Bcast", 0}, {"MPI_Barrier", 1}, {"MPI_Bcast", 2}}, {{"MPI_Bcast", 0}}, true);
    EXPECT_NE(
        said.find(
            "rank 0 made 3 calls, rank 1 made 1; the first one missing on rank 1 is call 2, MPI_Barrier. The job"),
        std::string::npos)
        << said;
}

TEST(order, of_ranks_that_are_still_running_is_no_remark_where_one_is_only_ahead) {
    EXPECT_EQ(first_words({{"MPI_Bcast", 0}, {"MPI_Barrier", 1}}, {{"MPI_Bcast", 0}}, false).find("same collectives"),
              std::string::npos);
}

TEST(order, says_nothing_of_a_member_without_a_profile) {
    auto job = two_ranks();
    for (ProfileSpec& rank : job) {
        rank.state = format::State::finalized;
        rank.threads = {ThreadSpec{}};
        rank.size = 3;
    }
    job[1].communicators[0].made = {{"MPI_Barrier"}};
    for (const report::Orders& orders : job_of(job).orders) EXPECT_FALSE(orders.is_broken);
}

}  // namespace
}  // namespace mpiprof::test
