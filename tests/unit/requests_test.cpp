// Requests from post to completion: where their time is booked, and what is said of those that were not remembered.
#include "libmpiprof/record/requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

constexpr Bytes some_bytes = 1000;

struct requests : testing::Test {
    Recording recording;
    Ledger& ledger = *recording.ledger;

    // A nonblocking send of so many bytes that leaves `handle` behind.
    void post(Word handle, Ticks since, Bytes bytes = some_bytes) {
        const Spec spec{.call = send};
        const Memo& memo = record(ledger, bytes, 100, spec);
        ledger.hand.begin(call_key(send, some_site), since);
        if (!ledger.requests.post_fast(ledger.hand, memo, handle)) ledger.post(memo, handle, since);
    }
    void complete(Word handle, Ticks end, Ticks blocked) { complete(handle, end, blocked, blocked); }
    void complete(Word handle, Ticks end, Ticks blocked, Ticks inside) {
        if (ledger.requests.complete(handle, end, blocked, inside) == Requests::not_remembered)
            ledger.requests.count_unknown();
    }
    format::Histogram of_bytes(Bytes bytes, std::uint16_t call = send) {
        for (const auto& histogram : records_of<format::Histogram>(recording.image(), format::TableType::histograms))
            if (histogram.call == call && histogram.bin == format::size_bin(bytes)) return histogram;
        ADD_FAILURE() << "no histogram";
        return {};
    }
};

TEST_F(requests, their_time_is_booked_where_they_were_posted) {
    post(0x1000, 5000);
    EXPECT_TRUE(ledger.requests.has_any());

    complete(0x1000, 9000, 1500);

    const auto sends = of_bytes(some_bytes);
    EXPECT_EQ(sends.completed, 1u);
    EXPECT_EQ(sends.in_flight_ticks, 4000u);
    EXPECT_EQ(sends.blocked_ticks, 1500u);
    EXPECT_FALSE(ledger.requests.has_any());
}

// One Waitall of 800 ticks for four: each blocked for a quarter of it, and none was overlapped with anything meanwhile.
TEST_F(requests, completed_together_were_overlapped_only_outside_the_waitall) {
    for (Word i = 1; i <= 4; ++i) post(0x1000 * i, 5000);

    for (Word i = 1; i <= 4; ++i) complete(0x1000 * i, 6000, 200, 800);

    const auto sends = of_bytes(some_bytes);
    EXPECT_EQ(sends.in_flight_ticks, 4000u);
    EXPECT_EQ(sends.blocked_ticks, 800u);
    EXPECT_EQ(sends.inside_ticks, 3200u);
}

TEST_F(requests, that_are_open_are_in_the_profile_and_tell_who_posted_them) {
    const auto open = [&] {
        std::vector<format::Request> found;
        for (const auto& request : records_of<format::Request>(recording.image(), format::TableType::requests))
            if (request.handle != 0) found.push_back(request);
        return found;
    };
    post(0x1000, 4000);
    complete(0x1000, 4500, 10);
    ledger.hand.set_peer(3);
    ledger.hand.set_tag(7);
    ledger.hand.set_comm(some_communicator);
    ledger.hand.begin(call_key(send, some_site), 5000);
    ledger.post(record(ledger, some_bytes, 100, {.call = send}), 0x2000, 5000);

    ASSERT_EQ(open().size(), 1u);
    EXPECT_EQ(open()[0].handle, 0x2000u);
    EXPECT_EQ(open()[0].posted_by, call_key(send, some_site));
    EXPECT_EQ(open()[0].peer, 3);
    EXPECT_EQ(open()[0].tag, 7);
    EXPECT_EQ(open()[0].communicator, static_cast<std::uint64_t>(some_communicator));
    complete(0x2000, 9000, 10);
    EXPECT_TRUE(open().empty());
}

TEST_F(requests, of_two_sizes_are_booked_apart) {
    post(0x1000, 5000, 8);
    post(0x2000, 5000, 1 << 20);

    complete(0x2000, 8000, 0);
    complete(0x1000, 9000, 0);

    EXPECT_EQ(of_bytes(8).in_flight_ticks, 4000u);
    EXPECT_EQ(of_bytes(1 << 20).in_flight_ticks, 3000u);
}

