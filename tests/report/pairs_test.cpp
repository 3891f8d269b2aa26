// Peers: merged over ranks in any order, bounded; what the section says of nearness, nodes, pairs and placements.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "report/analysis/peer_places.h"
#include "report/merge/part.h"
#include "report/read/consistency.h"
#include "report/read/profile_reader.h"
#include "report/sections/section.h"
#include "tests/report/goldens.h"
#include "tests/report/shown.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using report::Job;
using report::Profile;
using report::Question;

constexpr std::uint64_t ms = 1'000'000, MiB = 1 << 20;

std::string host_of(std::uint32_t rank, std::uint32_t nodes) { return "node" + std::to_string(rank % nodes + 1); }

// A ring of 8 ranks, each a MiB a hundred times to the next and an answer of 8 bytes back, dealt to two nodes in turn:
// all of it goes from node to node. Rank 3 does not receive the last of its messages.
std::vector<ProfileSpec> ring() {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 8;
        spec.command = "./ring";
        spec.host = host_of(rank, 2);
        const std::uint32_t next = (rank + 1) % 8, before = (rank + 7) % 8;
        const std::uint64_t got = rank == 3 ? 99 : 100;
        spec.calls = {sends("MPI_Send", {{.calls = 100, .bytes = 100 * MiB, .time_ns = 40 * ms},
                                         {.calls = 100, .bytes = 800, .time_ns = 2 * ms}}),
                      receives("MPI_Recv", {{.calls = got, .bytes = got * MiB, .time_ns = 50 * ms},
                                            {.calls = 100, .bytes = 800, .time_ns = 3 * ms}})};
        spec.peers = {{.rank = next, .sent = {100, 100 * MiB, 40 * ms}, .received = {100, 800, 3 * ms}},
                      {.rank = before, .sent = {100, 800, 2 * ms}, .received = {got, got * MiB, 50 * ms}}};
        ranks.push_back(std::move(spec));
    }
    return ranks;
}

std::string show(const Job& job, const Question& question = {}, const char* view = "text") {
    return shown(job, "peers", question, view);
}

TEST(pairs, show_who_sends_how_much_to_whom) { expect_golden("screens/peers.txt", show(job_of(ring()))); }

TEST(pairs, are_in_every_view) {
    const Job job = job_of(ring());
    EXPECT_TRUE(says(show(job, {}, "csv"), "from,to,distance,kind,messages,avg_bytes,bytes"));
    EXPECT_TRUE(says(show(job, {}, "json"), "\"placements\""));
}

TEST(pairs, both_sides_of_a_pair_stand_together) {
    const Job job = job_of(ring());
    ASSERT_EQ(job.peers.pairs.size(), 16u);
    const report::PeerPair& pair = job.peers.pairs[0];
    EXPECT_EQ(std::make_pair(pair.from, pair.to), std::make_pair(0u, 1u));
    EXPECT_EQ(pair.sent, (report::Flow{100, 100 * MiB, 40 * ms}));
    EXPECT_EQ(pair.received, (report::Flow{100, 100 * MiB, 50 * ms}));
    EXPECT_EQ(pair.bytes(), 100 * MiB) << "once, not twice";
}

TEST(pairs, threads_of_a_rank_add_up) {
    ProfileSpec spec = ring()[0];
    spec.threads.push_back({.id = 2, .kind = format::ThreadKind::other});
    spec.peers.push_back({.rank = 1, .sent = {5, 50, ms}, .thread = 2});
    const Job job = job_of({spec});
    EXPECT_EQ(job.peers.pairs[0].sent, (report::Flow{105, 100 * MiB + 50, 41 * ms}));
}

TEST(pairs, messages_that_were_never_received_are_named) {
    const std::string text = show(job_of(ring()));
    EXPECT_TRUE(says(text, "MESSAGES SENT AND RECEIVED DIFFER")) << text;
    auto specs = ring();
    specs[3].peers.push_back({.rank = format::peer_any, .received = {1, MiB, 0}});
    EXPECT_FALSE(says(show(job_of(specs)), "MESSAGES SENT AND RECEIVED DIFFER"))
        << "rank 3 may have received it from anybody";
    specs = ring();
    specs[3].state = format::State::running;
    EXPECT_FALSE(says(show(job_of(specs)), "MESSAGES SENT AND RECEIVED DIFFER")) << "rank 3 has not finished";
}

TEST(pairs, without_the_other_profile_one_side_counts) {
    auto specs = ring();
    specs.erase(specs.begin() + 1);
    const Job job = job_of(specs);
    const auto pair = std::find_if(job.peers.pairs.begin(), job.peers.pairs.end(),
                                   [](const auto& p) { return p.from == 1 && p.to == 2; });
    ASSERT_NE(pair, job.peers.pairs.end());
    EXPECT_EQ(pair->bytes(), 100 * MiB);
    EXPECT_TRUE(says(show(job), "not known")) << "on which node rank 1 was";
    EXPECT_FALSE(says(show(job), "PLACEMENT")) << "nothing is estimated without all ranks";
}

