// NCCL's collectives in jobs that stand still: which of them members have not enqueued alike.
#include <gtest/gtest.h>

#include "report/analysis/nccl_hangs.h"
#include "report/sections/section.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;

constexpr std::uint64_t second_ns = 1'000'000'000;

CallSpec of_nccl(std::string name, bool has_root) {
    CallSpec call = collective(std::move(name), {{.calls = 1, .time_ns = 1000, .communicator = 1}});
    call.family = format::Family::nccl;
    call.arguments = static_cast<std::uint8_t>(format::is_ordered | format::is_posted);
    if (has_root) call.arguments |= static_cast<std::uint8_t>(format::has_root);
    return call;
}

// Their hosts have called nothing for a minute; `enqueued` of each rank, on a communicator of all of them and on
// another.
std::vector<ProfileSpec> standing_still(const std::vector<std::vector<EnqueuedSpec>>& enqueued,
                                        const std::vector<std::vector<EnqueuedSpec>>& on_other = {}) {
    std::vector<ProfileSpec> job(enqueued.size());
    const auto size = static_cast<std::uint32_t>(job.size());
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        ProfileSpec& spec = job[rank];
        spec.rank = rank;
        spec.size = size;
        spec.state = format::State::running;
        spec.elapsed_ns = 90 * second_ns;
        spec.calls = {of_nccl("ncclAllReduce", false), of_nccl("ncclBroadcast", true), of_nccl("ncclBcast", true),
                      of_nccl("ncclAllReduceConfig", false)};
        spec.threads = {ThreadSpec{.in_call_for_ns = 60 * second_ns, .last_call = "ncclAllReduce"}};
        spec.modules = {{.path = "/home/u/train.py", .base = 0, .end = 0, .function = "step"}};
        spec.sites = {{{1, 33}}, {{1, 40}}};
        spec.communicators = {{.name = "dp",
                               .id = 77,
                               .size = size,
                               .rank = rank,
                               .how = format::origin_made,
                               .handle = 100,
                               .enqueued = enqueued[rank]}};
        if (!on_other.empty())
            spec.communicators.push_back({.name = "tp",
                                          .id = 78,
                                          .size = size,
                                          .rank = rank,
                                          .how = format::origin_made,
                                          .handle = 101,
                                          .enqueued = on_other[rank]});
    }
    return job;
}

std::string hang_text(const std::vector<ProfileSpec>& job) {
    return shown(job_of(job), "hang", {}, "text", {.width = 400});
}

EnqueuedSpec all_reduce(std::uint64_t at_us) { return {.call = "ncclAllReduce", .at_us = at_us, .site = 1}; }
EnqueuedSpec broadcast(std::uint64_t at_us, std::int32_t root) {
    return {.call = "ncclBroadcast", .at_us = at_us, .root = root, .site = 2};
}

TEST(nccl_hang, different_collectives_are_named_with_ranks_and_lines) {
    const std::vector<EnqueuedSpec> right{all_reduce(1), all_reduce(2)};
    const std::string text = hang_text(standing_still({right, right, {all_reduce(1), broadcast(2, 0)}}));
    EXPECT_TRUE(
        says(text,
             "different collectives on dp: ranks 0 and 1 had enqueued ncclAllReduce (train.py:33), rank 2 had "
             "enqueued ncclBroadcast (train.py:40), for 1.0 min; it is collective number 2 on that communicator") ||
        says(text,
             "different collectives on dp: ranks 0 and 1 have enqueued ncclAllReduce (train.py:33), rank 2 "
             "has enqueued ncclBroadcast (train.py:40)"))
        << text;
}

TEST(nccl_hang, different_counts_types_and_reductions_are_named) {
    EnqueuedSpec longer = all_reduce(2), other_type = all_reduce(2), other_op = all_reduce(2);
    longer.count = 2048, other_type.type = 6, other_op.op = 2;
    const std::vector<EnqueuedSpec> right{all_reduce(1), all_reduce(2)};
    EXPECT_TRUE(says(hang_text(standing_still({right, {all_reduce(1), longer}})), "of 2048 float32 (sum)"));
    EXPECT_TRUE(says(hang_text(standing_still({right, {all_reduce(1), other_type}})), "of 1024 float16 (sum)"));
    const std::string text = hang_text(standing_still({right, {all_reduce(1), other_op}}));
    EXPECT_TRUE(says(text, "different arguments of a collective on dp")) << text;
    EXPECT_TRUE(says(text, "of 1024 float32 (max)")) << text;
}

TEST(nccl_hang, different_roots_are_named) {
    const std::string text = hang_text(standing_still({{broadcast(1, 0)}, {broadcast(1, 1)}}));
    EXPECT_TRUE(says(text, "different roots on dp")) << text;
    EXPECT_TRUE(says(text, "with root 1")) << text;
}

