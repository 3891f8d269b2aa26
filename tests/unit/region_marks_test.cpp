// Regions and iterations that a program marks, as they lie in the profile: whatever it nests, leaves open or has too
// many of.
#include <gtest/gtest.h>

#include <map>

#include "libmpiprof/record/regions.h"
#include "tests/unit/image_tables.h"

namespace mpiprof {
namespace {

struct region_marks : testing::Test {
    void SetUp() override { ASSERT_TRUE(image.open_private()); }
    void begin(const std::string& name, Ticks now) { regions.begin(image, name.c_str(), at(now)); }
    static format::Anchor at(Ticks now) { return {now, now * 1000, 0}; }  // a tick is a microsecond
    bool end(const char* name, Ticks now) { return regions.end(image, name, now); }
    std::vector<format::Region> records() {
        return test::records_of<format::Region>(image, format::TableType::regions);
    }
    std::vector<format::Iterations> single_times() {
        return test::records_of<format::Iterations>(image, format::TableType::iterations);
    }
    // By name; those of one name are told apart by the caller.
    format::Region one(const std::string& name) {
        for (const format::Region& region : records())
            if (region.name == name) return region;
        return {};
    }
    Image image;
    Regions regions;
};

TEST_F(region_marks, nested_regions_have_their_own_times) {
    for (Ticks at = 1000; at < 4000; at += 1000) {
        begin("solve", at);
        begin("halo", at + 100);
        EXPECT_TRUE(end("halo", at + 130));
        EXPECT_TRUE(end("solve", at + 500));
    }
    EXPECT_EQ(one("solve").entered, 3u);
    EXPECT_EQ(one("solve").ticks, 1500u);
    EXPECT_EQ(one("halo").ticks, 90u);
    EXPECT_EQ(one("halo").min_ticks, 30u);
    EXPECT_STREQ(records()[one("halo").parent].name, "solve");
    EXPECT_EQ(regions.current(), 0);
}

TEST_F(region_marks, a_function_that_calls_itself_has_a_region_for_each_level) {
    begin("walk", 10);
    begin("walk", 20);
    EXPECT_TRUE(end("walk", 30));
    EXPECT_TRUE(end("walk", 50));
    std::vector<std::uint64_t> ticks;
    for (const format::Region& region : records())
        if (region.entered) ticks.push_back(region.ticks);
    EXPECT_EQ(ticks, (std::vector<std::uint64_t>{40, 10}));
}

TEST_F(region_marks, more_regions_than_are_told_apart_leave_the_times_of_the_others_alone) {
    begin("around", 1000);
    for (unsigned i = 0; i < 1100; ++i) {
        begin("part " + std::to_string(i), 2000 + 10 * i);
        begin("inner", 2001 + 10 * i);
        EXPECT_TRUE(end("inner", 2002 + 10 * i));
        EXPECT_TRUE(end(("part " + std::to_string(i)).c_str(), 2005 + 10 * i)) << i;
    }
    EXPECT_TRUE(end("around", 20'000));
    begin("afterwards", 20'001);
    EXPECT_TRUE(end("afterwards", 20'002)) << "it has no room, but its end is no mistake of the program";
    EXPECT_EQ(regions.current(), 0);
    for (const format::Region& region : records()) EXPECT_LE(region.ticks, 19'000u) << region.name;
    EXPECT_EQ(one("around").ticks, 19'000u);
    EXPECT_GT(image.header().drops.strings, 0u);
}

TEST_F(region_marks, deeper_than_are_told_apart_ends_pair_with_their_begins) {
    for (Ticks depth = 0; depth < 40; ++depth) begin("level", 100 + depth);
    for (Ticks depth = 0; depth < 40; ++depth) EXPECT_TRUE(end("level", 1000 + depth)) << depth;
    EXPECT_FALSE(end("level", 2000));
    EXPECT_EQ(regions.current(), 0);
}

TEST_F(region_marks, a_region_named_iteration_is_not_the_iterations) {
    for (Ticks at = 1000; at < 4000; at += 1000) {
        begin("iteration", at);
        EXPECT_TRUE(end("iteration", at + 10));
        regions.iterate(image, 8, this->at(500), this->at(at + 20));
    }
    std::map<bool, format::Region> by_kind;
    for (const format::Region& region : records())
        if (region.entered) by_kind[region.flags & format::is_iteration] = region;
    EXPECT_EQ(by_kind[false].entered, 3u);
    EXPECT_EQ(by_kind[false].ticks, 30u);
    EXPECT_EQ(by_kind[true].entered, 3u);
    EXPECT_EQ(by_kind[true].ticks, 2520u);
    EXPECT_EQ(by_kind[true].items, 24u);
}

TEST_F(region_marks, iterations_while_recording_is_off_are_in_no_figure) {
    regions.iterate(image, 8, at(500), at(600));
    regions.pass_iteration(at(5'000));
    regions.iterate(image, 8, at(500), at(5'200));
    EXPECT_EQ(one("iteration").entered, 2u);
    EXPECT_EQ(one("iteration").ticks, 300u);
}

TEST_F(region_marks, an_iteration_begins_where_its_region_was_entered) {
    begin("resnet50", 1'000);
    begin("1 GPU", 50'000);
    for (Ticks now = 50'100; now <= 50'300; now += 100) regions.iterate(image, 32, at(500), at(now));
    EXPECT_TRUE(end("1 GPU", 60'000));
    begin("2 GPUs", 90'000);
    regions.iterate(image, 32, at(500), at(90'200));
    const auto times = single_times();
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(std::vector<std::uint32_t>(times[0].us, times[0].us + 3), (std::vector<std::uint32_t>{100, 100, 100}));
    EXPECT_EQ(times[0].marked, 3u);
    EXPECT_EQ(times[1].us[0], 200u) << "what happened between two regions is no part of an iteration";
    EXPECT_EQ(std::string(records()[times[1].region].name), "iteration");
    EXPECT_STREQ(records()[records()[times[1].region].parent].name, "2 GPUs");
}

TEST_F(region_marks, of_more_than_4096_iterations_every_second_is_kept) {
    Ticks now = 1000;
    const auto mark = [&](unsigned us) { regions.iterate(image, 1, at(1000), at(now += us)); };
    for (unsigned i = 0; i < 4096; ++i) mark(10 + i);
    EXPECT_EQ(single_times()[0].stride, 1u);
    EXPECT_EQ(single_times()[0].us[4095], 4105u);
    for (unsigned i = 4096; i < 10'000; ++i) mark(10 + i);
    const auto times = single_times()[0];
    EXPECT_EQ(times.marked, 10'000u);
    EXPECT_EQ(times.stride, 4u);
    EXPECT_EQ(times.changes % 2, 0u);
    for (unsigned i = 0; i < 2500; ++i) ASSERT_EQ(times.us[i], 10 + 4 * i) << i;
}

TEST_F(region_marks, who_marks_no_iterations_has_no_space_for_them) {
    begin("solve", 10);
    EXPECT_TRUE(end("solve", 20));
    EXPECT_TRUE(single_times().empty());
}

TEST_F(region_marks, a_region_without_a_name_ends_by_its_name) {
    begin("", 10);
    EXPECT_TRUE(end("", 20));
    EXPECT_EQ(regions.current(), 0);
}

TEST_F(region_marks, a_reset_is_a_region_that_lasts_to_the_next_one) {
    begin("solve", 100);
    regions.reset(image, at(200));
    regions.reset(image, at(500));
    EXPECT_EQ(one("solve").ticks, 100u);
    EXPECT_EQ(one("after reset 1").ticks, 300u);
    EXPECT_EQ(one("after reset 2").inside_since, 500u);
}

}  // namespace
}  // namespace mpiprof
