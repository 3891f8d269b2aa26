// Collectives compared call by call over all members: who came last, how long the others waited, and what of WAITING is
// no estimate any more.
#include <gtest/gtest.h>

#include <random>

#include "libmpiprof/format/arrivals.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/profile_builder.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::ComparedCall;
using report::Job;
using report::WaitsFor;

constexpr std::uint64_t us = 1000;
constexpr std::uint32_t for_all = format::is_ordered | format::waits_for_all;
constexpr std::uint32_t at_root = format::is_ordered | format::root_waits | format::has_root;
constexpr std::uint32_t for_root = format::is_ordered | format::waits_for_root | format::has_root;

// What each rank does in one call: it enters so long after a common moment, and leaves so long after that.
struct Stay {
    std::int64_t in_us, out_us;
};

// Ranks whose only calls are these, one each millisecond, all kept.
class Ranks {
  public:
    explicit Ranks(std::uint32_t size, std::string call = "MPI_Allreduce", std::uint32_t arguments = for_all)
        : call_(std::move(call)), arguments_(arguments), specs_(size) {
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            specs_[rank].rank = rank;
            specs_[rank].size = size;
        }
    }
    void add(std::vector<Stay> stays, std::int32_t root = 0) {
        for (std::size_t rank = 0; rank < specs_.size(); ++rank)
            specs_[rank].communicators[0].kept.push_back(
                {.call = call_,
                 .number = number_,
                 .begin_ns = static_cast<std::int64_t>(number_ * 1000 + 100) * 1000 + stays[rank].in_us * 1000,
                 .time_ns = static_cast<std::uint64_t>(stays[rank].out_us - stays[rank].in_us) * us,
                 .bytes = bytes,
                 .root = root});
        ++number_;
    }
    std::vector<ProfileSpec> specs() const {
        auto specs = specs_;
        for (ProfileSpec& spec : specs) {
            auto& world = spec.communicators[0];
            world.collectives = collectives ? collectives : number_;
            CellSpec cell{.calls = world.kept.size(), .bytes = bytes * world.kept.size()};
            for (const KeptSpec& kept : world.kept) cell.durations_ns.push_back(kept.time_ns);
            CallSpec call = collective(call_, {cell});
            call.arguments = arguments_;
            spec.calls = {call};
        }
        return specs;
    }
    Job job() const { return job_of(specs()); }
    ProfileSpec& operator[](std::size_t rank) { return specs_[rank]; }

    std::uint64_t bytes = 8;
    std::uint64_t collectives = 0;

  private:
    std::string call_;
    std::uint32_t arguments_;
    std::uint64_t number_ = 0;
    std::vector<ProfileSpec> specs_;
};

const ComparedCall& only_call(const Job& job) {
    if (job.comparison.calls.size() != 1) throw std::runtime_error("not one call was compared");
    return job.comparison.calls.front();
}

TEST(compared_calls, ranks_waited_until_the_last_had_entered) {
    Ranks ranks(3);
    ranks.add({{0, 60}, {50, 62}, {20, 61}});
    ranks.add({{10, 40}, {0, 40}, {30, 42}});
    const Job job = ranks.job();
    const ComparedCall& call = only_call(job);
    EXPECT_EQ(call.waits_for, WaitsFor::all);
    EXPECT_EQ(call.calls, 2u);
    EXPECT_EQ(call.compared, 2u);
    EXPECT_NEAR(call.waiting_ns, (50 + 0 + 30 + 20 + 30 + 0) * us, 10);
    EXPECT_NEAR(call.time_ns, (60 + 12 + 41 + 30 + 40 + 12) * us, 10);
    EXPECT_EQ(call.error_ns, 0);
    ASSERT_EQ(call.last_ranks.size(), 2u);
    EXPECT_EQ(call.last_ranks[0].rank, 1u);
    EXPECT_NEAR(call.last_ranks[0].behind_ns, 30 * us, 10);
    EXPECT_EQ(call.last_ranks[1].rank, 2u);
    EXPECT_NEAR(call.last_ranks[1].behind_ns, 20 * us, 10);
    EXPECT_NEAR(static_cast<double>(call.last_ranks[1].first_ns), 1130 * us, 10);
}

