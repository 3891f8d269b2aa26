// Who hangs where, and who is to blame: what `mpiprof-report hang` concludes.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/sections/live.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/goldens.h"
#include "tests/report/shown.h"
#include "tests/report/stories.h"
#include "tests/report/stuck_jobs.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Table;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t s = 1'000'000'000;

std::vector<Table> hang(const std::vector<ProfileSpec>& ranks, report::Question question = {}) {
    auto tables = report::find_section("hang")->answer(job_of(ranks), question);
    if (!tables) throw std::runtime_error(tables.error().line());
    return *tables;
}

std::string conclusion(const std::vector<ProfileSpec>& ranks) { return hang(ranks).at(0).title; }

std::string cell(const Table& table, std::size_t row, std::string_view column) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].id == column)
            if (const auto* text = std::get_if<std::string>(&table.rows.at(row)[i])) return *text;
    return "?";
}

TEST(hang, names_the_rank_that_never_entered_the_barrier) {
    EXPECT_EQ(conclusion(one_never_arrived()),
              "No MPI call has begun on any rank for 47.85 s. "
              "15 of 16 ranks wait in MPI_Barrier (halo+0x1234), for 48.00 s, for rank 7: "
              "it is in the program, 48.30 s after entering MPI_Send (halo+0x22ff)");
}

TEST(hang, names_the_rank_that_is_one_barrier_behind) {
    auto job = stuck(4, sync("MPI_Barrier", {calls_of(9)}));
    job[2].calls[0] = sync("MPI_Barrier", {calls_of(8)});
    const auto tables = hang(job);
    EXPECT_NE(tables[0].title.find("3 of 4 ranks wait in MPI_Barrier, for 5.000 s, for rank 2: it is inside"),
              std::string::npos)
        << tables[0].title;
    EXPECT_EQ(cell(tables.at(1), 0, "missing"), "2");
}

TEST(hang, a_rank_that_left_a_broadcast_early_is_not_missing) {
    auto job = stuck(4, collective("MPI_Bcast", {calls_of(9)}));
    job[0].calls[0] = collective("MPI_Bcast", {calls_of(10)});
    job[0].threads = {{.in_call_for_ns = 4 * s, .last_call = "MPI_Bcast"}};
    EXPECT_NE(conclusion(job).find("all members have entered it: other ranks have left it"), std::string::npos)
        << conclusion(job);
}

TEST(hang, members_of_a_communicator_are_told_from_those_outside) {
    auto job = stuck(4, sync("MPI_Barrier", {calls_of(2, 2)}));
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        job[rank].communicators.push_back({.name = rank < 2 ? "rows" : "columns",
                                           .id = rank < 2 ? 77u : 78u,
                                           .parent = 1,
                                           .size = 2,
                                           .rank = rank % 2,
                                           .how = format::origin_made,
                                           .handle = 0x84000001});
        job[rank].threads[0].communicator = 0x84000001;
    }
    job[1].threads = {{.in_call_for_ns = 4 * s, .last_call = "MPI_Send"}};  // so rank 0 waits for it alone
    job[2].threads = job[3].threads = {{.in_call_for_ns = 1 * ms, .last_call = "MPI_Send"}};
    EXPECT_NE(conclusion(job).find("Rank 0 waits in MPI_Barrier on rows, for 5.000 s, for rank 1"), std::string::npos)
        << conclusion(job);
}

TEST(hang, of_many_groups_the_one_that_lacks_a_member_comes_first) {
    auto job = stuck(12, sync("MPI_Barrier", {calls_of(9, 2)}));
    for (std::uint32_t rank = 0; rank < 12; ++rank) {
        const std::uint32_t group = rank / 4;
        job[rank].communicators.push_back({.id = 100 + group,
                                           .parent = 1,
                                           .size = 4,
                                           .rank = rank % 4,
                                           .how = format::origin_made,
                                           .handle = 0x84000001});
        job[rank].threads[0].communicator = 0x84000001;
    }
    job[6].calls[0] = sync("MPI_Barrier", {calls_of(8, 2)});
    job[6].threads = {{.in_call_for_ns = 5 * s, .last_call = "MPI_Send"}};
    EXPECT_NE(conclusion(job).find("for rank 6"), std::string::npos) << conclusion(job);
}