TEST(pairs, one_sided_operations_of_both_ends_add_up) {
    auto specs = ring();
    specs.resize(2);
    for (auto& spec : specs) spec.size = 2, spec.peers.clear();
    specs[0].peers = {{.rank = 1, .sent = {3, 30, ms}, .received = {2, 200, ms}, .kind = format::PeerKind::one_sided}};
    specs[1].peers = {{.rank = 0, .received = {7, 700, ms}, .kind = format::PeerKind::one_sided}};
    const Job job = job_of(specs);
    ASSERT_EQ(job.peers.pairs.size(), 2u);
    EXPECT_EQ(job.peers.pairs[0].bytes(), 730u) << "put by 0 and fetched by 1";
    EXPECT_EQ(job.peers.pairs[1].bytes(), 200u) << "fetched by 0";
    EXPECT_TRUE(says(show(job), "one-sided"));
}

TEST(pairs, of_asked_ranks_alone) {
    Question question;
    question.ranks = {2};
    const std::string csv = show(job_of(ring()), std::move(question), "csv");
    EXPECT_TRUE(says(csv, "\n2,3,"));
    EXPECT_TRUE(says(csv, "\n1,2,"));
    EXPECT_FALSE(says(csv, "\n4,5,"));
    EXPECT_TRUE(says(show(job_of(ring()), {}, "csv"), "\n4,5,"));
}

TEST(pairs, that_are_no_single_rank_are_said) {
    auto specs = ring();
    specs[0].peers.push_back({.rank = format::peer_any, .received = {7, 70, 0}});
    specs[0].peers.push_back({.rank = format::peer_other, .sent = {6, 60, 0}});
    specs[0].peers.push_back({.rank = format::peer_unknown, .sent = {5, 50, 0}});
    specs[1].peers.push_back({.rank = 123456, .sent = {4, 40, 0}});  // there is no such rank
    const Job job = job_of(specs);
    EXPECT_EQ(job.peers.vague.received_from_any.messages, 7u);
    EXPECT_EQ(job.peers.vague.sent_others.messages, 6u);
    EXPECT_EQ(job.peers.vague.sent_unknown.messages, 9u);
    EXPECT_EQ(job.drops.peers, 6u);
    const std::string text = show(job);
    EXPECT_TRUE(says(text, "7 messages of 70 B were received from MPI_ANY_SOURCE")) << text;
    EXPECT_TRUE(says(text, "6 messages of 60 B went to peers beyond those tracked"));
}

TEST(pairs, jobs_without_messages_say_so) {
    ProfileSpec spec;
    spec.calls = {sync("MPI_Barrier", {{.calls = 1}})};
    EXPECT_TRUE(says(show(job_of({spec})), "no messages between two ranks were recorded"));
}

TEST(pairs, better_placements_are_estimated) {
    const Job job = job_of(ring());
    const auto found = report::arrangements(job);
    ASSERT_EQ(found.size(), 4u);
    EXPECT_DOUBLE_EQ(found[0].share_inside, 0) << "as it ran: in turn";
    EXPECT_DOUBLE_EQ(found[1].share_inside, 0.75) << "consecutive: 2 of 8 links are cut";
    EXPECT_DOUBLE_EQ(found[2].share_inside, 0);
    EXPECT_DOUBLE_EQ(found[3].share_inside, 0.75) << "a ring cannot do better on two nodes";
}

