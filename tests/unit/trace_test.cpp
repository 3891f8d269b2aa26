// The trace of a thread: its last events, in the order of their ends, with the numbers by which the reporter finds out
// which belong together.
#include "libmpiprof/record/trace.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::TraceEvent;
using format::TraceKind;

constexpr Trace::Side to(std::uint32_t peer, int tag) { return {peer, tag, format::trace_sends}; }
constexpr Trace::Side from(std::uint32_t peer, int tag) { return {peer, tag, format::trace_receives}; }

struct Ring {
    std::uint64_t written;
    std::vector<TraceEvent> events;  // oldest first
};
Ring ring_in(const Image& image, std::uint32_t thread) {
    for (const format::Table& table : tables_of(image)) {
        if (table.type != format::TableType::trace || table.thread != thread) continue;
        const auto* head = reinterpret_cast<const format::TraceHead*>(image.at(table.offset));
        const auto* events = reinterpret_cast<const TraceEvent*>(head + 1);
        const std::uint32_t capacity = table.used - 1;
        Ring ring{head->written, {}};
        for (std::uint64_t n = head->written > capacity ? head->written - capacity : 0; n < head->written; ++n)
            ring.events.push_back(events[n % capacity]);
        return ring;
    }
    return {0, {}};
}

// A ledger with a trace, whose calls begin and end when the test says.
struct trace : testing::Test {
    Recording recording;
    Ledger* ledger = nullptr;

    Ledger& with(std::uint32_t events) {
        recording.records.trace_events = events;
        ledger = Ledger::create(recording.records, 2, format::ThreadKind::other);
        return *ledger;
    }
    const Memo& call(Ticks since, Ticks ticks, const Trace::Side& side = {}, Bytes bytes = 8,
                     const Spec& spec = {.call = send}) {
        ledger->hand.begin(call_key(spec.call, spec.site), since);
        ledger->hand.leave();
        const Memo& memo = record(*ledger, bytes, ticks, spec);
        ledger->trace->call(ledger->hand, memo, bytes, ticks, side);
        return memo;
    }
    Ring ring() { return ring_in(recording.image(), 2); }
    std::vector<std::uint32_t> numbers() {
        std::vector<std::uint32_t> all;
        for (const TraceEvent& event : ring().events) all.push_back(event.sequence);
        return all;
    }
};

TEST_F(trace, there_is_none_unless_it_is_asked_for) {
    EXPECT_FALSE(recording.ledger->trace);
    EXPECT_TRUE(ring_in(recording.image(), 1).events.empty());
}

TEST_F(trace, an_event_says_what_the_call_was) {
    with(1000);
    call(5000, 700, to(3, 42), 96, {.call = send, .communicator_index = 5});

    const TraceEvent event = ring().events.at(0);
    EXPECT_EQ(event.begin, 5000u);
    EXPECT_EQ(event.ticks, 700u);
    EXPECT_EQ(event.bytes, 96u);
    EXPECT_EQ(event.peer, 3u);
    EXPECT_EQ(event.tag, 42);
    EXPECT_EQ(event.call, send);
    EXPECT_EQ(event.communicator, 5u);
    EXPECT_EQ(event.kind, TraceKind::call);
    EXPECT_EQ(event.site, cells_of(recording.image()).at(0).site);
    EXPECT_NE(event.site, 0u);
}

TEST_F(trace, keeps_the_last_events_and_counts_all) {
    with(Trace::fewest_events);
    for (Ticks i = 0; i < 1000; ++i) call(1000 * i, 100 + i);

    const Ring kept = ring();
    EXPECT_EQ(kept.written, 1000u);
    ASSERT_EQ(kept.events.size(), Trace::fewest_events);
    for (std::size_t i = 0; i < kept.events.size(); ++i)
        EXPECT_EQ(kept.events[i].begin, 1000 * (1000 - kept.events.size() + i));
}

TEST_F(trace, messages_are_numbered_by_peer_tag_communicator_and_direction) {
    with(1000);
    for (const Trace::Side& side : {to(1, 0), to(1, 0), to(1, 7), to(2, 0), from(1, 0), to(1, 0)}) call(0, 100, side);
    call(0, 100, to(1, 0), 8, {.call = send, .communicator = 0x84000002, .communicator_index = 2});

    EXPECT_EQ(numbers(), (std::vector<std::uint32_t>{1, 2, 1, 1, 1, 3, 1}));
}