TEST(nccl_hang, two_names_of_one_collective_are_the_same) {
    EnqueuedSpec config = all_reduce(1), in_place = broadcast(2, 0);
    config.call = "ncclAllReduceConfig", in_place.call = "ncclBcast";
    const Job job = job_of(standing_still({{all_reduce(1), broadcast(2, 0)}, {config, in_place}}));
    EXPECT_TRUE(job.orders.empty());
    EXPECT_FALSE(nccl_hang(job));
}

TEST(nccl_hang, difference_that_is_older_than_what_is_kept_is_not_given_a_place) {
    std::vector<EnqueuedSpec> right, wrong;
    for (std::uint64_t i = 0; i < 600; ++i) right.push_back(all_reduce(i + 1));
    wrong = right;
    wrong[10].count = 7;
    const Job job = job_of(standing_still({right, wrong}));
    EXPECT_FALSE(nccl_hang(job)) << "the newest are alike";
    wrong[500].count = 7;
    const auto hang = nccl_hang(job_of(standing_still({right, wrong})));
    ASSERT_TRUE(hang);
    EXPECT_EQ(hang->at, 501u);
}

TEST(nccl_hang, rank_that_was_killed_before_it_enqueued_is_named) {
    auto job = standing_still({{all_reduce(1), all_reduce(2)}, {all_reduce(1), all_reduce(2)}, {all_reduce(1)}});
    job[2].state = format::State::exited;
    const Job whole = job_of(job);
    const auto step = first_not_enqueued(whole, 1);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->number, 1u);
    EXPECT_EQ(whole.calls[step->call].name, "ncclAllReduce");
}

TEST(nccl_hang, lines_are_those_of_the_program_and_not_of_packages) {
    auto job = standing_still({{all_reduce(1)}, {broadcast(1, 0)}});
    for (ProfileSpec& spec : job) {
        spec.modules.push_back({.path = "/venv/lib/python3.12/site-packages/torch/c10d.py",
                                .base = 0,
                                .end = 0,
                                .function = "all_reduce"});
        spec.sites = {{{2, 2791}, {1, 33}}, {{2, 81}}};  // the second has no line of the program's
    }
    const std::string text = hang_text(job);
    EXPECT_TRUE(says(text, "ncclAllReduce (train.py:33)")) << text;
    EXPECT_TRUE(says(text, "ncclBroadcast (c10d.py:81)")) << text;
}

TEST(nccl_hang, two_communicators_in_opposite_order_are_named_with_both_lines) {
    const std::string text =
        hang_text(standing_still({{all_reduce(10)}, {all_reduce(20)}}, {{broadcast(20, 0)}, {broadcast(10, 0)}}));
    EXPECT_TRUE(says(text, "Ranks 0 and 1")) << text;
    EXPECT_TRUE(says(text,
                     "two communicators in opposite order: rank 0 had enqueued ncclAllReduce (train.py:33) on dp "
                     "before ncclBroadcast (train.py:40) on tp, rank 1 the other way round") ||
                says(text,
                     "two communicators in opposite order: rank 0 has enqueued ncclAllReduce (train.py:33) on dp "
                     "before ncclBroadcast (train.py:40) on tp, rank 1 the other way round"))
        << text;
}

TEST(nccl_hang, ranks_that_are_ahead_on_one_communicator_each_are_named) {
    const std::string text = hang_text(standing_still({{all_reduce(1), all_reduce(9)}, {all_reduce(1)}},
                                                      {{broadcast(2, 0)}, {broadcast(2, 0), broadcast(9, 0)}}));
    EXPECT_TRUE(says(text, "two communicators in opposite order")) << text;
    EXPECT_TRUE(says(text, "and rank 1 has not, rank 1")) << text;
}

TEST(nccl_hang, communicators_that_are_used_alike_are_no_crossing) {
    const std::vector<EnqueuedSpec> on_dp{all_reduce(10), all_reduce(30)}, on_tp{broadcast(20, 0), broadcast(40, 0)};
    const Job job = job_of(standing_still({on_dp, on_dp}, {on_tp, on_tp}));
    EXPECT_TRUE(job.opposite_orders.empty());
    EXPECT_FALSE(crossing_of(job));
}

// Rank 0 stands in a call of MPI's for half a minute and has enqueued one collective less than rank 1.
std::vector<ProfileSpec> waiting_for_both(const CallSpec& in_mpi) {
    auto job = standing_still({{all_reduce(1)}, {all_reduce(1), all_reduce(2)}});
    for (ProfileSpec& rank : job) {
        rank.calls.push_back(in_mpi);
        rank.communicators.push_back(CommunicatorSpec{});
    }
    job[1].calls[0].cells[0].calls = 2;
    job[0].threads = {
        {.in_call = in_mpi.name, .in_call_for_ns = 30 * second_ns, .communicator = 0x44000000, .peer = 1}};
    return job;
}

