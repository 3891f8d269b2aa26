// Times by events, with a driver that fails where the test says: what is made is booked, given back or destroyed, and
// counted.
#include "libmpiprof/gpu/events.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

using namespace gpu;

// One context and one stream, on which everything happens at once.
struct Script {
    int created = 0;   // events, so far
    int fails_at = 0;  // the creation that fails; 0: none
    bool fails_to_record = false;
    std::set<Word> alive;
};
Script script;

constexpr Word some_context = 7, some_stream = 9;

Driver driver() {
    Driver d{};
    d.current = [](Word* context) { return *context = some_context, 0; };
    d.of_stream = [](Word, Word* context) { return *context = some_context, 0; };
    d.device = [](int* device) { return *device = 2, 0; };
    d.enter = [](Word) { return 0; };
    d.leave = [](Word*) { return 0; };
    d.is_capturing = [](Word, int* status) { return *status = 0, 0; };
    d.exchange_capture_mode = [](int*) { return 0; };
    d.create_event = [](Word* event, unsigned) {
        if (++script.created == script.fails_at) return 2;  // out of memory
        script.alive.insert(*event = script.created);
        return 0;
    };
    d.destroy_event = [](Word event) { return script.alive.erase(event) ? 0 : 1; };
    d.record_event = [](Word, Word) { return script.fails_to_record ? 1 : 0; };
    d.query_event = [](Word) { return 0; };
    d.elapsed_time = [](float* ms, Word, Word) { return *ms = 0.004f, 0; };
    d.platform = Platform::cuda;
    return d;
}

struct events : testing::Test {
    static void SetUpTestSuite() {
        if (runtime.records().image.bytes() == 0) {
            ASSERT_TRUE(runtime.records().image.open_private());
        }
    }
    events() { script = {}; }
    Pair* begin() {
        Context* context = made->context_of(d, some_stream);
        return context ? made->begin(d, *context, some_stream) : nullptr;
    }
    Driver d = driver();
    std::unique_ptr<Events> made = std::make_unique<Events>();
};

