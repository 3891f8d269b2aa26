// How long nothing has happened in a running job, whatever is done to the clock on the wall: what `hang --until-stuck`
// and `--without-proof` go by.
#include <gtest/gtest.h>

#include "report/analysis/doubts.h"
#include "report/analysis/silence.h"
#include "report/read/liveness.h"

namespace mpiprof::test {
namespace {

using report::Life;
using report::State;

constexpr std::uint64_t s = 1'000'000'000, hour = 3600 * s, noon = 1'700'000'000 * s;

// One rank of this machine that was updated 20 s after its MPI_Init, at noon.
report::Profile living_profile() {
    report::Profile profile;
    profile.state = State::running;
    profile.started_at_ns = noon - 20 * s;
    profile.updated_at_ns = noon;
    profile.elapsed_ns = 20 * s;
    profile.started_monotonic_ns = 500 * s;
    profile.tells_its_life = true;
    return profile;
}

std::uint64_t lived(std::uint64_t wall_ns, std::uint64_t monotonic_ns, Life process = Life::running) {
    report::Profile profile = living_profile();
    report::look_for_life(profile, {.times = {}, .now_ns = wall_ns, .monotonic_ns = monotonic_ns, .process = process});
    return profile.elapsed_ns;
}

TEST(silence, a_rank_lives_as_long_as_the_clock_that_nobody_sets_says) {
    EXPECT_EQ(lived(noon + 5 * s, 525 * s), 25 * s);
    EXPECT_EQ(lived(noon + 5 * s + 2 * hour, 525 * s), 25 * s) << "set ahead, or the machine slept";
    EXPECT_EQ(lived(noon - hour, 525 * s), 20 * s) << "set back";
    EXPECT_EQ(lived(noon + 5 * s, 0), 25 * s) << "the other clock is not known";
    EXPECT_EQ(lived(noon + 5 * s, 100 * s), 25 * s) << "it is that of another boot, or of another container";
}

TEST(silence, a_rank_of_another_machine_is_out_of_sight_after_a_jump) {
    report::Profile profile = living_profile();
    report::look_for_life(profile,
                          {.times = {}, .now_ns = noon + 2 * hour, .monotonic_ns = 525 * s, .process = Life::unknown});
    EXPECT_EQ(profile.life, Life::unknown);
    EXPECT_EQ(profile.elapsed_ns, 20 * s);
}

TEST(silence, lasts_from_the_first_look_that_showed_what_the_last_one_did) {
    report::Job job;
    job.ranks.resize(2);
    job.rows.resize(1);
    job.rows[0].sum.calls = 7;
    job.standings.resize(1);
    report::Silence silence;
    silence.look(job, 100 * s);
    EXPECT_EQ(silence.for_ns(), 0u);
    silence.look(job, 160 * s);
    EXPECT_EQ(silence.for_ns(), 60 * s);
    job.rows[0].sum.calls = 8;  // of a thread that is outside MPI at each look
    silence.look(job, 220 * s);
    EXPECT_EQ(silence.for_ns(), 0u);
    silence.look(job, 280 * s);
    job.standings[0].is_inside = true;
    job.standings[0].call = 3;
    silence.look(job, 340 * s);
    EXPECT_EQ(silence.for_ns(), 0u);
    silence.look(job, 400 * s);
    EXPECT_EQ(silence.for_ns(), 60 * s);
}

// A job of two ranks, one of which waits, of which nothing is known that speaks against ending it.
report::Job quiet_job() {
    report::Job job;
    job.size = 2;
    job.ranks.resize(2);
    job.ranks[1].rank = 1;
    job.groups.resize(3);
    job.groups[2].is_inter = true;
    job.calls.resize(1);
    job.calls[0].name = "MPI_Wait";
    job.standings.resize(1);
    job.standings[0] = {.rank = 1, .is_inside = true, .call = 0, .group = 1};
    job.standings[0].waits_for = {{.call = 0, .group = 1, .peer = 0, .tag = 0}};
    return job;
}

std::optional<report::Doubt::Kind> doubt(const report::Job& job) {
    const auto found = report::doubt_of_silence(job);
    return found ? std::optional(found->kind) : std::nullopt;
}

TEST(silence, means_nothing_where_more_may_happen_than_is_seen) {
    using K = report::Doubt::Kind;
    report::Job job = quiet_job();
    EXPECT_EQ(doubt(job), std::nullopt);
    job.standings[0].waits_for[0].peer = report::any_rank;
    EXPECT_EQ(doubt(job), K::any_source);
    job.standings[0].waits_for[0] = {.call = 0, .group = 2, .peer = 0};
    EXPECT_EQ(doubt(job), K::other_group);
    job = quiet_job();
    job.standings[0].is_inside = false;
    job.standings[0].posted = {{.call = 0, .group = 1, .peer = report::any_rank}};
    EXPECT_EQ(doubt(job), K::any_source) << "open while the rank is outside MPI";
    job = quiet_job();
    job.standings[0].waits_for_more = true;
    EXPECT_EQ(doubt(job), K::unknown_requests);
    job = quiet_job();
    job.calls[0].name = "MPI_Comm_accept";
    EXPECT_EQ(doubt(job), K::meets_others);
    job = quiet_job();
    job.ranks[0].paused_ns = 1;
    EXPECT_EQ(doubt(job), K::paused);
    job = quiet_job();
    for (const auto& [name, value] :
         {std::pair{"FUNCTIONS", "-MPI_Iprobe"}, std::pair{"END_TIME", "60"}, std::pair{"NCCL", "off"}}) {
        job.settings = {{.name = name, .values = {{.value = value}}}};
        EXPECT_EQ(doubt(job), K::left_out) << name;
    }
    job = quiet_job();
    job.ranks.pop_back();
    EXPECT_EQ(doubt(job), K::no_profile);
    job.chosen_ranks = report::NumberList::parse("0");
    EXPECT_EQ(doubt(job), K::not_chosen);
}

}  // namespace
}  // namespace mpiprof::test