TEST_F(requests, of_somebody_else_are_counted_as_not_remembered) {
    post(0x1000, 5000);

    complete(0x9999, 9000, 100);

    EXPECT_EQ(recording.drops().requests, 1u);
    EXPECT_EQ(of_bytes(some_bytes).completed, 0u);
}

TEST_F(requests, are_completed_once) {
    post(0x1000, 5000);
    post(0x2000, 5000);
    complete(0x1000, 9000, 0);

    complete(0x1000, 9500, 0);

    EXPECT_EQ(of_bytes(some_bytes).completed, 1u);
    EXPECT_EQ(recording.drops().requests, 1u);
}

TEST_F(requests, that_were_freed_are_forgotten) {
    post(0x1000, 5000);

    ledger.requests.forget(0x1000);

    EXPECT_FALSE(ledger.requests.has_any());
    ledger.requests.forget(0x1000);
    EXPECT_FALSE(ledger.requests.has_any());
}

// Open MPI gives one handle to all sends that are complete when they return; each is waited for by it.
TEST_F(requests, posted_under_one_handle_are_all_completed_once) {
    for (Ticks since = 1000; since < 4000; since += 1000) post(0x1000, since);

    for (int i = 0; i < 3; ++i) complete(0x1000, 5000, 100);

    EXPECT_EQ(of_bytes(some_bytes).completed, 3u);
    // The two older ones ended when the next was posted, the last before it was waited for.
    EXPECT_EQ(of_bytes(some_bytes).in_flight_ticks, 1000u + 1000u + 1900u);
    EXPECT_EQ(of_bytes(some_bytes).blocked_ticks, 0u) << "nobody waited for what was complete";
    EXPECT_EQ(of_bytes(some_bytes).inside_ticks, 0u);
    EXPECT_EQ(recording.image().header().drops.requests, 0u);
    EXPECT_FALSE(ledger.requests.has_any());
    EXPECT_FALSE(ledger.requests.has_odd());
}

// While one exchange is waited for, the next one is posted already.
TEST_F(requests, posted_under_one_handle_by_exchanges_that_overlap_are_all_known) {
    Ticks now = 1000;
    const auto post_three = [&] {
        for (int i = 0; i < 3; ++i) post(0x1000, now += 10);
    };
    post_three();
    for (int round = 0; round < 10; ++round) {
        post_three();
        EXPECT_TRUE(ledger.requests.is_shared(0x1000));
        for (int i = 0; i < 3; ++i) complete(0x1000, now += 10, 5);
    }
    for (int i = 0; i < 3; ++i) complete(0x1000, now += 10, 5);

    EXPECT_EQ(of_bytes(some_bytes).completed, 33u);
    EXPECT_EQ(of_bytes(some_bytes).blocked_ticks, 0u);
    EXPECT_EQ(recording.drops().requests, 0u);
    EXPECT_FALSE(ledger.requests.has_any());
    EXPECT_FALSE(ledger.requests.has_shared());
}

// As where an end passed us by, in a pause: the handle means something else when it is given out once more.
TEST_F(requests, whose_handle_was_given_out_again_are_waited_for_again) {
    post(0x1000, 1000);
    post(0x1000, 2000);
    complete(0x1000, 2500, 100);

    post(0x1000, 3000);
    EXPECT_FALSE(ledger.requests.is_shared(0x1000));
    complete(0x1000, 4000, 300);

    EXPECT_EQ(of_bytes(some_bytes).completed, 3u);
    EXPECT_EQ(of_bytes(some_bytes).blocked_ticks, 300u);
    EXPECT_FALSE(ledger.requests.has_any());
    EXPECT_FALSE(ledger.requests.has_shared());
}

TEST_F(requests, under_one_handle_of_which_one_was_freed_are_completed_but_for_that) {
    for (Ticks since = 1000; since < 4000; since += 1000) post(0x1000, since);

    ledger.requests.forget(0x1000);
    for (int i = 0; i < 2; ++i) complete(0x1000, 5000, 100);

    EXPECT_EQ(recording.drops().requests, 0u);
    EXPECT_FALSE(ledger.requests.has_any());
}

