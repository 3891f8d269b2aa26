// The peers of a thread: one record each, sparse, bounded; what handles meant is forgotten, what was counted is not.
#include "libmpiprof/record/peers.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::Peer;
using format::PeerKind;
using format::TableType;

constexpr Word world = 0x44000000, row = 0x84000001;

struct peers : testing::Test {
    Recording recording;
    Ledger& ledger = *recording.ledger;

    // As the wrappers do it; `rank` is what the peer is in the world.
    Peer& find(Word key, int peer, std::uint32_t rank, PeerKind kind = PeerKind::messages) {
        if (Peer* quick = ledger.peers.quick(key, peer)) return *quick;
        if (Peer* known = ledger.peers.known(key, peer)) return *known;
        ++asked;
        return ledger.peers.learn(key, peer, rank, kind);
    }
    void send(Word key, int peer, std::uint32_t rank, Bytes bytes = 8) {
        Peers::add(find(key, peer, rank).sent, bytes, 100);
    }
    std::map<std::uint32_t, Peer> records(PeerKind kind = PeerKind::messages) {
        std::map<std::uint32_t, Peer> found;
        for (const Peer& peer : records_of<Peer>(recording.image(), TableType::peers)) {
            if (peer.kind != kind) continue;
            EXPECT_FALSE(found.contains(peer.rank)) << peer.rank << " has two records";
            found[peer.rank] = peer;
        }
        return found;
    }
    void end_a_communicator(Word key = row) { ledger.end_of({HandleKind::communicator, key, 0}); }
    unsigned asked = 0;
};

TEST_F(peers, of_one_rank_are_one_record_whatever_communicator_it_was) {
    send(world, 5, 5, 100);
    send(row, 1, 5, 20);
    send(world, 5, 5, 3);

    EXPECT_EQ(asked, 2u);
    const auto found = records();
    EXPECT_EQ(found.at(5).sent.messages, 3u);
    EXPECT_EQ(found.at(5).sent.bytes, 123u);
    EXPECT_EQ(found.at(5).sent.ticks, 300u);
    EXPECT_EQ(found.at(5).received.messages, 0u);
}

TEST_F(peers, of_a_communicator_that_ended_are_forgotten_however_its_handle_was_passed) {
    constexpr Word as_passed = 0x84000001, widened = static_cast<std::int32_t>(0x84000001),
                   with_garbage = as_passed | Word{0x5a5a} << 32, window = as_passed ^ Word { 1 } << 61;
    for (const Word key : {as_passed, widened, with_garbage, window}) send(key, 0, 3);
    ledger.groups.remember({as_passed, 0, 2, -1, -1});
    ASSERT_NE(ledger.peers.known(as_passed, 0), nullptr);

    end_a_communicator(widened);

    for (const Word key : {as_passed, widened, with_garbage, window}) {
        EXPECT_EQ(ledger.peers.quick(key, 0), nullptr) << std::hex << key;
        EXPECT_EQ(ledger.peers.known(key, 0), nullptr) << std::hex << key;
    }
    EXPECT_EQ(ledger.groups.find(as_passed), nullptr);
}

TEST_F(peers, that_were_seen_once_are_found_at_once) {
    send(world, 5, 5);
    EXPECT_NE(ledger.peers.quick(world, 5), nullptr);
    EXPECT_EQ(ledger.peers.quick(world, 6), nullptr);
    EXPECT_EQ(ledger.peers.quick(row, 5), nullptr);
}

TEST_F(peers, of_a_communicator_like_the_world_are_known_by_their_rank) {
    constexpr Word copy = 0x84000007;
    for (int rank = 0; rank < 500; ++rank) send(world, rank, static_cast<std::uint32_t>(rank));
    ledger.peers.learn(world, -5, format::peer_unknown, PeerKind::messages);
    asked = 0;
    ledger.peers.learn_like_world(copy);
    for (int rank = 0; rank < 500; ++rank) send(copy, rank, static_cast<std::uint32_t>(rank));
    EXPECT_EQ(asked, 0u);
    for (const int nobody : {-1, -2, -3, -5}) EXPECT_EQ(ledger.peers.known(copy, nobody), nullptr) << nobody;
    send(copy, 500, 500);
    EXPECT_EQ(asked, 1u);
    for (std::uint32_t rank = 0; rank < 500; ++rank) ASSERT_EQ(records().at(rank).sent.messages, 2u);
    EXPECT_EQ(records().at(500).sent.messages, 1u);

    end_a_communicator(copy);
    send(copy, 3, 7);
    EXPECT_EQ(records().at(7).sent.messages, 3u);
}