TEST(nccl_hang, mpi_and_nccl_that_wait_for_each_other_are_one_sentence) {
    CallSpec barrier = collective("MPI_Barrier", {{.calls = 3, .time_ns = 1000, .communicator = 2}});
    barrier.traffic = format::Traffic::sync;
    CallSpec receive = receives("MPI_Recv", {{.calls = 3, .time_ns = 1000, .communicator = 2}});
    receive.arguments = format::has_source;
    for (const CallSpec& in_mpi : {barrier, receive}) {
        const std::string text = hang_text(waiting_for_both(in_mpi));
        EXPECT_TRUE(says(text, "in " + in_mpi.name)) << text;
        EXPECT_TRUE(says(text, "for rank 1, whose GPU")) << text;
        EXPECT_TRUE(says(text, "enqueued ncclAllReduce (train.py:33) on dp, number 2 there, and rank 0")) << text;
    }
}

TEST(nccl_hang, job_that_goes_on_is_left_alone) {
    auto job = standing_still({{all_reduce(1), all_reduce(2)}, {all_reduce(1), broadcast(2, 0)}});
    for (ProfileSpec& rank : job) rank.threads[0].in_call_for_ns = 1'000'000;
    EXPECT_FALSE(nccl_hang(job_of(job)));
}

// What one rank of four has sent and received, each from its line.
format::EnqueuedPeer peer(std::uint64_t sent, std::uint64_t received, std::uint64_t after = 2) {
    return {.sent = sent,
            .received = received,
            .sent_after = after,
            .received_after = after,
            .sent_from = 1,
            .received_from = 2};
}
std::vector<ProfileSpec> ring_of_four(std::uint64_t sent_by_two) {
    const std::vector<EnqueuedSpec> right{all_reduce(1), all_reduce(2)};
    std::vector<ProfileSpec> job = standing_still({right, right, right, right});
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        std::vector<format::EnqueuedPeer>& peers = job[rank].communicators[0].enqueued_peers;
        peers.resize(4);
        peers[(rank + 1) % 4] = peer(rank == 2 ? sent_by_two : 10, 0);
        peers[(rank + 3) % 4] = peer(0, 10);
    }
    return job;
}

TEST(nccl_hang, receive_without_its_send_is_named_with_both_ranks_and_lines) {
    const std::string text = hang_text(ring_of_four(9));
    EXPECT_TRUE(says(text,
                     "Rank 3 has enqueued 10 ncclRecv (train.py:40) from rank 2 on dp, which has enqueued 9 ncclSend "
                     "(train.py:33) to rank 3, for 60.00 s: the GPU of rank 3 waits for it"))
        << text;
    const std::string more = hang_text(ring_of_four(11));
    EXPECT_TRUE(says(more, "Rank 2 has enqueued 11 ncclSend (train.py:33) to rank 3 on dp")) << more;
    EXPECT_TRUE(says(more, "waits for it unless NCCL has room for the message")) << more;
}

TEST(nccl_hang, summary_of_a_killed_job_says_what_a_gpu_waited_for) {
    const std::string text = shown(job_of(ring_of_four(9)), "summary", {}, "text", {.width = 600});
    EXPECT_TRUE(says(text, "All 4 ranks were killed")) << text;
    EXPECT_TRUE(says(text, "Rank 3 has enqueued 10 ncclRecv (train.py:40) from rank 2 on dp")) << text;
}

TEST(nccl_hang, messages_that_meet_are_no_alarm) {
    const std::string text = hang_text(ring_of_four(10));
    EXPECT_FALSE(says(text, "waits for it")) << text;
    EXPECT_FALSE(says(text, "different places")) << text;
}

TEST(nccl_hang, message_of_a_rank_without_a_profile_is_not_said_to_miss) {
    std::vector<ProfileSpec> job = ring_of_four(9);
    job.erase(job.begin() + 2);
    const std::string text = hang_text(job);
    EXPECT_FALSE(says(text, "ncclRecv (train.py:40) from")) << text;
}

TEST(nccl_hang, messages_of_a_process_with_several_gpus_are_not_compared) {
    std::vector<ProfileSpec> job = ring_of_four(9);
    job[2].communicators.push_back(job[2].communicators[0]);
    job[2].communicators.back().rank = 3;
    const std::string text = hang_text(job);
    EXPECT_FALSE(says(text, "ncclRecv (train.py:40) from rank 2")) << text;
}

TEST(nccl_hang, message_at_another_place_among_the_collectives_is_named) {
    std::vector<ProfileSpec> job = ring_of_four(10);
    job[3].communicators[0].enqueued_peers[2].received_after = 1;
    const std::string text = hang_text(job);
    EXPECT_TRUE(
        says(text,
             "Ranks 2 and 3 have enqueued a message at different places among the collectives on dp: rank 2 10 "
             "ncclSend (train.py:33) to rank 3, after 2, rank 3 10 ncclRecv (train.py:40) from rank 2, after 1"))
        << text;
}

}  // namespace
}  // namespace mpiprof::test