TEST(hang, all_in_one_barrier_are_nobodys_fault) {
    EXPECT_NE(conclusion(stuck(4, sync("MPI_Barrier", {calls_of(9)})))
                  .find("all members have entered it: MPI does not complete it"),
              std::string::npos);
}

TEST(hang, everybody_in_receives_is_said) {
    EXPECT_NE(conclusion(stuck(4, receives("MPI_Recv", {calls_of(9)})))
                  .find("Ranks 0-3 have been inside MPI_Recv for 5.000 s; every rank is inside MPI, waiting"),
              std::string::npos)
        << conclusion(stuck(4, receives("MPI_Recv", {calls_of(9)})));
}

TEST(hang, nobody_hangs_where_calls_are_short) {
    EXPECT_EQ(conclusion(balanced_stencil()), "No hang: all ranks reached MPI_Finalize");
    EXPECT_NE(conclusion(stuck(4, sync("MPI_Barrier", {calls_of(9)}), 3 * ms))
                  .find("No hang: no rank has been inside one MPI call for longer than 3.00 ms"),
              std::string::npos)
        << conclusion(stuck(4, sync("MPI_Barrier", {calls_of(9)}), 3 * ms));
}

TEST(hang, who_aborted_comes_first) {
    EXPECT_TRUE(conclusion(killed_in_receive()).starts_with("Rank 1 called MPI_Abort(3)"))
        << conclusion(killed_in_receive());
}

TEST(hang, a_rank_without_a_profile_is_on_a_line_of_its_own) {
    const auto tables = hang(killed_in_receive());
    bool has_it = false;
    for (std::size_t row = 0; row < tables[0].rows.size(); ++row)
        has_it |= cell(tables[0], row, "state") == "no profile" && cell(tables[0], row, "ranks") == "2";
    EXPECT_TRUE(has_it);
}

TEST(hang, a_waiting_thread_beside_the_main_thread_is_shown_as_one) {
    auto job = stuck(2, receives("MPI_Recv", {calls_of(9)}));
    for (ProfileSpec& spec : job) spec.threads.insert(spec.threads.begin(), ThreadSpec{.id = 9});
    for (ProfileSpec& spec : job) spec.threads[1].kind = format::ThreadKind::other;
    const auto tables = hang(job);
    ASSERT_EQ(tables[0].rows.size(), 1);
    EXPECT_EQ(cell(tables[0], 0, "thread"), "other");
}

TEST(hang, different_collectives_on_one_communicator_are_proven) {
    auto job = stuck(4, sync("MPI_Barrier", {calls_of(9)}));
    job[3].calls = {sync("MPI_Barrier", {calls_of(9)}), collective("MPI_Allreduce", {calls_of(0)})};
    job[3].threads = {{.in_call = "MPI_Allreduce", .in_call_for_ns = 4 * s}};
    EXPECT_TRUE(
        conclusion(job).starts_with("Deadlock: different collectives on MPI_COMM_WORLD: ranks 0-2 are in "
                                    "MPI_Barrier, rank 3 is in MPI_Allreduce, for 5.000 s"))
        << conclusion(job);
    // Who stands elsewhere need not be the reason, but a reader asks for them.
    job[2].calls.push_back(completion("MPI_Waitall", {calls_of(0)}));
    job[2].threads = {{.in_call = "MPI_Waitall", .in_call_for_ns = 4 * s}};
    EXPECT_NE(conclusion(job).find("; rank 2 is in MPI_Waitall"), std::string::npos) << conclusion(job);
}

TEST(hang, what_is_proven_is_the_first_sentence_of_every_screen) {
    auto job = stuck(4, sync("MPI_Barrier", {calls_of(9)}));
    EXPECT_FALSE(says(shown(job_of(job), "summary"), "[hang]")) << "all wait in one barrier: nothing is proven";
    job[3].calls = {sync("MPI_Barrier", {calls_of(9)}), collective("MPI_Allreduce", {calls_of(0)})};
    job[3].threads = {{.in_call = "MPI_Allreduce", .in_call_for_ns = 4 * s}};
    const std::string sentence =
        "Deadlock: different collectives on MPI_COMM_WORLD: ranks 0-2 are in MPI_Barrier, rank 3 is in "
        "MPI_Allreduce, for 5.000 s";
    const report::Job whole = job_of(job);
    const std::string summary = shown(whole, "summary", {}, "text", {.width = 400});
    EXPECT_EQ(summary.find(sentence), summary.find_first_not_of(" \n")) << summary;
    EXPECT_TRUE(says(report::live_line(whole, nullptr), sentence));
    EXPECT_TRUE(report::live_tables(whole, nullptr).at(0).notes.at(0).parts.at(0).text.starts_with(sentence));
    for (ProfileSpec& rank : job) rank.state = format::State::aborted;
    EXPECT_TRUE(says(shown(job_of(job), "summary", {}, "text", {.width = 400}), "Deadlock: different collectives"));
}

