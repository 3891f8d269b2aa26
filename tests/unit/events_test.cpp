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
        made->commit(*pair, {620, 3, 1, 0, 100, 0, 0});
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
    EXPECT_EQ(made->not_timed, (NotTimed{.captured = 0, .nonblocking = 0, .no_room = 0, .failed = 1, .unfinished = 0}));
}

TEST_F(events, a_context_whose_events_cannot_be_made_is_asked_nothing_more) {
    script.fails_at = 1;
    EXPECT_FALSE(begin());

    for (int i = 0; i < 3; ++i) EXPECT_FALSE(begin());

    EXPECT_EQ(script.created, 1);
    EXPECT_EQ(made->not_timed.failed, 4);
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
    EXPECT_EQ(made->not_timed, (NotTimed{.captured = 0, .nonblocking = 0, .no_room = 1, .failed = 0, .unfinished = 0}));
}

TEST_F(events, an_error_while_recording_ends_the_context) {
    script.fails_to_record = true;
    EXPECT_FALSE(begin());
    script.fails_to_record = false;

    EXPECT_FALSE(begin());

    EXPECT_EQ(made->not_timed.failed, 2);
}

}  // namespace
}  // namespace mpiprof::test