TEST_F(events, a_pair_serves_one_launch_after_the_other) {
    for (int i = 0; i < 5; ++i) {
        Pair* pair = begin();
        ASSERT_TRUE(pair);
        ASSERT_TRUE(made->end(d, *pair, some_stream));
        made->commit(*pair, {620, 3, 1, 0, 100, 0, 0, 0});
        made->harvest(d, Events::all);
    }

    EXPECT_EQ(script.alive.size(), 2);
    EXPECT_EQ(made->not_timed, NotTimed{});
    const auto booked = records_of<format::GpuTime>(runtime.records().image, format::TableType::gpu_times);
    ASSERT_EQ(booked.size(), 1);
    EXPECT_EQ(booked[0].operations, 5);
    EXPECT_EQ(booked[0].ns, 20'000);
}

TEST_F(events, the_first_event_is_destroyed_where_the_second_cannot_be_made) {
    script.fails_at = 2;

    EXPECT_FALSE(begin());

    EXPECT_TRUE(script.alive.empty());
    EXPECT_EQ(
        made->not_timed,
        (NotTimed{
            .captured = 0, .nonblocking = 0, .no_room = 0, .failed = 1, .held_up = 0, .untold = 0, .unfinished = 0}));
}

TEST_F(events, a_context_that_fails_three_times_in_a_row_is_asked_nothing_more) {
    d.create_event = [](Word*, unsigned) { return ++script.created, 2; };

    for (int i = 0; i < 5; ++i) EXPECT_FALSE(begin());

    EXPECT_EQ(script.created, 3);
    EXPECT_EQ(made->not_timed.failed, 5);
}

TEST_F(events, what_the_host_held_up_has_no_time_unless_it_is_a_small_part_of_it) {
    const auto take = [&](std::uint64_t held_ns) {
        Pair* pair = begin();
        ASSERT_TRUE(pair);
        ASSERT_TRUE(made->end(d, *pair, some_stream));
        made->held_up(d, *pair, held_ns);
        made->commit(*pair, {621, 3, 1, 0, 100, 0, 0, 0});
        made->harvest(d, Events::all);
    };
    d.elapsed_time = [](float* ms, Word, Word) { return *ms = 100, 0; };
    take(99'000'000);
    EXPECT_EQ(made->not_timed.held_up, 1);
    take(1'000'000);
    EXPECT_EQ(made->not_timed.held_up, 1);
    d.elapsed_time = [](float* ms, Word, Word) { return *ms = 0.02F, 0; };
    take(99'000'000);  // an operation that was shorter than the host did not wait for it
    EXPECT_EQ(made->not_timed.held_up, 1);
    d.elapsed_time = [](float* ms, Word, Word) { return *ms = 100, 0; };
    d.query_event = [](Word event) { return event % 2 == 1 ? 600 : 0; };  // the stream was busy all the time
    take(99'000'000);
    EXPECT_EQ(made->not_timed.held_up, 1);
}

TEST_F(events, what_is_recorded_around_kernels_was_never_held_up) {
    Pair* pair = begin();
    ASSERT_TRUE(pair);
    ASSERT_TRUE(made->begin_again(d, *pair, some_stream));
    ASSERT_TRUE(made->end(d, *pair, some_stream));
    made->held_up(d, *pair, 99'000'000);
    d.elapsed_time = [](float* ms, Word, Word) { return *ms = 100, 0; };
    made->commit(*pair, {622, 3, 1, 0, 100, 0, 0, 0});
    made->harvest(d, Events::all);

    EXPECT_EQ(made->not_timed, NotTimed{});
    const auto booked = records_of<format::GpuTime>(runtime.records().image, format::TableType::gpu_times);
    ASSERT_FALSE(booked.empty());
    EXPECT_EQ(booked.back().source, format::GpuSource::launches);
    EXPECT_EQ(booked.back().kernels, 1);
}

TEST_F(events, more_launches_under_way_than_there_are_pairs_make_no_more_events) {
    unsigned pairs = 0;
    while (begin()) ++pairs;

    EXPECT_EQ(script.alive.size(), 2 * pairs);
    EXPECT_EQ(made->not_timed.no_room, 1);
    EXPECT_FALSE(begin());
    EXPECT_EQ(script.alive.size(), 2 * pairs);
    EXPECT_EQ(made->not_timed.no_room, 2);
}

TEST_F(events, threads_that_need_a_pair_at_the_same_time_leave_no_event_behind) {
    unsigned pairs = 1;
    ASSERT_TRUE(begin());
    Events* const all = made.get();
    // While the driver makes the last pair's second event, somebody else takes the last place.
    static Events* in_between;
    static Driver* inner;
    in_between = all;
    Driver plain = driver();
    inner = &plain;
    while (pairs < 1023) pairs += begin() != nullptr;
    d.create_event = [](Word* event, unsigned flags) {
        if (Events* once = in_between) {
            in_between = nullptr;
            Context* context = once->context_of(*inner, some_stream);
            EXPECT_TRUE(once->begin(*inner, *context, some_stream));
        }
        return inner->create_event(event, flags);
    };

    EXPECT_FALSE(begin());

    EXPECT_EQ(script.alive.size(), 2 * 1024u);
    EXPECT_EQ(
        made->not_timed,
        (NotTimed{
            .captured = 0, .nonblocking = 0, .no_room = 1, .failed = 0, .held_up = 0, .untold = 0, .unfinished = 0}));
}

TEST_F(events, an_error_while_recording_costs_one_time) {
    script.fails_to_record = true;
    EXPECT_FALSE(begin());
    script.fails_to_record = false;

    EXPECT_TRUE(begin());

    EXPECT_EQ(made->not_timed.failed, 1);
}

}  // namespace
}  // namespace mpiprof::test