// Of worlds so large members share their kinds; each of these makes calls that the others do not.
TEST(compared_calls, in_a_world_of_many_ranks_wait_as_long_as_in_a_small_one) {
    Ranks ranks(3);
    for (int i = 0; i < 30; ++i) ranks.add({{0, 60}, {50, 62}, {20, 61}});
    const auto job_in_world_of = [&](std::uint32_t size) {
        auto specs = ranks.specs();
        for (ProfileSpec& spec : specs) {
            spec.size = size;
            auto& own = spec.communicators[0];
            own.id = 77;
            own.how = format::origin_made;
            own.size = 3;
            own.rank = spec.rank;
            CallSpec others = collective("MPI_" + std::string(1, static_cast<char>('X' + spec.rank)),
                                         {{.calls = 30, .bytes = 240, .time_ns = 900 * us, .min_ns = 30 * us}});
            spec.calls.insert(spec.calls.begin(), others);
        }
        return job_of(specs);
    };
    const Job small = job_in_world_of(3), large = job_in_world_of(10'000);
    ASSERT_EQ(small.comparison.calls.size(), 1u);
    ASSERT_EQ(large.comparison.calls.size(), 1u);
    EXPECT_NEAR(small.comparison.calls[0].waiting_ns, 30 * (50 + 0 + 30) * us, 100);
    EXPECT_NEAR(large.comparison.calls[0].waiting_ns, small.comparison.calls[0].waiting_ns, 100);
    EXPECT_NEAR(large.comparison.calls[0].time_ns, small.comparison.calls[0].time_ns, 100);
    EXPECT_EQ(large.comparison.calls[0].last_ranks[0].rank, 1u);
}

TEST(compared_calls, what_was_seen_takes_the_place_of_the_estimate) {
    Ranks ranks(2);
    // Each call takes 30 us or more even for the last: by the fastest call alone half of it would be waiting.
    for (int i = 0; i < 30; ++i) ranks.add({{0, 60}, {10, i == 0 ? 20 : 60}});
    const Job job = ranks.job();
    EXPECT_EQ(job.rows[0].compared_ns, job.rows[0].sum.time_ns);
    EXPECT_EQ(job.rows[0].judged_ns, job.rows[0].sum.time_ns);
    EXPECT_NEAR(static_cast<double>(job.rows[0].waiting_ns), 30 * 10 * us, 100);
    EXPECT_NEAR(static_cast<double>(job.ranks[0].waiting_ns), 30 * 10 * us, 100);
    EXPECT_NEAR(static_cast<double>(job.ranks[1].waiting_ns), 0, 100);
    ASSERT_EQ(job.sites.sites.size(), 1u);
    EXPECT_NEAR(static_cast<double>(job.sites.sites[0].waiting_ns), 30 * 10 * us, 100);
}

TEST(compared_calls, of_a_bcast_wait_for_the_root_alone) {
    Ranks ranks(3, "MPI_Bcast", for_root);
    ranks.add({{0, 45}, {40, 44}, {100, 103}}, 1);
    const Job job = ranks.job();
    EXPECT_EQ(only_call(job).waits_for, WaitsFor::root);
    EXPECT_NEAR(only_call(job).waiting_ns, 40 * us, 10);
    EXPECT_EQ(only_call(job).last_ranks[0].rank, 2u);
}

TEST(compared_calls, of_a_reduce_the_root_waits_for_all_and_of_others_nothing_is_known) {
    Ranks ranks(3, "MPI_Reduce", at_root);
    ranks.add({{0, 60}, {40, 45}, {20, 30}});  // rank 0 waits 40 of its 60 us; what ranks 1 and 2 do there is not known
    const Job job = ranks.job();
    EXPECT_EQ(only_call(job).waits_for, WaitsFor::members);
    EXPECT_NEAR(only_call(job).waiting_ns, 40 * us, 10);
    EXPECT_NEAR(only_call(job).time_ns, 75 * us, 10);
    EXPECT_EQ(only_call(job).last_ranks[0].rank, 1u);
}

TEST(compared_calls, of_a_reduce_count_for_a_rank_only_where_it_was_the_root) {
    Ranks ranks(2, "MPI_Reduce", at_root);
    ranks.add({{0, 60}, {50, 55}}, 0);  // rank 0 waits 50
    ranks.add({{0, 40}, {30, 50}}, 1);  // rank 1 waits for nobody
    EXPECT_NEAR(only_call(ranks.job()).waiting_ns, 50 * us, 10);
}

TEST(compared_calls, that_need_not_wait_say_only_who_came_last) {
    Ranks gather(2, "MPI_Gather", format::is_ordered | format::has_root);
    gather.add({{0, 10}, {40, 44}});
    EXPECT_EQ(only_call(gather.job()).waits_for, WaitsFor::unknown);
    EXPECT_EQ(only_call(gather.job()).waiting_ns, 0);
    EXPECT_EQ(only_call(gather.job()).last_ranks[0].rank, 1u);

    Ranks empty(2);
    empty.bytes = 0;
    empty.add({{0, 10}, {40, 44}});
    EXPECT_EQ(only_call(empty.job()).waits_for, WaitsFor::unknown);
}

TEST(compared_calls, that_came_too_close_have_no_last_rank) {
    Ranks ranks(2);
    ranks.add({{10, 40}, {10, 40}});
    EXPECT_EQ(only_call(ranks.job()).undecided, 1u);
    EXPECT_TRUE(only_call(ranks.job()).last_ranks.empty());
}

TEST(compared_calls, need_all_members_of_the_communicator) {
    Ranks ranks(3);
    ranks.add({{0, 60}, {50, 62}, {20, 61}});
    auto specs = ranks.specs();
    specs.pop_back();
    const Job job = job_of(specs);
    EXPECT_TRUE(job.comparison.calls.empty());
    EXPECT_EQ(job.comparison.incomplete, 1u);
}

TEST(compared_calls, are_those_that_all_members_have_kept_and_of_one_name) {
    Ranks ranks(2);
    for (int i = 0; i < 4; ++i) ranks.add({{0, 60}, {20, 61}});
    auto specs = ranks.specs();
    specs[0].communicators[0].kept.erase(specs[0].communicators[0].kept.begin());
    specs[1].calls.push_back(specs[1].calls[0]);
    specs[1].calls[1].name = "MPI_Alltoall";
    specs[1].communicators[0].kept[2].call = "MPI_Alltoall";
    EXPECT_EQ(only_call(job_of(specs)).compared, 2u);
}

// 40 000 calls, of which each rank keeps 312: what they say of all is within the error that is stated.
TEST(compared_calls, that_are_a_sample_stand_for_all_within_the_stated_error) {
    int within = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        constexpr std::uint64_t calls = 40'000;
        const unsigned level = format::arrival_level(calls);
        double waited = 0;
        std::vector<ProfileSpec> specs(2);
        std::vector<CellSpec> cells(2);
        for (std::uint64_t n = 0; n < calls; ++n) {
            std::uint64_t in[2] = {random() % 100, random() % 100};
            const std::uint64_t out = std::max(in[0], in[1]) + 5 + random() % 10;
            for (std::uint32_t rank = 0; rank < 2; ++rank) {
                waited += static_cast<double>(std::max(in[0], in[1]) - in[rank]);
                cells[rank].time_ns += (out - in[rank]) * us;
                if (format::arrival_of_block(n >> level, level) != n) continue;
                specs[rank].communicators[0].kept.push_back(
                    {.call = "MPI_Allreduce",
                     .number = n,
                     .begin_ns = static_cast<std::int64_t>((n * 200 + in[rank]) * us),
                     .time_ns = (out - in[rank]) * us,
                     .bytes = 8});
            }
        }
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            specs[rank].rank = rank;
            specs[rank].size = 2;
            specs[rank].elapsed_ns = 10'000'000'000;
            specs[rank].communicators[0].collectives = calls;
            cells[rank].calls = calls;
            cells[rank].bytes = 8 * calls;
            specs[rank].calls = {collective("MPI_Allreduce", {cells[rank]})};
            specs[rank].calls[0].arguments = for_all;
        }
        const Job job = job_of(specs);
        const ComparedCall& call = only_call(job);
        EXPECT_GT(call.compared, 250u);
        EXPECT_GT(call.error_ns, 0);
        EXPECT_LT(call.error_ns, 0.06 * waited * us);
        within += std::abs(call.waiting_ns - waited * us) <= call.error_ns;
        EXPECT_NEAR(call.waiting_ns, waited * us, 2 * call.error_ns) << seed;
    }
    EXPECT_GE(within, 17);
}

