// Traces: a ring becomes the events of a thread whatever bytes it has, and the events of all ranks a timeline.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/read/profile_reader.h"
#include "tests/report/profile_builder.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using format::TraceEvent;
using format::TraceKind;
using nlohmann::json;

constexpr std::uint16_t send = 1, receive = 2, isend = 3, irecv = 4, waitall = 5, reduce = 6;  // calls of rank()

TraceEvent event(std::uint16_t call, std::uint64_t begin, std::uint64_t end, TraceKind kind = TraceKind::call) {
    TraceEvent e{};
    e.begin = begin;
    e.ticks = end - begin;
    e.peer = format::peer_unknown;
    e.tag = -1;
    e.call = call;
    e.kind = kind;
    return e;
}
TraceEvent message(std::uint16_t call, std::uint64_t begin, std::uint64_t end, std::uint8_t flags, std::uint32_t peer,
                   std::uint32_t number, int tag = 0) {
    TraceEvent e = event(call, begin, end);
    e.flags = flags;
    e.peer = peer;
    e.tag = tag;
    e.sequence = number;
    e.communicator = 1;
    e.bytes = 8;
    return e;
}
TraceEvent sent(std::uint64_t begin, std::uint64_t end, std::uint32_t to, std::uint32_t number, int tag = 0) {
    return message(send, begin, end, format::trace_sends, to, number, tag);
}
TraceEvent received(std::uint64_t begin, std::uint64_t end, std::uint32_t from, std::uint32_t number, int tag = 0) {
    return message(receive, begin, end, format::trace_receives, from, number, tag);
}

ProfileSpec rank(std::uint32_t number, std::vector<TraceEvent> events, std::uint64_t written = 0) {
    ProfileSpec spec;
    spec.rank = number;
    spec.size = 2;
    const std::vector<CellSpec> cell{{.bytes = 8, .time_ns = 1000}};
    spec.calls = {sends("MPI_Send", cell),     receives("MPI_Recv", cell),      sends("MPI_Isend", cell),
                  receives("MPI_Irecv", cell), completion("MPI_Waitall", cell), collective("MPI_Allreduce", cell)};
    if (written == 0) written = events.size();
    spec.traces = {{.ring = std::move(events), .written = written}};
    return spec;
}

report::ThreadTrace trace_in(const ProfileSpec& spec) {
    const Bytes bytes = build(spec);
    auto profile = report::read_profile(bytes, "p", report::Detail::events);
    if (!profile) throw std::runtime_error(profile.error().line());
    return profile->traces.at(0);
}
std::vector<std::uint64_t> begins_of(const report::ThreadTrace& trace) {
    std::vector<std::uint64_t> begins;
    for (const report::Event& e : trace.events) begins.push_back(e.begin_ns);
    return begins;
}

struct Exported {
    json events;
    std::vector<std::string> remarks;
    std::vector<std::string> complaints;

    std::vector<json> with(const std::string& phase) const {
        std::vector<json> found;
        for (const json& e : events)
            if (e["ph"] == phase) found.push_back(e);
        return found;
    }
    bool says(std::string_view words) const {
        return std::any_of(remarks.begin(), remarks.end(),
                           [&](const std::string& r) { return r.find(words) != std::string::npos; });
    }
};
Exported export_of(const std::vector<ProfileSpec>& specs) {
    std::string text;
    Exported found;
    const auto profile_of = [&](std::uint32_t wanted) -> report::Result<report::Profile> {
        for (const ProfileSpec& spec : specs)
            if (spec.rank == wanted) return report::read_profile(build(spec), "p", report::Detail::events);
        return report::problem("", "no such rank");
    };
    found.remarks = report::find_export("perfetto")
                        ->write(
                            job_of(specs), profile_of, [&](std::string_view part) { text += part; },
                            [&](const report::Problem& problem) { found.complaints.push_back(problem.line()); });
    if (!text.empty()) found.events = json::parse(text)["traceEvents"];
    return found;
}

TEST(trace_reader, a_ring_that_is_not_full_is_read_from_its_beginning) {
    ProfileSpec spec = rank(0, {event(send, 100, 200), event(receive, 300, 450), {}, {}}, 2);
    const report::ThreadTrace trace = trace_in(spec);
    EXPECT_EQ(begins_of(trace), (std::vector<std::uint64_t>{100, 300}));
    EXPECT_EQ(trace.events[1].duration_ns, 150u);
    EXPECT_EQ(trace.lost, 0u);
}

TEST(trace_reader, a_ring_that_went_around_is_read_from_its_oldest_event) {
    const report::ThreadTrace trace = trace_in(
        rank(0, {event(send, 500, 510), event(send, 600, 610), event(send, 300, 310), event(send, 400, 410)}, 10));
    EXPECT_EQ(begins_of(trace), (std::vector<std::uint64_t>{300, 400, 500, 600}));
    EXPECT_EQ(trace.lost, 6u);
}

