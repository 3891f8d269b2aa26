// Which processes get a profile: by rank, by name, by draw, and what a job may leave.
#include "libmpiprof/process/choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "libmpiprof/format/rank_choice.h"

namespace mpiprof {
namespace {

struct choice : testing::Test {
    void TearDown() override {
        for (const char* name :
             {"MPIPROF_EXCLUDE", "MPIPROF_SAMPLE", "MPIPROF_MAX_FILES", "MPIPROF_MAX_BYTES", "MPIPROF_RANKS"})
            unsetenv(name);
    }
    static double drawn_of(const char* share, int jobs) {
        setenv("MPIPROF_SAMPLE", share, 1);
        int drawn = 0;
        for (int job = 0; job < jobs; ++job) drawn += is_drawn(std::to_string(4'711'000 + job).c_str());
        return static_cast<double>(drawn) / jobs;
    }
};

TEST_F(choice, of_jobs_that_follow_each_other_the_share_is_drawn) {
    EXPECT_NEAR(drawn_of("0.05", 20000), 0.05, 0.006);
    EXPECT_NEAR(drawn_of("0.5", 20000), 0.5, 0.015);
    EXPECT_EQ(drawn_of("1", 1000), 1);
    EXPECT_EQ(drawn_of("0", 1000), 0);
}

TEST_F(choice, a_share_that_is_none_profiles_all) {
    for (const char* wrong : {"2", "5%", "-1", "half"}) EXPECT_EQ(drawn_of(wrong, 100), 1) << wrong;
}

TEST_F(choice, a_job_is_drawn_whoever_asks) {
    setenv("MPIPROF_SAMPLE", "0.5", 1);
    for (int job = 0; job < 100; ++job)
        EXPECT_EQ(is_drawn(std::to_string(job).c_str()), is_drawn(std::to_string(job).c_str()));
}

TEST_F(choice, programs_are_excluded_by_the_name_of_their_file) {
    const std::map<const char*, bool> expected{{"gdb", false},      {"/usr/bin/gdb", true}, {"hydra_*", true},
                                               {"*", false},        {"g*b", false},         {"*gdb*", false},
                                               {"gdbserver", true}, {"gd", true},           {"a,gdb", false},
                                               {",,g?b,", true},    {"*x", true},           {"", true}};
    for (const auto& [list, is_profiled] : expected) {
        setenv("MPIPROF_EXCLUDE", list, 1);
        EXPECT_EQ(is_chosen_program("/usr/bin/gdb"), is_profiled) << list;
    }
}

TEST_F(choice, every_rank_of_a_small_job_and_some_of_a_large_one) {
    EXPECT_EQ(format::choose_ranks(64, 0, 0).stride, 1u);
    EXPECT_EQ(format::choose_ranks(64, 64, 0).stride, 1u);
    EXPECT_EQ(format::choose_ranks(64, 63, 0).stride, 2u);
    EXPECT_EQ(format::choose_ranks(256, 100, 0).stride, 3u);
    EXPECT_EQ(format::choose_ranks(256, 0, std::uint64_t{64} << 20).stride, 4u);
    EXPECT_EQ(format::choose_ranks(256, 0, 1000).stride, 0u) << "less than a profile takes";
    for (std::uint32_t size = 1; size < 200; ++size)
        for (std::uint64_t files = 1; files < 220; ++files) {
            const auto chosen = format::choose_ranks(size, files, 0);
            std::uint32_t count = 0;
            for (std::uint32_t rank = 0; rank < size; ++rank) count += chosen.has(rank);
            EXPECT_EQ(count, chosen.count(size));
            EXPECT_LE(count, files);
            EXPECT_TRUE(chosen.has(0));
        }
}

TEST_F(choice, what_a_job_may_leave_is_shared_by_its_ranks) {
    setenv("MPIPROF_MAX_FILES", "10", 1);
    EXPECT_EQ(share_of_rank(4).files, 2u);
    EXPECT_EQ(share_of_rank(4).bytes, 0u);
    EXPECT_EQ(share_of_rank(100).files, 1u);
    setenv("MPIPROF_MAX_BYTES", "40M", 1);
    EXPECT_EQ(share_of_rank(4).bytes, 10'000'000u);
}

}  // namespace
}  // namespace mpiprof