// Few collectives are all compared, and the first rank's pace is told by all that it has kept.
TEST(compared_calls, of_a_job_of_many_ranks_are_a_sample_where_many_are_kept) {
    struct Case {
        std::uint32_t size;
        std::uint64_t made, compared;
    };
    for (const auto& [size, made, compared] : {Case{512, 400, 400}, {2000, 400, 100}, {2000, 128, 128}}) {
        Ranks ranks(2);
        for (std::uint64_t i = 0; i < made; ++i) ranks.add({{0, 60}, {20, 61}});
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            ranks[rank].size = size;
            ranks[rank].communicators[0] = {.name = "pair",
                                            .id = 7,
                                            .size = 2,
                                            .rank = rank,
                                            .how = format::origin_made,
                                            .kept = ranks[rank].communicators[0].kept};
        }
        const Job job = ranks.job();
        EXPECT_EQ(only_call(job).compared, compared) << size << ' ' << made;
        EXPECT_NEAR(only_call(job).waiting_ns, static_cast<double>(made * 20 * us), static_cast<double>(made * 10));
        EXPECT_EQ(job.pace.calls.size(), made) << size;
    }
}

TEST(compared_calls, of_two_nodes_are_lined_up_by_the_calls_themselves) {
    Ranks ranks(4);
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
        std::vector<Stay> stays(4);
        std::int64_t last = 0;
        for (Stay& stay : stays) last = std::max(last, stay.in_us = static_cast<std::int64_t>(random() % 300));
        stays[i % 10 == 0 ? 0 : 2].in_us = last += 100;
        for (Stay& stay : stays) stay.out_us = last + 20 + static_cast<std::int64_t>(random() % 20);
        ranks.add(stays);
    }
    const Job together = ranks.job();
    for (const std::size_t rank : {2u, 3u}) {
        ranks[rank].host = "node2";
        ranks[rank].clock_ahead_ns = 300'000'000'000'000;
    }
    const Job apart = ranks.job();
    EXPECT_EQ(apart.comparison.nodes, 1u);
    EXPECT_LT(apart.comparison.clock_error_ns, 40 * us);
    EXPECT_NEAR(only_call(apart).waiting_ns, only_call(together).waiting_ns, 0.05 * only_call(together).waiting_ns);
    EXPECT_EQ(only_call(apart).last_ranks[0].rank, 2u);
    EXPECT_GT(only_call(apart).last_ranks[0].times, 260u);
}