TEST(hang, a_rank_that_is_behind_is_no_mismatch) {
    auto job = stuck(4, sync("MPI_Barrier", {calls_of(9)}));
    job[3].calls = {sync("MPI_Barrier", {calls_of(8)}), collective("MPI_Allreduce", {calls_of(0)})};
    for (std::uint32_t rank = 0; rank < 3; ++rank)
        job[rank].calls.push_back(collective("MPI_Allreduce", {calls_of(1)}));
    job[3].threads = {{.in_call = "MPI_Allreduce", .in_call_for_ns = 4 * s}};
    EXPECT_EQ(conclusion(job).find("hangs"), std::string::npos) << conclusion(job);
    EXPECT_TRUE(conclusion(job).starts_with("No MPI call has ended on any rank for 4.000 s. 3 of 4 ranks wait"))
        << conclusion(job);
}

TEST(hang, counts_with_holes_prove_nothing) {
    auto job = stuck(2, sync("MPI_Barrier", {calls_of(9)}));
    job[1].calls = {collective("MPI_Allreduce", {calls_of(9)})};
    job[1].threads = {{.in_call = "MPI_Allreduce", .in_call_for_ns = 4 * s}};
    EXPECT_NE(conclusion(job).find("Deadlock: "), std::string::npos) << conclusion(job);
    job[0].drops.cells = 3;
    EXPECT_EQ(conclusion(job).find("Deadlock: "), std::string::npos) << conclusion(job);
}

TEST(hang, a_member_that_is_finalized_never_comes) {
    auto job = stuck(3, sync("MPI_Barrier", {calls_of(9)}));
    job[1].state = format::State::finalized;
    job[1].threads = {ThreadSpec{}};
    EXPECT_EQ(conclusion(job).find(
                  "Deadlock: a collective that not all ranks entered on MPI_COMM_WORLD: ranks 0 and 2 are in "
                  "MPI_Barrier, for 5.000 s; rank 1 has called MPI_Finalize"),
              0u)
        << conclusion(job);
}

TEST(hang, a_receive_when_all_others_are_finalized_is_never_answered) {
    auto job = stuck(3, receives("MPI_Recv", {calls_of(9)}));
    for (const std::uint32_t rank : {0u, 2u}) {
        job[rank].state = format::State::finalized;
        job[rank].threads = {ThreadSpec{}};
    }
    EXPECT_TRUE(conclusion(job).starts_with("Deadlock: no rank is left to answer: rank 1 is in MPI_Recv, for 5.000 s"))
        << conclusion(job);
}

