// Which ranks wait for which others in a collective: deadlocks of Scan, Bcast, Gather and Reduce, and jobs that only
// look like one.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/sections/section.h"
#include "tests/report/stuck_jobs.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

constexpr std::uint64_t s = 1'000'000'000;

std::string conclusion(const std::vector<ProfileSpec>& ranks) {
    return report::find_section("hang")->answer(job_of(ranks), {}).value().at(0).title;
}
bool is_proven(const std::vector<ProfileSpec>& ranks) { return conclusion(ranks).starts_with("Deadlock: "); }

CallSpec in_order(std::string name, std::uint32_t more = 0) {
    CallSpec call = collective(std::move(name), {calls_of(1)});
    call.arguments = format::is_ordered | more;
    return call;
}
CallSpec scan() { return in_order("MPI_Scan"); }
CallSpec reduce() { return in_order("MPI_Reduce", format::has_root | format::root_waits); }
CallSpec broadcast() { return in_order("MPI_Bcast", format::has_root | format::waits_for_root); }
CallSpec barrier() { return in_order("MPI_Barrier", format::waits_for_all); }
CallSpec receive() {
    CallSpec call = receives("MPI_Recv", {calls_of(1)});
    call.arguments = format::has_source;
    return call;
}

using Made = decltype(ProfileSpec{}.communicators[0].made);

// A rank inside `call` with root or source `peer`, after it has made these collectives of MPI_COMM_WORLD.
struct In {
    CallSpec call;
    std::int32_t peer = 0;
    Made made{};
};
std::vector<ProfileSpec> ranks_in(const std::vector<In>& all) {
    auto job = stuck(static_cast<std::uint32_t>(all.size()), all[0].call);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const In& in = all[rank];
        job[rank].calls = {in.call, scan(), reduce(), broadcast(), barrier(), receive()};
        job[rank].calls.erase(std::find_if(job[rank].calls.begin() + 1, job[rank].calls.end(),
                                           [&](const CallSpec& call) { return call.name == in.call.name; }));
        for (CallSpec& call : job[rank].calls)
            call.cells[0].calls += static_cast<std::uint64_t>(std::count_if(
                in.made.begin(), in.made.end(), [&](const auto& made) { return made.call == call.name; }));
        job[rank].threads[0].in_call = in.call.name;
        job[rank].threads[0].peer = in.peer;
        job[rank].communicators[0].made = in.made;
    }
    return job;
}
void goes_outside(ProfileSpec& rank) { rank.threads = {{.in_call_for_ns = 4 * s, .last_call = "MPI_Recv"}}; }
void is_finalized(ProfileSpec& rank) {
    rank.state = format::State::finalized;
    rank.threads = {ThreadSpec{}};
}

TEST(hang_collectives, a_scan_that_needs_a_rank_which_waits_for_it_is_a_deadlock_whatever_higher_ranks_do) {
    auto job = ranks_in({{receive(), 1}, {scan()}, {scan()}});
    goes_outside(job[2]);
    EXPECT_TRUE(is_proven(job)) << conclusion(job);
    job = ranks_in({{scan()}, {receive(), 0}, {scan()}});
    goes_outside(job[2]);
    EXPECT_FALSE(is_proven(job)) << "rank 0 needs nobody: " << conclusion(job);
}

TEST(hang_collectives, a_slow_scan_that_lower_ranks_have_left_is_no_deadlock) {
    EXPECT_FALSE(is_proven(ranks_in({{scan()}, {scan()}, {scan()}})));
    const Made one{{"MPI_Scan"}};
    auto job = ranks_in({{barrier(), 0, one}, {scan()}, {scan()}});
    EXPECT_FALSE(is_proven(job)) << conclusion(job);
    job = ranks_in({{receive(), 2, one}, {scan()}, {scan()}});
    EXPECT_FALSE(is_proven(job)) << conclusion(job);
    is_finalized(job[0]);
    EXPECT_FALSE(is_proven(job)) << conclusion(job);
}

TEST(hang_collectives, members_of_a_broadcast_wait_for_its_root_alone) {
    auto job = ranks_in({{receive(), 1}, {broadcast()}, {broadcast()}});
    goes_outside(job[2]);
    EXPECT_TRUE(is_proven(job)) << conclusion(job);
    // The root may leave it, and send.
    job = ranks_in({{broadcast()}, {receive(), 0}, {broadcast()}});
    EXPECT_FALSE(is_proven(job)) << conclusion(job);
    // Unless nobody else can move any more.
    EXPECT_TRUE(is_proven(ranks_in({{broadcast()}, {receive(), 0}})));
}

TEST(hang_collectives, a_rank_that_only_gives_something_waits_for_nobody) {
    const Made one{{"MPI_Reduce", 1}};
    // Rank 0 has left it, rank 1 adds up what ranks 0 and 2 gave it.
    auto job = ranks_in({{barrier(), 0, one}, {reduce(), 1}, {reduce(), 1}});
    EXPECT_FALSE(is_proven(job)) << conclusion(job);
    is_finalized(job[0]);
    EXPECT_FALSE(is_proven(job)) << conclusion(job);
    // Rank 0 has not come, and waits for a message of the root, which needs it.
    job = ranks_in({{receive(), 1}, {reduce(), 1}, {reduce(), 1}});
    EXPECT_TRUE(is_proven(job)) << conclusion(job);
}

TEST(hang_collectives, who_never_comes_to_a_broadcast_stops_its_root_alone) {
    auto job = ranks_in({{receive(), 2}, {broadcast()}, {broadcast()}});
    goes_outside(job[0]);  // the root computes, and may come
    is_finalized(job[2]);
    EXPECT_FALSE(is_proven(job)) << conclusion(job);
    is_finalized(job[0]);
    job[0].finalize_ns = job[2].finalize_ns = 0;  // they are in there: what they made is known
    EXPECT_TRUE(is_proven(job)) << conclusion(job);
}

}  // namespace
}  // namespace mpiprof::test
