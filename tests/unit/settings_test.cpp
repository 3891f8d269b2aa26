// MPIPROF_*: values, lists of ranks, and what is said about names and values that are wrong.
#include "libmpiprof/process/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/unit/image_tables.h"
#include "tests/unit/said.h"

namespace mpiprof {
namespace {

struct settings : testing::Test {
    void TearDown() override {
        for (const char* name :
             {"DIR", "JOB", "DISABLE", "VERBOSE", "TEXT", "CLOCK", "STORE", "PERIOD", "DIRECTORY", "TRACE"})
            unsetenv(("MPIPROF_" + std::string(name)).c_str());
    }
    static void set(const char* name, const char* value) { setenv(name, value, 1); }
    static std::string what_is_said() {
        return said_while([] { report_wrong_settings(); });
    }
};

TEST_F(settings, without_environment_the_defaults_are_in_force) {
    EXPECT_STREQ(value_of(Setting::directory), ".");
    EXPECT_STREQ(value_of(Setting::text), "0");
    EXPECT_STREQ(value_of(Setting::clock), "auto");
    EXPECT_FALSE(is_on(Setting::disable));
    EXPECT_EQ(what_is_said(), "");
}

TEST_F(settings, an_empty_value_is_the_default) {
    set("MPIPROF_CLOCK", "");
    set("MPIPROF_DIR", "");

    EXPECT_STREQ(value_of(Setting::clock), "auto");
    EXPECT_STREQ(value_of(Setting::directory), ".");
    EXPECT_EQ(what_is_said(), "");
}

TEST_F(settings, switches_are_on_by_the_usual_words) {
    for (const char* on : {"1", "yes", "on"}) {
        set("MPIPROF_VERBOSE", on);
        EXPECT_TRUE(is_on(Setting::verbose)) << on;
    }
    for (const char* off : {"0", "no", "off", "maybe", "11"}) {
        set("MPIPROF_VERBOSE", off);
        EXPECT_FALSE(is_on(Setting::verbose)) << off;
    }
}

TEST_F(settings, a_period_is_in_seconds_with_decimals) {
    constexpr std::uint64_t ms = 1'000'000;
    EXPECT_EQ(seconds_of(Setting::period, 7), 7u) << "auto";
    const std::map<const char*, std::uint64_t> periods{
        {"2", 2000 * ms}, {"0.25", 250 * ms}, {"0", 0}, {"1.000000001", 1000 * ms + 1}};
    for (const auto& [text, ns] : periods) {
        set("MPIPROF_PERIOD", text);
        EXPECT_EQ(seconds_of(Setting::period, 7), ns) << text;
    }
}

TEST_F(settings, a_period_that_is_none_is_said_and_the_store_decides) {
    for (const char* text : {"fast", "-1", "1s", ".5", "2.", "99999999999"}) {
        set("MPIPROF_PERIOD", text);
        EXPECT_EQ(seconds_of(Setting::period, 7), 7u) << text;
        EXPECT_EQ(what_is_said(), "mpiprof: MPIPROF_PERIOD=" + std::string(text) +
                                      " is not understood (seconds such as 5 or 0.5); using auto\n");
    }
}

TEST_F(settings, a_value_that_is_no_choice_is_said_once_and_the_default_is_used) {
    set("MPIPROF_CLOCK", "sundial");

    EXPECT_STREQ(value_of(Setting::clock), "auto");
    EXPECT_EQ(what_is_said(), "mpiprof: MPIPROF_CLOCK=sundial is not understood (auto tsc mono); using auto\n");
}

TEST_F(settings, part_of_a_choice_is_no_choice) {
    for (const char* wrong : {"t", "ts", "tsc mono", "TSC", "auto ", "automatic"}) {
        set("MPIPROF_CLOCK", wrong);
        EXPECT_STREQ(value_of(Setting::clock), "auto") << wrong;
        EXPECT_NE(what_is_said(), "") << wrong;
    }
}

TEST_F(settings, a_name_that_does_not_exist_is_said_once) {
    set("MPIPROF_DIRECTORY", "/scratch");

    EXPECT_EQ(what_is_said(), "mpiprof: unknown setting MPIPROF_DIRECTORY is ignored; docs/settings.md lists them\n");
}

TEST_F(settings, the_beginning_of_a_name_is_not_the_name) {
    set("MPIPROF_DIR", "/scratch");
    set("MPIPROF_DI", "/scratch");

    EXPECT_EQ(what_is_said(), "mpiprof: unknown setting MPIPROF_DI is ignored; docs/settings.md lists them\n");
    unsetenv("MPIPROF_DI");
}

TEST_F(settings, a_hostile_value_cannot_draw_on_the_terminal) {
    set("MPIPROF_CLOCK", "\033[2J\nmpiprof: all is well");

    const std::string said = what_is_said();

    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
    EXPECT_EQ(said.find('\033'), std::string::npos);
}

TEST_F(settings, what_is_in_force_is_in_the_profile) {
    set("MPIPROF_TEXT", "0,4-7");
    set("MPIPROF_CLOCK", "sundial");
    Image image;
    ASSERT_TRUE(image.open_private());

    record_settings(image);

    std::map<std::string, std::pair<std::string, unsigned>> recorded;
    for (const auto& row : test::records_of<format::Setting>(image, format::TableType::settings))
        recorded[row.name] = {row.value, row.source};
    EXPECT_EQ(recorded.size(), static_cast<std::size_t>(Setting::count));
    EXPECT_EQ(recorded["TEXT"], std::pair(std::string("0,4-7"), 1u));
    EXPECT_EQ(recorded["DIR"], std::pair(std::string("."), 0u));
    EXPECT_EQ(recorded["CLOCK"], std::pair(std::string("auto"), 0u));
}

TEST_F(settings, a_value_too_long_for_the_profile_is_marked_as_cut) {
    set("MPIPROF_JOB", std::string(200, 'x').c_str());
    Image image;
    ASSERT_TRUE(image.open_private());

    record_settings(image);

    for (const auto& row : test::records_of<format::Setting>(image, format::TableType::settings))
        if (std::string(row.name) == "JOB") {
            EXPECT_EQ(row.value, std::string(sizeof row.value - 4, 'x') + "...");
        }
}

// ---- lists of ranks ----

std::string ranks_in(const char* list) {
    std::string named;
    for (unsigned rank = 0; rank < 20; ++rank)
        if (names_rank(list, rank)) named += (named.empty() ? "" : " ") + std::to_string(rank);
    return named;
}

TEST_F(settings, a_list_names_ranks_and_ranges) {
    EXPECT_EQ(ranks_in("0"), "0");
    EXPECT_EQ(ranks_in("0,3,8-11"), "0 3 8 9 10 11");
    EXPECT_EQ(ranks_in("11-8"), "");
    EXPECT_EQ(ranks_in("1,1,1"), "1");
    EXPECT_EQ(ranks_in("none"), "");
    EXPECT_TRUE(names_rank("all", 4711));
    EXPECT_TRUE(names_rank("100000-200000", 131071));
    EXPECT_FALSE(names_rank("1-2", 12));
}

TEST_F(settings, a_number_that_is_too_large_names_nobody_else) {
    EXPECT_EQ(ranks_in("4294967296"), "");
    EXPECT_EQ(ranks_in("18446744073709551617"), "");
}

TEST_F(settings, what_is_no_list_of_ranks_is_said) {
    for (const char* wrong :
         {"rank0", "0;1", "0 1", "ALL", "-", ",", "3-", "-3", "1-2-3", "1,,2", "1,", "5-4", "4294967296"}) {
        set("MPIPROF_TEXT", wrong);
        EXPECT_EQ(what_is_said(), "mpiprof: MPIPROF_TEXT=" + std::string(wrong) +
                                      " is not understood (a list of ranks such as 0,4-7, all or none); using 0\n");
    }
    for (const char* right : {"0", "0,4-7", "all", "none", "3-3", "7,1"}) {
        set("MPIPROF_TEXT", right);
        EXPECT_EQ(what_is_said(), "") << right;
    }
}

TEST_F(settings, events_of_a_trace_are_a_number_with_a_unit) {
    const auto events = [](const char* value) {
        set("MPIPROF_TRACE", value);
        return events_of(Setting::trace);
    };
    EXPECT_EQ(events(""), 0u);
    EXPECT_EQ(events("off"), 0u);
    EXPECT_EQ(events("on"), 65536u);
    EXPECT_EQ(events("100000"), 100'000u);
    EXPECT_EQ(events("20k"), 20'000u);
    EXPECT_EQ(events("1M"), 1'000'000u);
    EXPECT_EQ(events("1"), 256u) << "the fewest";
    EXPECT_EQ(events("5M"), 1'000'000u) << "the most";
    EXPECT_EQ(what_is_said(), "");
    for (const char* wrong : {"many", "10x", "1kk", "-5", "99999999999", "k"}) {
        EXPECT_EQ(events(wrong), 0u);
        EXPECT_NE(what_is_said().find("is not understood (a number of events such as 100k, on or off); using off"),
                  std::string::npos)
            << wrong;
    }
}

}  // namespace
}  // namespace mpiprof
