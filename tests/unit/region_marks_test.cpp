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
    void begin(const std::string& name, Ticks now) { regions.begin(image, name.c_str(), now); }
    bool end(const char* name, Ticks now) { return regions.end(image, name, now); }
    std::vector<format::Region> records() {
        return test::records_of<format::Region>(image, format::TableType::regions);
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
        regions.iterate(image, 8, 500, at + 20);
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
    regions.iterate(image, 8, 500, 600);
    regions.pass_iteration(5'000);
    regions.iterate(image, 8, 500, 5'200);
    EXPECT_EQ(one("iteration").entered, 2u);
    EXPECT_EQ(one("iteration").ticks, 300u);
}

TEST_F(region_marks, a_region_without_a_name_ends_by_its_name) {
    begin("", 10);
    EXPECT_TRUE(end("", 20));
    EXPECT_EQ(regions.current(), 0);
}

TEST_F(region_marks, a_reset_is_a_region_that_lasts_to_the_next_one) {
    begin("solve", 100);
    regions.reset(image, 200);
    regions.reset(image, 500);
    EXPECT_EQ(one("solve").ticks, 100u);
    EXPECT_EQ(one("after reset 1").ticks, 300u);
    EXPECT_EQ(one("after reset 2").inside_since, 500u);
}

}  // namespace
}  // namespace mpiprof
