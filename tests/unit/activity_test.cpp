// Communication over time: whatever calls there are and however long the run, the bins say when the time was spent, and
// together with what is not added up yet they are what the cells hold.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

constexpr Ticks width = Ticks{1} << 26;  // of a bin at first

// A ledger whose calls begin and end when the test says.
struct Timed : Recording {
    void call(Ticks since, Ticks ticks, Bytes bytes = 8, const Spec& spec = {}) {
        ledger->hand.begin(call_key(spec.call, spec.site), since);
        ledger->hand.leave();
        record(*ledger, bytes, ticks, spec);
        if (ledger->turns_bin(since + ticks)) ledger->turn_bin(bytes, ticks);
    }
    format::Activity bins() { return records_of<format::Activity>(image(), format::TableType::activity).at(0); }
    Ticks sum() {
        Ticks all = 0;
        for (const format::Activity now = bins(); const auto& bin : now.bins) all += bin.ticks;
        return all;
    }
};

TEST(activity, calls_of_one_bin_are_added_up_when_it_is_over) {
    Timed t;
    t.call(1000, 100, 8);
    t.call(2000, 200, 16);
    EXPECT_EQ(t.sum(), 0u);

    t.call(width + 10, 50, 4);

    EXPECT_EQ(t.bins().bins[0].ticks, 300u);
    EXPECT_EQ(t.bins().bins[0].bytes, 24u);
    EXPECT_EQ(t.bins().bins[1].ticks, 50u);
    EXPECT_EQ(t.bins().bins[1].bytes, 4u);
    EXPECT_EQ(t.bins().current, 1u);
}

TEST(activity, a_long_call_is_spread_over_the_bins_that_it_lasted) {
    Timed t;
    t.call(width / 2, 3 * width, 100);

    const format::Activity a = t.bins();
    EXPECT_EQ(a.bins[0].ticks, width / 2);
    EXPECT_EQ(a.bins[1].ticks, width);
    EXPECT_EQ(a.bins[2].ticks, width);
    EXPECT_EQ(a.bins[3].ticks, width / 2);
    EXPECT_EQ(a.bins[0].bytes, 0u);
    EXPECT_EQ(a.bins[3].bytes, 100u) << "bytes count where the call ended";
}

TEST(activity, a_run_of_any_length_has_the_same_number_of_bins) {
    Timed t;
    Ticks booked = 0;
    for (Ticks at = 0; at < 5000 * width; at += width) {
        t.call(at + 10, 1000, 1);
        booked += 1000;
    }

    const format::Activity a = t.bins();
    EXPECT_GE(a.current, format::activity_bins / 2 - 1);
    EXPECT_EQ(a.log2_width, 26u + 6);  // 5000 / 128 < 64
    EXPECT_EQ(a.changes % 2, 0u);
    EXPECT_LT(booked - t.sum(), 64'000u) << "what is not added up yet is of the current bin";
    for (unsigned i = 0; i + 1 < a.current; ++i) EXPECT_EQ(a.bins[i].ticks, 64'000u) << i;
}

TEST(activity, one_call_that_outlasts_all_bins_is_spread_over_them) {
    Timed t;
    t.call(0, 1000 * width);
    EXPECT_EQ(t.sum(), 1000 * width);
    EXPECT_EQ(t.bins().log2_width, 29u);
    EXPECT_EQ(t.bins().bins[10].ticks, 8 * width);
}

TEST(activity, a_call_that_moves_no_messages_is_time_without_bytes) {
    Timed t;
    t.call(width, 10, 100, {.call = wait});
    EXPECT_EQ(t.bins().bins[1].ticks, 10u);
    EXPECT_EQ(t.bins().bins[1].bytes, 0u);
}

}  // namespace
}  // namespace mpiprof::test