TEST(hang, ten_thousand_ranks_fit_on_a_screen) {
    auto job = stuck(10'000, sync("MPI_Barrier", {calls_of(9)}));
    for (const std::uint32_t rank : {17u, 4711u, 9999u}) {
        job[rank].threads = {{.in_call_for_ns = 5 * s, .last_call = "MPI_Send"}};
    }
    const auto tables = hang(job);
    const std::string text = report::find_view("text")->show({"hang", tables}, {.width = 80, .has_utf8 = true});
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
    EXPECT_NE(tables[0].title.find("9997 of 10000 ranks wait in MPI_Barrier, for 5.000 s, for ranks 17, 4711 and 9999"),
              std::string::npos)
        << tables[0].title;
    expect_fits(text, 80);
}

TEST(hang, data_have_all_ranks_and_the_place) {
    report::Question question;
    question.is_for_screen = false;
    const auto tables = hang(one_never_arrived(), question);
    EXPECT_EQ(cell(tables[0], 0, "ranks"), "0-6,8-15");
    EXPECT_EQ(cell(tables[0], 0, "module"), "/home/user/halo");
    EXPECT_EQ(cell(tables[0], 0, "call"), "MPI_Barrier");
}

// ---- calls in hand: what they are given ----

// Two ranks of MPI_COMM_WORLD, each inside a call for five seconds.
std::vector<ProfileSpec> both_in(const CallSpec& call_of_0, const CallSpec& call_of_1) {
    auto job = stuck(2, call_of_0);
    job[1].calls[0] = call_of_1;
    job[1].threads[0].in_call = call_of_1.name;
    return job;
}
CallSpec rooted(std::string name) {
    CallSpec call = collective(std::move(name), {calls_of(1)});
    call.arguments = format::is_ordered | format::has_root;
    return call;
}
CallSpec barrier() {
    CallSpec call = sync("MPI_Barrier", {calls_of(1)});
    call.arguments = format::is_ordered;
    return call;
}
CallSpec receive() {
    CallSpec call = receives("MPI_Recv", {calls_of(1)});
    call.arguments = format::has_source;
    return call;
}
CallSpec synchronous_send() {
    CallSpec call = sends("MPI_Ssend", {calls_of(1)});
    call.arguments = format::has_dest;
    return call;
}

TEST(hang, different_roots_of_one_collective_are_proven) {
    auto job = both_in(rooted("MPI_Bcast"), rooted("MPI_Bcast"));
    job[1].threads[0].peer = 1;
    for (ProfileSpec& rank : job) rank.communicators[0].made = {{"MPI_Barrier"}};
    EXPECT_TRUE(conclusion(job).starts_with(
        "Deadlock: different roots on MPI_COMM_WORLD: rank 0 is in MPI_Bcast with root 0, rank 1 is in MPI_Bcast with "
        "root 1, for 5.000 s; it is collective number 2 on that communicator"))
        << conclusion(job);
    job[1].threads[0].peer = 0;
    EXPECT_EQ(conclusion(job).find("Deadlock: "), std::string::npos) << conclusion(job);
}

TEST(hang, a_collective_that_one_rank_has_left_is_named) {
    auto job = both_in(barrier(), barrier());
    job[0].calls.push_back(rooted("MPI_Bcast"));
    job[1].calls.push_back(rooted("MPI_Bcast"));
    job[0].communicators[0].made = {{"MPI_Bcast", 0}};
    EXPECT_TRUE(conclusion(job).starts_with(
        "Deadlock: different collectives on MPI_COMM_WORLD: rank 1 is in MPI_Barrier, rank 0 has already passed MPI_Bcast there, "))
        << conclusion(job);
}

TEST(hang, tags_that_do_not_fit_are_proven_and_those_that_do_are_not) {
    auto job = both_in(synchronous_send(), receive());
    job[0].threads[0].peer = 1;
    job[1].threads[0].tag = 7;
    EXPECT_TRUE(conclusion(job).starts_with(
        "Deadlock: different tags: rank 0 is in MPI_Ssend to rank 1 with tag 0 on MPI_COMM_WORLD, rank 1 is in MPI_Recv "
        "from rank 0 with tag 7 on MPI_COMM_WORLD, for 5.000 s"))
        << conclusion(job);
    job[1].threads[0].tag = 0;
    EXPECT_EQ(conclusion(job).find("Deadlock: "), std::string::npos) << conclusion(job);
}

TEST(hang, receives_that_wait_for_each_other_are_a_cycle) {
    auto job = both_in(receive(), receive());
    job[0].threads[0].peer = 1;
    EXPECT_TRUE(conclusion(job).starts_with("Deadlock: circular wait: ")) << conclusion(job);
    job[1].threads = {{.in_call_for_ns = 4 * s, .last_call = "MPI_Recv"}};  // it may still send
    EXPECT_EQ(conclusion(job).find("Deadlock: "), std::string::npos) << conclusion(job);
}

TEST(hang, threads_that_may_send_prove_nothing) {
    auto job = both_in(receive(), receive());
    job[0].threads[0].peer = 1;
    for (ProfileSpec& rank : job) rank.thread_level = 3;
    EXPECT_EQ(conclusion(job).find("Deadlock: "), std::string::npos) << conclusion(job);
}

// Rank 0 is in MPI_Wait, and has called MPI_Irecv.
auto rank_0_waits_for_one(std::uint64_t handle) {
    CallSpec wait = completion("MPI_Wait", {calls_of(1, 0)});
    wait.arguments = format::has_requests;
    CallSpec post = receives("MPI_Irecv", {calls_of(1)});
    post.arguments = format::has_source | format::is_posted;
    auto job = both_in(wait, barrier());
    job[0].calls.push_back(post);
    job[0].threads[0].request = handle;
    job[0].threads[0].requests = 1;
    return job;
}

TEST(hang, a_wait_is_told_by_the_call_that_posted_its_request) {
    auto job = rank_0_waits_for_one(0x77);
    job[0].threads[0].open_requests = {{.handle = 0x77, .call = "MPI_Irecv", .peer = 1, .tag = 3},
                                       {.handle = 0x99, .call = "MPI_Irecv", .peer = 0, .tag = 4}};
    job[1].state = format::State::finalized;
    job[1].finalize_ns = 0;  // it is in there
    job[1].threads = {ThreadSpec{}};
    EXPECT_TRUE(conclusion(job).starts_with(
        "Deadlock: unmatched receive: rank 0 is in MPI_Wait for its MPI_Irecv from rank 1 with tag 3 on "
        "MPI_COMM_WORLD, for 5.000 s; rank 1 has called MPI_Finalize"))
        << conclusion(job);
}

// Rank 0 waits for what rank 1, in MPI_Barrier, has set up.
std::vector<ProfileSpec> one_has_not_started(std::int32_t peer, std::int32_t tag) {
    auto job = rank_0_waits_for_one(0x77);
    job[0].threads[0].open_requests = {{.handle = 0x77, .call = "MPI_Irecv", .peer = 1, .tag = 3}};
    CallSpec set_up{.name = "MPI_Send_init", .cells = {calls_of(1)}};
    set_up.arguments = format::has_dest;
    job[1].calls.push_back(set_up);
    job[1].threads[0].open_requests = {
        {.handle = 0x55, .call = "MPI_Send_init", .peer = peer, .tag = tag, .is_started = false}};
    return job;
}

TEST(hang, a_persistent_request_that_was_not_started_is_why_the_other_waits) {
    const std::string text = conclusion(one_has_not_started(0, 3));
    EXPECT_TRUE(text.starts_with("Deadlock: a persistent request that was never started: rank 0 is in MPI_Wait"))
        << text;
    EXPECT_NE(text.find("rank 1 is in MPI_Barrier"), std::string::npos) << text;
    EXPECT_NE(text.find("; rank 1 has initialised MPI_Send_init"), std::string::npos) << text;
    EXPECT_NE(text.find("but never started it"), std::string::npos) << text;
}

TEST(hang, a_persistent_request_for_somebody_else_is_not_why) {
    for (const auto& job : {one_has_not_started(1, 3), one_has_not_started(0, 4)})
        EXPECT_EQ(conclusion(job).find("never started"), std::string::npos) << conclusion(job);
}

TEST(hang, a_wait_is_told_by_the_call_of_another_thread_that_posted_its_request) {
    auto job = rank_0_waits_for_one(0x77);
    ThreadSpec other;
    other.open_requests = {{.handle = 0x99, .call = "MPI_Irecv", .peer = 0, .tag = 4},
                           {.handle = 0x77, .call = "MPI_Irecv", .peer = 1, .tag = 3}};
    job[0].threads.push_back(other);
    const auto merged = job_of(job);
    const auto standing = std::find_if(merged.standings.begin(), merged.standings.end(),
                                       [](const auto& of) { return of.rank == 0 && of.is_inside; });
    ASSERT_NE(standing, merged.standings.end());
    ASSERT_EQ(standing->waits_for.size(), 1u);
    EXPECT_EQ(standing->waits_for[0].peer, 1);
    EXPECT_EQ(standing->waits_for[0].tag, 3);
    EXPECT_FALSE(standing->waits_for_more);
}

TEST(hang, two_communicators_used_crosswise_are_proven) {
    auto job = both_in(barrier(), barrier());
    for (std::uint32_t rank = 0; rank < 2; ++rank)
        job[rank].communicators.push_back(
            {.name = "rows", .id = 77, .parent = 1, .size = 2, .rank = rank, .how = format::origin_made, .handle = 5});
    job[1].threads[0].communicator = 5;
    EXPECT_TRUE(conclusion(job).starts_with(
        "Deadlock: different communicators: rank 0 is in MPI_Barrier on MPI_COMM_WORLD, rank 1 is in MPI_Barrier on "
        "rows, for 5.000 s"))
        << conclusion(job);
}

}  // namespace
}  // namespace mpiprof::test