// As the handle tells that Open MPI and MPICH give them.
TEST_F(requests, that_were_complete_at_once_were_in_flight_for_as_long_as_their_call) {
    const Memo& memo = record(ledger, some_bytes, 100, Spec{.call = send});
    ledger.requests.post_complete(memo, 40);
    ledger.requests.post_complete(memo, 60);

    EXPECT_EQ(of_bytes(some_bytes).completed, 2u);
    EXPECT_EQ(of_bytes(some_bytes).in_flight_ticks, 100u);
    EXPECT_EQ(of_bytes(some_bytes).blocked_ticks, 0u);
    EXPECT_TRUE(ledger.requests.has_any()) << "they have yet to be waited for";
    ledger.requests.pass_complete();
    EXPECT_TRUE(ledger.requests.has_any());
    ledger.requests.pass_complete();
    EXPECT_FALSE(ledger.requests.has_any());
    ledger.requests.pass_complete();
    EXPECT_FALSE(ledger.requests.has_any()) << "one that another thread posted";
}

TEST_F(requests, that_were_complete_when_they_were_posted_are_not_shown_as_open) {
    post(0x1000, 1000);
    post(0x1000, 2000);

    for (const auto& request : records_of<format::Request>(recording.image(), format::TableType::requests))
        EXPECT_EQ(request.handle, 0u);
    complete(0x1000, 3000, 100);
    complete(0x1000, 3000, 100);
}

TEST_F(requests, of_a_clock_that_ran_backwards_have_no_time_and_are_counted) {
    post(0x1000, 5000);
    post(0x2000, 5000);

    complete(0x1000, 4000, 10);
    complete(0x2000, 6000, 10);

    const auto sends = of_bytes(some_bytes);
    EXPECT_EQ(sends.completed, 2u);
    EXPECT_EQ(sends.in_flight_ticks, 1000u);
    EXPECT_EQ(recording.drops().backwards, 1u);
}

TEST_F(requests, under_one_handle_whose_clock_ran_backwards_have_no_time) {
    post(0x1000, 5000);
    post(0x1000, 4000);  // the first one ends here

    complete(0x1000, 6000, 0);
    complete(0x1000, 6000, 0);

    EXPECT_EQ(of_bytes(some_bytes).completed, 2u);
    EXPECT_EQ(of_bytes(some_bytes).in_flight_ticks, 2000u);
    EXPECT_EQ(recording.drops().backwards, 1u);
}

TEST_F(requests, of_a_freed_place_begin_anew) {
    ledger.set_up(0x1000, some_bytes, send);
    ledger.requests.forget(0x1000);
    post(0x1000, 5000);

    complete(0x1000, 5500, 0);

    EXPECT_FALSE(ledger.requests.has_any()) << "it was not persistent";
    EXPECT_EQ(of_bytes(some_bytes).in_flight_ticks, 500u);
}

// Open MPI does that where it has not quite finished with the last message of a persistent send.
TEST_F(requests, that_get_another_handle_when_they_are_started_are_the_same) {
    ledger.set_up(0x1000, some_bytes, send);
    EXPECT_EQ(ledger.start(0x1000, 0x1000, 5000), some_bytes);
    complete(0x1000, 5600, 60);

    EXPECT_EQ(ledger.start(0x1000, 0x2000, 7000), some_bytes);
    complete(0x2000, 7400, 40);

    EXPECT_FALSE(ledger.requests.knows(0x1000));
    EXPECT_EQ(of_bytes(some_bytes).completed, 2u);
    EXPECT_EQ(of_bytes(some_bytes).in_flight_ticks, 600u + 400u);
    EXPECT_EQ(recording.drops().requests, 0u);
}