TEST_F(peers, of_more_copies_of_the_world_than_are_remembered_add_up) {
    for (int round = 0; round < 3; ++round)
        for (Word copy = 0x84000000; copy < 0x84000000 + 100; ++copy)
            for (int rank = 0; rank < 20; ++rank) {
                ledger.peers.learn_like_world(copy);
                send(copy, rank, static_cast<std::uint32_t>(rank));
            }
    for (std::uint32_t rank = 0; rank < 20; ++rank) ASSERT_EQ(records().at(rank).sent.messages, 300u);
}

TEST_F(peers, without_a_message_have_no_record) {
    EXPECT_TRUE(records_of<Peer>(recording.image(), TableType::peers).empty());
}

TEST_F(peers, one_sided_operations_have_records_of_their_own) {
    send(world, 5, 5);
    Peers::add(find(world ^ 1, 5, 5, PeerKind::one_sided).received, 64, 10);

    EXPECT_EQ(records().at(5).received.messages, 0u);
    EXPECT_EQ(records(PeerKind::one_sided).at(5).received.bytes, 64u);
}

TEST_F(peers, of_a_handle_that_came_back_are_asked_for_again) {
    send(row, 1, 5);
    end_a_communicator();
    send(row, 1, 7);

    EXPECT_EQ(records().at(5).sent.messages, 1u);
    EXPECT_EQ(records().at(7).sent.messages, 1u);
}

TEST_F(peers, outlive_the_end_of_another_handle) {
    send(row, 1, 5);
    ledger.end_of({HandleKind::type, row, 0});
    end_a_communicator(world);
    EXPECT_NE(ledger.peers.quick(row, 1), nullptr);
}

TEST_F(peers, nobody_is_counted_nowhere) {
    Peers::add(ledger.peers.learn_nobody(world, -1).sent, 8, 1);
    EXPECT_NE(ledger.peers.quick(world, -1), nullptr);
    EXPECT_TRUE(records().empty());
}

TEST_F(peers, that_a_call_had_last_are_known_at_a_look_and_forgotten_with_its_memo) {
    Memo& memo = record(ledger, 8, 100, {.call = Made::send});
    ledger.memos.forget_peer(memo);
    Peer& five = find(world, 5, 50);
    ledger.remember_peer(memo, world, 5);
    EXPECT_EQ(ledger.quick_peer(ledger.memos.offset_of(memo.key), row, 5), &five)
        << "a memo is of one communicator: nobody asks which";
    EXPECT_EQ(ledger.quick_peer(ledger.memos.offset_of(memo.key), world, 6), nullptr);
    EXPECT_EQ(ledger.quick_peer(ledger.memos.offset_of(memo.key), world, 0), nullptr);

    Peer& six = find(world, 6, 60);
    EXPECT_EQ(ledger.quick_peer(ledger.memos.offset_of(memo.key), world, 6), &six)
        << "not the last one, but one of the last";
    ledger.remember_peer(memo, world, 6);
    EXPECT_EQ(ledger.quick_peer(ledger.memos.offset_of(memo.key), row, 6), &six);

    ledger.memos.forget_peer(memo);
    for (int peer : {6, 5, 0, -1, -2, -3})
        EXPECT_EQ(ledger.quick_peer(ledger.memos.offset_of(memo.key), row, peer), nullptr) << peer;
}

TEST_F(peers, beyond_the_limit_are_counted_together) {
    const std::uint32_t ranks = Peers::most_records + 500;
    for (int round = 0; round < 3; ++round)
        for (std::uint32_t rank = 0; rank < ranks; ++rank) send(world, static_cast<int>(rank), rank);

    const auto found = records();
    EXPECT_EQ(found.size(), Peers::most_records + 1);
    EXPECT_EQ(found.at(format::peer_other).sent.messages, 3u * 500u);
    for (std::uint32_t rank = 0; rank < Peers::most_records; ++rank)
        ASSERT_EQ(found.at(rank).sent.messages, 3u) << rank;
}

TEST_F(peers, of_many_communicators_that_come_and_go_add_up) {
    std::mt19937 random(17);
    std::map<std::uint32_t, std::uint64_t> expected;
    std::map<Word, std::uint64_t> lives;
    for (int i = 0; i < 60'000; ++i) {
        const Word key = 0x84000000 + static_cast<Word>(random() % 40);
        const int peer = static_cast<int>(random() % 600);
        // What a communicator means changes when it has ended.
        const auto rank = static_cast<std::uint32_t>(
            (static_cast<std::uint64_t>(key) * 31 + static_cast<unsigned>(peer) + lives[key] * 7) % 1000);
        send(key, peer, rank);
        ++expected[rank];
        if (random() % 1000 != 0) continue;
        end_a_communicator(key);
        ++lives[key];
    }
    const auto found = records();
    for (const auto& [rank, messages] : expected) ASSERT_EQ(found.at(rank).sent.messages, messages) << rank;
    EXPECT_EQ(found.at(format::peer_other).sent.messages, 0u);
}

