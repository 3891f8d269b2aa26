// When a rank was inside MPI: records of threads become bins of the rank, whatever they hold; and what `time` makes of
// them.
#include "report/analysis/analysed.h"
#include "report/read/activity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "report/compare/charts.h"
#include "report/merge/part.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/goldens.h"

namespace mpiprof::test {
namespace {

using report::Activity;
using report::ThreadActivity;
using report::TickScale;

constexpr std::uint64_t ms = 1'000'000;

// 2^20 ticks, which are ns, a bin.
format::Activity record(std::initializer_list<std::uint64_t> ticks, std::uint32_t log2_width = 20) {
    format::Activity record{};
    record.log2_width = log2_width;
    record.current = static_cast<std::uint32_t>(ticks.size() - 1);
    std::size_t i = 0;
    for (const std::uint64_t t : ticks) record.bins[i++] = {t, t * 2};
    return record;
}

std::vector<std::uint64_t> times(const Activity& activity) {
    std::vector<std::uint64_t> times;
    for (const auto& bin : activity.bins) times.push_back(bin.time_ns);
    return times;
}

TEST(activity, what_is_not_added_up_yet_belongs_to_the_current_bin) {
    const ThreadActivity thread{.record = record({5, 0, 7, 0}), .time_ns = 20, .bytes = 30};
    const Activity activity = report::activity_of({&thread, 1}, TickScale(), 4 * ms);
    EXPECT_EQ(times(activity), (std::vector<std::uint64_t>{5, 0, 7, 8}));
    EXPECT_EQ(activity.bins[3].bytes, 6u);
    EXPECT_EQ(activity.width_ns, 1 << 20);
}

TEST(activity, threads_of_different_widths_add_up_in_the_wider_bins) {
    const std::vector<ThreadActivity> threads{{.record = record({1, 2, 3, 4}), .time_ns = 10, .bytes = 20},
                                              {.record = record({10, 20}, 21), .time_ns = 30, .bytes = 60}};
    EXPECT_EQ(times(report::activity_of(threads, TickScale(), 4 * ms)), (std::vector<std::uint64_t>{13, 27}));
}

TEST(activity, a_call_that_has_not_returned_is_there) {
    const ThreadActivity thread{.record = record({5}), .time_ns = 5, .bytes = 0, .in_call_since_ns = 1 << 19};
    const Activity activity = report::activity_of({&thread, 1}, TickScale(), 3 << 20);
    EXPECT_EQ(times(activity), (std::vector<std::uint64_t>{5 + (1 << 19), 1 << 20, 1 << 20}));
}

TEST(activity, bins_that_were_being_added_up_at_the_end_mean_nothing) {
    ThreadActivity thread{.record = record({5, 6}), .time_ns = 11, .bytes = 22};
    thread.record.changes = 3;
    EXPECT_TRUE(report::activity_of({&thread, 1}, TickScale(), ms).bins.empty());
}

TEST(activity, hostile_records_are_safe) {
    ThreadActivity thread{.record = record({1}), .time_ns = 0, .bytes = 0, .in_call_since_ns = 1};
    thread.record.current = 0xffffffff;
    for (auto& bin : thread.record.bins) bin = {~std::uint64_t{0}, ~std::uint64_t{0}};
    for (const std::uint32_t log2_width : {0u, 1u, 20u, 56u, 57u, 64u, 0xffffffffu}) {
        thread.record.log2_width = log2_width;
        const Activity activity = report::activity_of({&thread, 1}, TickScale(), ~std::uint64_t{0});
        EXPECT_LE(activity.bins.size(), 4096u) << log2_width;
        EXPECT_EQ(activity.bins.empty(), log2_width == 0 || log2_width > 56) << log2_width;
    }
}

// ---- merging ----

report::Profile profile_of(std::uint32_t rank) {
    report::Profile profile;
    profile.rank = rank;
    profile.activity = {.width_ns = 1, .bins = {{.time_ns = rank, .bytes = 0}}};
    return profile;
}

TEST(activity, of_very_many_ranks_the_same_are_kept_in_any_order) {
    const auto one_by_one = report::activities_part();
    for (std::uint32_t rank = 0; rank < 10'000; ++rank) one_by_one->add({.profile = profile_of(rank), .calls = {}});
    const std::unique_ptr<report::MergePart> halves[] = {report::activities_part(), report::activities_part()};
    for (std::uint32_t rank = 10'000; rank-- > 0;)
        halves[rank % 3 == 0]->add({.profile = profile_of(rank), .calls = {}});
    halves[0]->absorb(*halves[1]);
    report::Job a, b;
    report::Finishing end_a{.job = a, .order = {}}, end_b{.job = b, .order = {}};
    one_by_one->finish(end_a);
    halves[0]->finish(end_b);
    ASSERT_EQ(a.activity_stride, 4u);
    ASSERT_EQ(b.activity_stride, 4u);
    ASSERT_EQ(a.activities.size(), 2500u);
    ASSERT_EQ(b.activities.size(), 2500u);
    for (std::size_t i = 0; i < a.activities.size(); ++i) {
        EXPECT_EQ(a.activities[i].rank, 4 * i);
        EXPECT_EQ(b.activities[i].rank, 4 * i);
    }
}

// ---- the section ----

// Rank 0 is inside MPI in the second half, rank 1, which began a quarter later, all the time.
report::Job two_ranks() {
    report::Job job;
    job.size = 2;
    job.hosts = {"nid1"};
    job.nodes = {"node 1"};
    const std::uint64_t second = 1'000'000'000;
    job.ranks.resize(2);
    for (std::uint32_t r = 0; r < 2; ++r) {
        job.ranks[r].rank = r;
        job.ranks[r].started_at_ns = (1000 + r) * second;
        job.ranks[r].elapsed_ns = (4 - r) * second;
    }
    const report::ActivityBin nothing{}, full{.time_ns = second, .bytes = 1'000'000};
    job.activities = {{.rank = 0, .activity = {.width_ns = 1e9, .bins = {nothing, nothing, full, full}}},
                      {.rank = 1, .activity = {.width_ns = 1e9, .bins = {full, full, full}}}};
    return job;
}

TEST(time_section, shows_periods_and_ranks) {
    const report::Job job = two_ranks();
    const auto tables = report::find_section("time")->answer(job, {});
    ASSERT_TRUE(tables);
    expect_golden(
        "screens/time_of_two_ranks.txt",
        report::find_view("text")->show({"time", *tables}, {.width = 80, .has_utf8 = true, .has_color = false}));
}

TEST(time_section, periods_add_up_to_the_totals) {
    const report::Job job = two_ranks();
    report::Question for_data;
    for_data.is_for_screen = false;
    const auto tables = report::find_section("time")->answer(job, for_data);
    ASSERT_TRUE(tables);
    const report::Table& periods = tables->front();
    ASSERT_EQ(periods.rows.size(), 60u);
    double time = 0, bytes = 0;
    for (std::size_t c = 0; c < periods.columns.size(); ++c)
        for (const auto& row : periods.rows) {
            if (periods.columns[c].id == "mpi_ns") time += std::get<double>(row[c]);
            if (periods.columns[c].id == "message_bytes") bytes += std::get<double>(row[c]);
        }
    EXPECT_NEAR(time, 5e9, 1);
    EXPECT_NEAR(bytes, 5e6, 1e-3);
}

TEST(time_plot, map_and_curve_are_those_of_the_tables) {
    const report::Job job = two_ranks();
    report::Question for_data;
    for_data.is_for_screen = false;
    const auto tables = report::find_section("time")->answer(job, for_data);
    ASSERT_TRUE(tables);
    const report::Table &periods = tables->at(0), &ranks = tables->at(1);
    const auto column = [](const report::Table& table, std::string_view id) {
        return static_cast<std::size_t>(std::find_if(table.columns.begin(), table.columns.end(),
                                                     [&](const report::Column& c) { return c.id == id; }) -
                                        table.columns.begin());
    };
    const report::HeatMap map = report::time_map(job);
    ASSERT_EQ(map.lines.size(), ranks.rows.size());
    const std::size_t shares = column(ranks, "share_by_period");
    for (std::size_t i = 0; i < map.lines.size(); ++i) {
        const auto& expected = std::get<report::Series>(ranks.rows[i][shares]);
        ASSERT_EQ(map.lines[i].values.size(), expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_DOUBLE_EQ(map.lines[i].values[k], expected[k]);
    }
    report::Chart chart;
    report::add_time(chart, job, "run");
    ASSERT_EQ(chart.curves.size(), 1u);
    ASSERT_EQ(chart.curves[0].points.size(), periods.rows.size());
    const std::size_t share = column(periods, "mpi_share");
    for (std::size_t i = 0; i < periods.rows.size(); ++i)
        EXPECT_DOUBLE_EQ(chart.curves[0].points[i].y, std::get<double>(periods.rows[i][share]));
    EXPECT_NE(report::svg_of(map).find("</svg>"), std::string::npos);
    ASSERT_EQ(map.ticks.size(), 5u) << "4 s, from 0 on";
    EXPECT_NEAR(map.ticks.back().at, 1, 1e-9);
    EXPECT_EQ(chart.of, map.of);
    report::add_time(chart, job, "again");
    EXPECT_EQ(chart.of, map.of + ", and others");
}

TEST(time_section, says_when_recording_was_off) {
    report::Job job = two_ranks();
    const std::uint64_t second = 1'000'000'000;
    job.ranks[0].paused_ns = second + second / 2;
    job.activities[0].pauses = {.width_ns = 1e9,
                                .bins = {{.time_ns = second, .bytes = 0}, {.time_ns = second / 2, .bytes = 0}}};
    const auto tables = report::find_section("time")->answer(job, {});
    ASSERT_TRUE(tables);
    EXPECT_EQ(report::find_view("text")->show({"time", *tables}, {.width = 80, .has_utf8 = true, .has_color = false}),
              R"(     FROM       TO  %WALL                            MESSAGES
  0.000 s  0.333 s      -                                   -
  0.333 s  0.667 s      -                                   -
  0.667 s  1.000 s      -                                   -
  1.000 s  1.333 s  66.7%  ████████████████          1.0 MB/s
  1.333 s  1.667 s  66.7%  ████████████████          1.0 MB/s
  1.667 s  2.000 s  66.7%  ████████████████          1.0 MB/s
  2.000 s  2.333 s   100%  ████████████████████████  2.0 MB/s
  2.333 s  2.667 s   100%  ████████████████████████  2.0 MB/s
  2.667 s  3.000 s   100%  ████████████████████████  2.0 MB/s
  3.000 s  3.333 s   100%  ████████████████████████  2.0 MB/s
  3.333 s  3.667 s   100%  ████████████████████████  2.0 MB/s
  3.667 s  4.000 s   100%  ████████████████████████  2.0 MB/s
  %WALL: share of the time of all ranks that is inside MPI; times are since the
  first MPI_Init

  RANKS OVER TIME
  RANK  %WALL  FROM START TO END
  0     80.0%  ---------------               ██████████████████████████████
  1      100%                 █████████████████████████████████████████████
  darker: more time inside MPI; 4.000 s from left to right
  recording was paused for 21.4% of the run: - where it was for nearly all of a
  period, and not included in a rank's %WALL
)");
}

TEST(time_section, says_so_where_nothing_is_known) {
    report::Job job;
    job.is_text = true;
    const auto tables = report::find_section("time")->answer(job, {});
    ASSERT_TRUE(tables);
    ASSERT_EQ(tables->front().notes.size(), 1u);
    EXPECT_EQ(tables->front().notes[0].parts.front().text, "mpitrace's text does not say when its calls were made");
}

}  // namespace
}  // namespace mpiprof::test