TEST(request_table, holds_a_handle_once_whatever_came_and_went_beside_it) {
    const auto table = std::make_unique<RequestTable>();
    // Two handles that want the same place: the later one gets its second choice.
    const auto want_same_place = [](Word a, Word b) {
        const auto probe = std::make_unique<RequestTable>();
        probe->put({a, nullptr, 1, {}});
        RequestTable::Request* place = probe->find(a);
        probe->drop(*place);
        probe->put({b, nullptr, 1, {}});
        return probe->find(b) == place;
    };
    const Word first = 0x1000;
    Word second = first + 1;
    while (!want_same_place(first, second)) ++second;

    table->put({first, nullptr, 1, {}});
    table->put({second, nullptr, 2, {}});
    table->drop(*table->find(first));

    // Still in flight: nothing is changed, and nothing put into the place that became free.
    EXPECT_EQ(table->put({second, nullptr, 3, {}}), RequestTable::Put::shared);
    ASSERT_NE(table->find(second), nullptr);
    EXPECT_EQ(table->find(second)->since, 2u);
    table->find(second)->since = 0;  // booked
    EXPECT_EQ(table->put({second, nullptr, 4, {}}), RequestTable::Put::done);
    EXPECT_EQ(table->find(second)->since, 4u);
    table->drop(*table->find(second));
    EXPECT_EQ(table->find(second), nullptr) << "the older meaning is back";
    EXPECT_TRUE(table->is_empty());
}

TEST_F(requests, persistent_ones_move_bytes_at_every_start) {
    ledger.set_up(0x1000, some_bytes, send);

    for (Ticks round = 1; round <= 3; ++round) {
        EXPECT_EQ(ledger.start(0x1000, 0x1000, 10000 * round), some_bytes);
        complete(0x1000, 10000 * round + 500, 50);
    }

    EXPECT_EQ(of_bytes(some_bytes).completed, 3u);
    EXPECT_EQ(of_bytes(some_bytes).in_flight_ticks, 1500u);
    EXPECT_EQ(of_bytes(some_bytes).blocked_ticks, 150u);
}

TEST_F(requests, a_persistent_one_that_was_not_started_completes_nothing) {
    ledger.set_up(0x1000, some_bytes, send);

    EXPECT_EQ(ledger.requests.complete(0x1000, 9000, 100, 100), 0);

    EXPECT_EQ(of_bytes(some_bytes).completed, 0u);
    EXPECT_EQ(recording.drops().requests, 0u);
}

TEST_F(requests, a_start_of_an_unknown_one_has_no_bytes_and_is_counted) {
    EXPECT_EQ(ledger.start(0x1000, 0x1000, 5000), 0u);
    EXPECT_EQ(recording.drops().requests, 1u);
}

TEST_F(requests, more_than_the_table_holds_are_counted_and_the_others_are_exact) {
    std::vector<Word> handles;
    for (Word i = 0; i < 5000; ++i) handles.push_back(0x7f0000000000 + i * 64);
    for (const Word handle : handles) post(handle, 1000);

    std::mt19937 random(4711);
    std::shuffle(handles.begin(), handles.end(), random);
    for (const Word handle : handles) complete(handle, 3000, 10);

    const auto sends = of_bytes(some_bytes);
    EXPECT_GT(sends.completed, 500u);
    EXPECT_EQ(sends.completed + recording.drops().requests, handles.size());
    EXPECT_EQ(sends.in_flight_ticks, 2000 * sends.completed);
    EXPECT_EQ(sends.blocked_ticks, 10 * sends.completed);
}

TEST_F(requests, a_window_of_outstanding_ones_is_remembered_whole) {
    std::uint64_t completed = 0;
    for (Word i = 0; i < 100000; ++i) {  // handles as MPICH gives them out
        post(static_cast<Word>(0x98000000u + static_cast<unsigned>(i) % 64), static_cast<Ticks>(i + 1));
        if (i < 15) continue;
        complete(static_cast<Word>(0x98000000u + static_cast<unsigned>(i - 15) % 64), static_cast<Ticks>(i) + 10, 1);
        ++completed;
    }

    EXPECT_EQ(of_bytes(some_bytes).completed, completed);
    EXPECT_EQ(recording.drops().requests, 0u);
}

TEST_F(requests, as_many_handles_as_a_waitall_has_can_be_copied) {
    for (const std::int64_t n : {1, 512, 513, 100000, 7}) {
        Word* room = ledger.requests.room_for_handles(n);
        ASSERT_NE(room, nullptr);
        room[0] = room[n - 1] = 1;
    }
}

}  // namespace
}  // namespace mpiprof::test