TEST_F(trace, what_is_not_known_is_not_numbered) {
    with(1000);
    for (const Trace::Side& side : {from(1, -1), from(format::peer_any, 3), to(format::peer_unknown, 0), Trace::Side{}})
        call(0, 100, side);
    call(0, 100, to(1, 0), 8, {.call = send, .communicator = 0x84000002, .communicator_index = 0});

    EXPECT_EQ(numbers(), (std::vector<std::uint32_t>(5, 0)));
}

TEST_F(trace, collectives_of_a_communicator_are_numbered_whatever_they_are) {
    with(1000);
    call(0, 100, {}, 8, {.call = reduce});
    call(0, 100, {}, 1 << 20, {.call = reduce});
    call(0, 100, {}, 8, {.call = reduce, .communicator = 0x84000002, .communicator_index = 2});

    EXPECT_EQ(numbers(), (std::vector<std::uint32_t>{1, 2, 1}));
}

TEST_F(trace, as_many_channels_as_there_are_are_numbered) {
    with(1000);
    for (int round = 1; round <= 2; ++round)
        for (int tag = 0; tag < 20'000; ++tag) {
            call(0, 100, to(1, tag));
            if (tag % 1000 != 0) continue;
            EXPECT_EQ(ring().events.back().sequence, static_cast<std::uint32_t>(round)) << tag;
        }
}

TEST_F(trace, a_completed_request_is_told_by_when_it_was_posted) {
    with(1000);
    const Memo& memo = call(5000, 100, from(1, 4));
    ledger->post(memo, 0x1000, 5000);
    ledger->hand.begin(call_key(wait, some_site), 8000);

    EXPECT_TRUE(ledger->trace_completed(0x1000, 9000, [](const auto&) { return Trace::Side{}; }));
    EXPECT_FALSE(ledger->trace_completed(0x2000, 9000, [](const auto&) { return Trace::Side{}; }))
        << "nobody posted that";

    const TraceEvent event = ring().events.at(1);
    EXPECT_EQ(event.kind, TraceKind::completed);
    EXPECT_EQ(event.begin, 5000u);
    EXPECT_EQ(event.ticks, 4000u);
    EXPECT_EQ(event.call, wait);
}

TEST_F(trace, a_receive_from_anybody_is_numbered_when_its_status_tells) {
    with(1000);
    call(1000, 100, from(7, 4));  // the first of that tag
    const Memo& memo = call(5000, 100, from(format::peer_any, 4));
    format::Flow flow{};
    ledger->requests.post_open(ledger->hand, memo, 0x1000,
                               {&flow, some_communicator, some_communicator, 8, 100, 0, -1, 1, false});
    ledger->hand.begin(call_key(wait, some_site), 8000);

    ledger->trace_completed(0x1000, 9000, [](const auto&) { return from(7, 4); });

    EXPECT_EQ(numbers(), (std::vector<std::uint32_t>{1, 0, 2}));
    EXPECT_EQ(ring().events.back().peer, 7u);
    EXPECT_EQ(ring().events.back().tag, 4);
}

TEST_F(trace, a_call_that_failed_is_in_it) {
    with(1000);
    ledger->hand.begin(call_key(send, some_site), 5000);
    ledger->trace->error(ledger->hand, 60);

    EXPECT_EQ(ring().events.at(0).flags, format::trace_failed);
    EXPECT_EQ(ring().events.at(0).ticks, 60u);
}

TEST_F(trace, is_as_long_as_there_is_room_for) {
    with(Trace::most_events);
    EXPECT_EQ(ledger->trace->capacity(), Trace::most_events);

    Ledger* second = Ledger::create(recording.records, 3, format::ThreadKind::other);
    EXPECT_EQ(second->trace->capacity(), Trace::most_events / 4);
    std::size_t others = 0;
    for (std::uint32_t id = 4;
         Ledger* l = id < 40 ? Ledger::create(recording.records, id, format::ThreadKind::other) : nullptr; ++id) {
        if (l->trace) continue;
        ++others;
        EXPECT_GT(record(*l, 8, 100, {}).cell->calls, 0u) << "a thread without a trace counts all the same";
    }
    EXPECT_GT(others, 10u);
}

}  // namespace
}  // namespace mpiprof::test