TEST(trace_reader, what_a_killed_writer_had_begun_to_overwrite_is_left_out) {
    ProfileSpec spec = rank(0,
                            {event(send, 500, 510), event(send, 600, 610), event(send, 300, 310), event(send, 900, 910),
                             event(send, 400, 410)},
                            12);
    spec.state =
        format::State::running;  // events 2 and 3 are the oldest, and 3 is newer than the newest that is counted
    EXPECT_EQ(begins_of(trace_in(spec)), (std::vector<std::uint64_t>{400, 500, 600}));
}

TEST(trace_reader, any_numbers_at_all_are_safe) {
    ProfileSpec spec = rank(0, {event(send, 100, 200), event(send, 100, 200)}, ~std::uint64_t{0});
    TraceEvent wild{};
    std::memset(static_cast<void*>(&wild), 0xff, sizeof wild);
    wild.call = 0;
    wild.kind = TraceKind::completed;
    spec.traces[0].ring.push_back(wild);
    EXPECT_LE(trace_in(spec).events.size(), 3u);
    Bytes bytes = build(spec);
    const TablePlace place = *table_of(bytes, format::TableType::trace, 1);
    for (const std::uint32_t capacity : {4u, 5u, 0xffffffffu}) {
        overwrite(bytes, place.entry + offsetof(format::Table, capacity), capacity);
        EXPECT_TRUE(report::read_profile(bytes, "p", report::Detail::events)) << capacity;
    }
    for (const std::uint32_t used : {0u, 1u}) {
        overwrite(bytes, place.entry + offsetof(format::Table, used), used);
        EXPECT_TRUE(report::read_profile(bytes, "p", report::Detail::events)) << used;
    }
}

TEST(trace_reader, traces_are_read_only_where_they_are_asked_for) {
    EXPECT_TRUE(report::read_profile(build(rank(0, {event(send, 100, 200)})), "p")->traces.empty());
}

TEST(timeline, a_message_is_an_arrow_from_the_begin_of_its_send_to_the_end_of_its_receive) {
    const Exported found = export_of({rank(0, {sent(1000, 1500, 1, 1)}), rank(1, {received(500, 2500, 0, 1)})});
    const auto from = found.with("s"), to = found.with("f");
    ASSERT_EQ(from.size(), 1u);
    ASSERT_EQ(to.size(), 1u);
    EXPECT_EQ(from[0]["id"], to[0]["id"]);
    EXPECT_EQ(from[0]["pid"], 0);
    EXPECT_EQ(to[0]["pid"], 1);
    EXPECT_DOUBLE_EQ(from[0]["ts"].get<double>(), 1.0);
    EXPECT_DOUBLE_EQ(to[0]["ts"].get<double>(), 2.499) << "within the receive";
    EXPECT_TRUE(found.says("1 messages have an arrow"));
}

TEST(timeline, messages_belong_together_by_communicator_tag_and_number) {
    ProfileSpec other =
        rank(1, {received(500, 2000, 0, 1, 7), received(2000, 3000, 0, 1, 8), received(3000, 4000, 0, 2, 7)});
    other.traces[0].ring[2].communicator = 2;
    other.communicators.push_back({.name = "other", .id = 99, .how = format::origin_made});
    const Exported found = export_of({rank(0, {sent(100, 200, 1, 1, 8), sent(300, 400, 1, 2, 7)}), other});
    ASSERT_EQ(found.with("s").size(), 1u);
    EXPECT_DOUBLE_EQ(found.with("f")[0]["ts"].get<double>(), 2.999);
    EXPECT_TRUE(found.says("of 1 sends and 2 receives the other end is not known"));
}

TEST(timeline, an_arrow_ends_where_the_request_is_completed) {
    TraceEvent done = event(waitall, 500, 4000, TraceKind::completed);
    const Exported found = export_of(
        {rank(0, {sent(1000, 1500, 1, 1)}),
         rank(1, {message(irecv, 500, 600, format::trace_receives, 0, 1), done, event(waitall, 3000, 4000)})});
    ASSERT_EQ(found.with("f").size(), 1u);
    EXPECT_DOUBLE_EQ(found.with("f")[0]["ts"].get<double>(), 3.999);
}

TEST(timeline, an_arrow_ends_inside_a_call_whose_clock_ran_backwards) {
    TraceEvent posted = message(irecv, 100, 150, format::trace_receives, 0, 1);
    TraceEvent done = event(waitall, 100, 900, TraceKind::completed);
    const Exported found =
        export_of({rank(0, {sent(50, 60, 1, 1)}), rank(1, {posted, done, event(waitall, 900, 900)})});
    ASSERT_EQ(found.with("f").size(), 1u);
    EXPECT_DOUBLE_EQ(found.with("f")[0]["ts"].get<double>(), 0.9) << "a nanosecond earlier no call is open";
}

TEST(timeline, messages_that_cannot_be_told_apart_have_no_arrow) {
    const Exported found =
        export_of({rank(0, {sent(1000, 1500, 1, 1), sent(1600, 1700, 1, 1)}), rank(1, {received(500, 2500, 0, 1)})});
    EXPECT_TRUE(found.with("s").empty());
    EXPECT_TRUE(found.with("f").empty());
}

