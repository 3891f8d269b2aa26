// Requests that one thread posts or sets up and another completes, starts or frees: they go with the thread that has
// them in hand. Both ledgers are this thread's here: one does something after the other.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

constexpr Bytes some_bytes = 1000;

constexpr std::uint32_t funneled = 1, serialized = 2;

struct requests_of_threads : testing::Test {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    Ledger& other = *second();

    // MPI says what it allows when the first thread has made its first call.
    Ledger* second(std::uint32_t level = serialized) {
        recording.image().header().thread_level = level;
        ledger.enter_epoch(7);
        return Ledger::create(recording.records, 2, format::ThreadKind::other);
    }
    void post(Word handle, Ticks since) { post(ledger, handle, since); }
    void post(Ledger& by, Word handle, Ticks since) {
        const Memo& memo = record(by, some_bytes, 100, {.call = send});
        by.hand.begin(call_key(send, some_site), since);
        if (!by.requests.post_fast(by.hand, memo, handle)) by.post(memo, handle, since);
    }
    void complete(Word handle, Ticks end, Ticks ticks) {
        EXPECT_EQ(ledger.complete(handle, end, ticks, ticks), 1) << "its own thread";
    }
    std::size_t shown_as_open() {
        const auto all = records_of<format::Request>(recording.image(), format::TableType::requests);
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const auto& r) { return r.handle; }));
    }
    // As completion.h does it.
    int complete_by_other(Word handle, Ticks end, Ticks ticks) {
        const int done = other.complete(handle, end, ticks, ticks);
        return done != Requests::not_remembered ? done : other.complete_of_others(handle, end, ticks, ticks);
    }
    // What both threads have booked.
    format::Histogram of_both() {
        format::Histogram sum{};
        for (const auto& h : records_of<format::Histogram>(recording.image(), format::TableType::histograms)) {
            if (h.call != send || h.bin != format::size_bin(some_bytes)) continue;
            sum.completed += h.completed;
            sum.in_flight_ticks += h.in_flight_ticks;
            sum.blocked_ticks += h.blocked_ticks;
        }
        return sum;
    }
};

TEST_F(requests_of_threads, are_told_to_the_call_that_posted_them_and_are_not_open_any_more) {
    post(0x1000, 5000);
    EXPECT_TRUE(other.requests.has_any()) << "it may complete what others posted, so it looks";
    EXPECT_EQ(shown_as_open(), 1u);

    EXPECT_EQ(complete_by_other(0x1000, 9000, 1500), 1);

    EXPECT_EQ(of_both().completed, 1u);
    EXPECT_EQ(of_both().in_flight_ticks, 4000u);
    EXPECT_EQ(of_both().blocked_ticks, 1500u);
    EXPECT_EQ(shown_as_open(), 0u);
    EXPECT_FALSE(ledger.requests.knows(0x1000));
}

TEST_F(requests_of_threads, whose_handle_is_given_out_again_begin_anew) {
    for (Ticks round = 1; round <= 3; ++round) {
        post(0x1000, 10000 * round);
        EXPECT_EQ(complete_by_other(0x1000, 10000 * round + 500, 50), 1);
    }
    post(0x1000, 40000);
    complete(0x1000, 40600, 60);

    EXPECT_EQ(of_both().completed, 4u);
    EXPECT_EQ(of_both().in_flight_ticks, 3u * 500 + 600);
    EXPECT_EQ(of_both().blocked_ticks, 3u * 50 + 60);
    EXPECT_EQ(shown_as_open(), 0u);
    EXPECT_FALSE(ledger.requests.has_odd());
}

// It waited for one that nobody remembers, and whose handle was given out again: what is in flight is not older than
// that.
TEST_F(requests_of_threads, that_were_posted_after_the_wait_began_were_in_flight_for_no_longer_than_it) {
    post(0x1000, 5000);

    EXPECT_EQ(complete_by_other(0x1000, 4900, 100), 1);

    EXPECT_EQ(of_both().in_flight_ticks, 100u);
    EXPECT_EQ(recording.drops().backwards, 0u);
}

TEST_F(requests_of_threads, that_share_a_handle_are_completed_once_each) {
    for (Ticks round = 1; round <= 3; ++round) {
        post(0x1000, 10000 * round);
        post(0x1000, 10000 * round + 100);
        EXPECT_EQ(complete_by_other(0x1000, 10000 * round + 400, 100), 1);
        EXPECT_EQ(complete_by_other(0x1000, 10000 * round + 400, 100), 1);
    }

    EXPECT_EQ(of_both().completed, 6u);
    EXPECT_EQ(of_both().in_flight_ticks, 3u * (100 + 200));
    EXPECT_EQ(of_both().blocked_ticks, 0u);
}

TEST_F(requests_of_threads, persistent_ones_may_be_started_by_either) {
    ledger.set_up(0x1000, some_bytes, send);
    for (Ticks round = 1; round <= 4; ++round) {
        Ledger& starting = round % 2 ? other : ledger;
        EXPECT_EQ(starting.start(0x1000, 0x1000, 10000 * round), some_bytes);
        EXPECT_EQ(complete_by_other(0x1000, 10000 * round + 500, 50), 1);
    }

    EXPECT_EQ(of_both().completed, 4u);
    EXPECT_EQ(of_both().in_flight_ticks, 2000u);
    EXPECT_EQ(recording.drops().requests, 0u);
    other.forget_request(0x1000);
    EXPECT_EQ(shown_as_open(), 0u);
}

TEST_F(requests_of_threads, that_another_one_frees_are_not_open_any_more) {
    post(0x1000, 5000);

    other.forget_request(0x1000);

    EXPECT_FALSE(ledger.requests.knows(0x1000));
    EXPECT_EQ(shown_as_open(), 0u);
}

// The second thread was told that its request is done, and comes to say so only after the first has got its handle
// again.
TEST_F(requests_of_threads, whose_handle_the_poster_gets_again_before_they_are_booked_are_all_booked) {
    post(0x1000, 5000);
    post(0x1000, 5500);

    EXPECT_EQ(complete_by_other(0x1000, 5400, 300), 1);
    complete(0x1000, 5900, 100);

    EXPECT_EQ(of_both().completed, 2u);
    EXPECT_EQ(recording.drops().backwards, 0u);
    EXPECT_EQ(recording.drops().requests, 0u);
    EXPECT_EQ(shown_as_open(), 0u);
}

TEST_F(requests_of_threads, that_have_one_handle_in_several_threads_go_newest_first) {
    Ledger& third = *Ledger::create(recording.records, 3, format::ThreadKind::other);
    post(third, 0x1000, 5000);
    post(0x1000, 6000);

    EXPECT_EQ(complete_by_other(0x1000, 6700, 500), 1);

    EXPECT_FALSE(ledger.requests.knows(0x1000));
    EXPECT_TRUE(third.requests.knows(0x1000)) << "it is about to say that its own was done before";
    EXPECT_EQ(of_both().in_flight_ticks, 700u);
}

TEST_F(requests_of_threads, are_not_looked_for_where_mpi_lets_one_thread_call_it) {
    Recording alone;
    alone.image().header().thread_level = funneled;
    alone.ledger->enter_epoch(7);

    EXPECT_FALSE(alone.ledger->requests.has_any());
    EXPECT_TRUE(ledger.requests.has_any());
    EXPECT_TRUE(other.requests.has_any());
}

}  // namespace
}  // namespace mpiprof::test