TEST_F(peers, find_room_again_when_everything_about_communicators_is_too_much) {
    for (Word key = 1000; key < 1100; ++key)
        for (int peer = 0; peer < 300; ++peer) send(key, peer, static_cast<std::uint32_t>(peer));
    const auto found = records();
    for (std::uint32_t rank = 0; rank < 300; ++rank) ASSERT_EQ(found.at(rank).sent.messages, 100u);
}

// ---- receives whose sender is told by the status ----

struct open_sources : peers {
    format::Flow& any() { return ledger.peers.of_rank(format::peer_any, PeerKind::messages).received; }
    void post(Word handle, Bytes bytes) {
        const Spec spec{.call = Made::send};
        const Memo& memo = record(ledger, bytes, 100, spec);
        ledger.hand.begin(call_key(Made::send, some_site), 1000);
        Peers::add(any(), bytes, 30);
        ledger.requests.post_open(ledger.hand, memo, handle, {&any(), world, world, bytes, 30, 0, -1, 1, false});
    }
    void complete(Word handle, std::uint32_t from) {
        if (const auto* partner = ledger.requests.open_source(handle))
            ledger.requests.close_source(*partner, find(partner->key, static_cast<int>(from), from));
        EXPECT_EQ(ledger.requests.complete(handle, 5000, 10, 10), 1);
    }
};

TEST_F(open_sources, are_moved_to_the_rank_that_sent) {
    post(0x1000, 40);
    EXPECT_EQ(records().at(format::peer_any).received.messages, 1u);
    complete(0x1000, 3);

    EXPECT_EQ(records().at(format::peer_any).received.messages, 0u);
    EXPECT_EQ(records().at(format::peer_any).received.ticks, 0u);
    EXPECT_EQ(records().at(3).received.messages, 1u);
    EXPECT_EQ(records().at(3).received.bytes, 40u);
    EXPECT_FALSE(ledger.requests.has_any());
}

TEST_F(open_sources, stay_where_they_are_when_their_communicator_has_ended) {
    post(0x1000, 40);
    end_a_communicator(row);
    EXPECT_NE(ledger.requests.open_source(0x1000), nullptr) << "another one";
    end_a_communicator(world);
    EXPECT_EQ(ledger.requests.open_source(0x1000), nullptr);
    complete(0x1000, 3);

    EXPECT_EQ(records().at(format::peer_any).received.messages, 1u);
    EXPECT_FALSE(ledger.requests.has_any());
}

TEST_F(open_sources, that_nobody_asks_for_leave_no_request_behind) {
    post(0x1000, 40);
    EXPECT_EQ(ledger.requests.complete(0x1000, 5000, 10, 10), 1);
    EXPECT_FALSE(ledger.requests.has_any());
    EXPECT_EQ(ledger.requests.open_source(0x1000), nullptr);
}

TEST_F(open_sources, of_persistent_requests_are_told_at_each_start) {
    ledger.set_up(0x1000, 40, Made::send, {&any(), world, world, 0, 0, 0, -1, 1, false});
    for (std::uint32_t from : {3u, 4u, 3u}) {
        EXPECT_EQ(ledger.requests.open_source(0x1000), nullptr) << "not started";
        EXPECT_EQ(ledger.start(0x1000, 0x1000, 1000), 40u);
        complete(0x1000, from);
    }
    EXPECT_EQ(records().at(format::peer_any).received.messages, 0u);
    EXPECT_EQ(records().at(3).received.messages, 2u);
    EXPECT_EQ(records().at(4).received.bytes, 40u);
}

TEST_F(open_sources, persistent_sends_are_counted_at_each_start) {
    ledger.set_up(0x1000, 24, Made::send, {&find(world, 6, 6).sent, 0, 0, 0, 0, 0, -1, 1, true});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(ledger.start(0x1000, 0x1000, 1000), 24u);
        EXPECT_EQ(ledger.requests.complete(0x1000, 5000, 10, 10), 1);
    }
    EXPECT_EQ(records().at(6).sent.messages, 5u);
    EXPECT_EQ(records().at(6).sent.bytes, 120u);
}

}  // namespace
}  // namespace mpiprof::test