TEST(pairs, the_estimate_finds_the_groups_of_ranks_that_talk) {
    // 4 groups of 4 ranks that exchange all among themselves, scattered; a little goes to everybody.
    std::vector<ProfileSpec> specs;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 16;
        spec.host = host_of(rank / 4, 4);
        for (std::uint32_t other = 0; other < 16; ++other)
            if (other != rank)
                spec.peers.push_back({.rank = other, .sent = {10, rank % 4 == other % 4 ? 10'000u : 10u, ms}});
        specs.push_back(std::move(spec));
    }
    const auto found = report::arrangements(job_of(specs));
    ASSERT_EQ(found.size(), 4u);
    EXPECT_LT(found[0].share_inside, 0.01);
    EXPECT_LT(found[1].share_inside, 0.01);
    EXPECT_GT(found[2].share_inside, 0.99) << "in turn is what this program wants";
    EXPECT_GT(found[3].share_inside, 0.99);
}

TEST(pairs, the_estimate_cuts_a_grid_into_squares) {
    std::vector<ProfileSpec> specs;  // 8 x 8 ranks on 4 nodes: two rows each, as launchers do it
    for (std::uint32_t rank = 0; rank < 64; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 64;
        spec.host = host_of(rank / 16, 4);
        const std::uint32_t x = rank % 8, y = rank / 8;
        if (x < 7) spec.peers.push_back({.rank = rank + 1, .sent = {10, 1000, ms}});
        if (y < 7) spec.peers.push_back({.rank = rank + 8, .sent = {10, 1000, ms}});
        specs.push_back(std::move(spec));
    }
    const auto found = report::arrangements(job_of(specs));
    ASSERT_EQ(found.size(), 4u);
    EXPECT_DOUBLE_EQ(found[0].share_inside, 88.0 / 112);
    EXPECT_DOUBLE_EQ(found[3].share_inside, 96.0 / 112) << "four squares of 4 x 4";
}

TEST(pairs, many_ranks_share_the_shades_of_the_map) {
    std::vector<ProfileSpec> specs;
    for (std::uint32_t rank = 0; rank < 200; ++rank) {
        ProfileSpec spec;
        spec.rank = rank;
        spec.size = 200;
        spec.peers = {{.rank = (rank + 1) % 200, .sent = {1, 1000, ms}}};
        specs.push_back(std::move(spec));
    }
    const std::string text = show(job_of(specs));
    EXPECT_TRUE(says(text, "195-199"));
    EXPECT_TRUE(says(text, "one cell per 5 receivers"));
}

// ---- merging ----

Profile profile_of(std::uint32_t rank, std::uint32_t size, std::uint32_t peers) {
    Profile profile;
    profile.rank = rank;
    profile.size = size;
    for (std::uint32_t i = 1; i <= peers; ++i)
        profile.peers.push_back(
            {.rank = (rank + i) % size, .sent = {1, 1000 - i, 1}, .received = {1, 1000 - (size - i), 1}});
    return profile;
}

report::Peers finished(report::MergePart& part) {
    report::Job job;
    report::Finishing end{.job = job, .order = {}};
    part.finish(end);
    return std::move(job.peers);
}

TEST(pairs, merge_to_the_same_in_any_order) {
    std::vector<Profile> profiles;
    for (std::uint32_t rank = 0; rank < 60; ++rank) profiles.push_back(profile_of(rank, 60, 59));
    std::mt19937 random(7);
    std::vector<report::PeerPair> first;
    for (int round = 0; round < 4; ++round) {
        std::shuffle(profiles.begin(), profiles.end(), random);
        const std::unique_ptr<report::MergePart> parts[] = {report::peers_part(2000), report::peers_part(2000),
                                                            report::peers_part(2000)};
        for (std::size_t i = 0; i < profiles.size(); ++i) parts[i % 3]->add({.profile = profiles[i], .calls = {}});
        parts[0]->absorb(*parts[2]);
        parts[0]->absorb(*parts[1]);
        const report::Peers peers = finished(*parts[0]);
        EXPECT_EQ(peers.most_of_rank, 33u);
        EXPECT_EQ(peers.vague_ranks.size(), 60u);
        EXPECT_EQ(peers.vague.sent_others.messages, 60u * (59 - 33));
        if (round == 0) first = peers.pairs;
        ASSERT_EQ(peers.pairs.size(), first.size());
        for (std::size_t i = 0; i < first.size(); ++i) {
            ASSERT_EQ(peers.pairs[i].from, first[i].from);
            ASSERT_EQ(peers.pairs[i].to, first[i].to);
            ASSERT_EQ(peers.pairs[i].sent, first[i].sent);
            ASSERT_EQ(peers.pairs[i].received, first[i].received);
        }
    }
}

TEST(pairs, of_small_jobs_are_all_kept) {
    const auto part = report::peers_part();
    for (std::uint32_t rank = 0; rank < 60; ++rank) part->add({.profile = profile_of(rank, 60, 59), .calls = {}});
    const report::Peers peers = finished(*part);
    EXPECT_EQ(peers.most_of_rank, 0u);
    EXPECT_EQ(peers.pairs.size(), 60u * 59u);
}

// ---- damage ----

TEST(pairs, more_messages_than_calls_are_a_disagreement) {
    ProfileSpec spec = ring()[0];
    const auto whole = report::read_profile(build(spec), "p");
    ASSERT_TRUE(whole);
    EXPECT_TRUE(report::disagreements(*whole).empty());
    spec.peers[0].sent.messages = 1000;
    const auto damaged = report::read_profile(build(spec), "p");
    ASSERT_TRUE(damaged);
    EXPECT_FALSE(report::disagreements(*damaged).empty());
}

TEST(pairs, of_unknown_kinds_are_left_out) {
    ProfileSpec spec = ring()[0];
    spec.peers[0].kind = static_cast<format::PeerKind>(7);
    const auto profile = report::read_profile(build(spec), "p");
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->peers.size(), 1u);
}

}  // namespace
}  // namespace mpiprof::test