TEST(timeline, arrows_that_go_back_in_time_are_counted) {
    const Exported found = export_of({rank(0, {sent(9000, 9500, 1, 1)}), rank(1, {received(500, 2500, 0, 1)})});
    EXPECT_TRUE(found.says("1 of these arrows go backwards in time, by up to 6.5 us"));
}

// The time of day may be set while a job runs, and two processes read it at different moments.
TEST(timeline, ranks_of_a_node_are_placed_by_the_clock_that_nobody_sets) {
    ProfileSpec late = rank(1, {event(reduce, 100, 200)});
    late.start_realtime_ns += 5'000'000;
    const auto ts_of = [&](const std::string& host) {
        late.host = host;
        const Exported found = export_of({rank(0, {event(reduce, 100, 200)}), late});
        return found.with("X").back()["ts"].get<double>();
    };
    EXPECT_DOUBLE_EQ(ts_of("node1"), 0.1) << "the builder's clocks begin together";
    EXPECT_DOUBLE_EQ(ts_of("node2"), 5000.1);
}

// The builder's clocks begin at the same moment; that of rank 1 is 5 ms ahead when MPI begins, and 6 ms after one
// second.
TEST(timeline, measured_differences_of_clocks_are_interpolated) {
    ProfileSpec first = rank(0, {event(reduce, 0, 100)});
    ProfileSpec other = rank(1, {event(reduce, 5'000'000, 5'000'100), event(reduce, 505'500'000, 505'500'100)});
    other.host = "node2";
    const std::uint64_t began = report::read_profile(build(first), "p")->started_monotonic_ns;
    const auto at = [&](std::uint64_t after_ns, const char* rest) { return std::to_string(began + after_ns) + rest; };
    first.facts = {{format::FactKind::process, "clock_offset_at_start", at(0, " 0 0")}};
    other.facts = {{format::FactKind::process, "clock_offset_at_start", at(0, " -5000000 700")},
                   {format::FactKind::process, "clock_offset_at_end", at(1'000'000'000, " -6000000 400")}};
    const Exported found = export_of({first, other});
    std::vector<double> ts;
    for (const json& e : found.with("X")) ts.push_back(e["ts"]);
    ASSERT_EQ(ts.size(), 3u);
    EXPECT_NEAR(ts[1] - ts[0], 0 - 5.0, 1e-3) << "5 ms later on a clock that is 5 ms ahead, and 5 us more by then";
    EXPECT_NEAR(ts[2] - ts[0], 500'500 - 505.5, 1e-3);
    EXPECT_TRUE(found.says("clocks were measured, to within 0.7 us"));

    first.facts.clear();
    EXPECT_TRUE(export_of({first, other}).says("the clocks of some ranks were not measured"));
    first.facts = {{format::FactKind::process, "clock_offset_at_start", "some words"}};
    EXPECT_TRUE(export_of({first, other}).says("the clocks of some ranks were not measured"));
}

TEST(timeline, says_what_is_missing) {
    ProfileSpec without = rank(1, {});
    without.traces.clear();
    const Exported found = export_of({rank(0, {event(send, 100, 200), event(send, 300, 400)}, 7), without});
    EXPECT_TRUE(found.says("no trace of rank 1"));
    EXPECT_TRUE(found.says("5 older events of rank 0 were overwritten by the last 2"));
    without.rank = 0;
    const Exported none = export_of({without});
    EXPECT_TRUE(none.events.is_null());
    EXPECT_EQ(none.complaints, (std::vector<std::string>{"no rank has a trace; run the job with MPIPROF_TRACE=on"}));
}

TEST(timeline, regions_that_were_open_at_either_end_are_drawn_as_far_as_they_are_known) {
    ProfileSpec spec = rank(0, {});
    spec.regions = {{.name = "outer", .durations_ns = {1000}}, {.name = "inner", .durations_ns = {100}, .parent = 1}};
    const auto mark = [](TraceKind kind, std::uint64_t at, std::uint16_t region) {
        TraceEvent e = event(0, at, at, kind);
        e.region = region;
        return e;
    };
    spec.traces = {
        {.ring = {event(send, 100, 200), mark(TraceKind::region_left, 300, 1), mark(TraceKind::region_entered, 400, 1),
                  mark(TraceKind::region_entered, 500, 2), event(send, 600, 900)},
         .written = 5}};
    std::vector<std::tuple<std::string, double, double>> drawn;
    for (const json& e : export_of({spec}).with("X"))
        if (e["cat"] == "region") drawn.emplace_back(e["name"], e["ts"], e["dur"]);
    EXPECT_EQ(drawn, (std::vector<std::tuple<std::string, double, double>>{
                         {"outer", 0.1, 0.2}, {"inner", 0.5, 0.4}, {"outer", 0.4, 0.5}}));
}

}  // namespace
}  // namespace mpiprof::test