// Where one node always comes last the other may be earlier than it seems: the error says so.
TEST(compared_calls, of_two_nodes_of_which_one_is_always_last_have_a_large_error) {
    Ranks ranks(2);
    for (int i = 0; i < 100; ++i) ranks.add({{0, 220}, {200, 220}});
    ranks[1].host = "node2";
    const Job job = ranks.job();
    const ComparedCall& call = only_call(job);
    EXPECT_GT(call.error_ns, 0);
    EXPECT_NEAR(call.waiting_ns, 100.0 * 200 * us, call.error_ns);
}

TEST(compared_calls, of_nodes_that_share_no_collective_with_the_first_are_left_out) {
    Ranks ranks(2, "MPI_Gather", format::is_ordered | format::has_root);
    ranks.add({{0, 10}, {40, 44}});
    ranks[1].host = "node2";
    const Job job = ranks.job();
    EXPECT_TRUE(job.comparison.calls.empty());
    EXPECT_EQ(job.comparison.not_lined_up, 1u);
}

TEST(compared_calls, with_damaged_times_leave_a_report) {
    Ranks ranks(2);
    for (int i = 0; i < 20; ++i) ranks.add({{0, 60}, {20, 61}});
    auto specs = ranks.specs();
    specs[1].communicators[0].kept[3].begin_ns = 1ll << 62;
    specs[1].communicators[0].kept[4].time_ns = 1ull << 47;
    specs[1].communicators[0].kept[5].number = 1ull << 40;
    specs[1].communicators[0].kept[6].root = -77;
    specs[1].host = "node2";
    specs[1].clock_ahead_ns = 1ll << 61;
    const Job job = job_of(specs);
    EXPECT_EQ(job.ranks.size(), 2u);
}

}  // namespace
}  // namespace mpiprof::test
