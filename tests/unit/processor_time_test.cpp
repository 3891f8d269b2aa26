// How long threads ran and waited for a processor, read from a /proc that the test makes.
#include "libmpiprof/host/processor_time.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace mpiprof::test {
namespace {

constexpr std::uint32_t first = 100, helper = 900;

struct processor_time : testing::Test {
    void SetUp() override {
        char name[] = "/tmp/mpiprof-test-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root = name;
        runs(first, 1000, 10);
        runs(101, 5000, 50);
        times.open(first, root.c_str());
    }
    void TearDown() override { std::filesystem::remove_all(root); }
    std::filesystem::path directory(std::uint32_t thread) const {
        return root / "proc/self/task" / std::to_string(thread);
    }
    void runs(std::uint32_t thread, std::uint64_t ran, std::uint64_t waited) {
        std::filesystem::create_directories(directory(thread));
        std::ofstream(directory(thread) / "schedstat") << ran << " " << waited << " 7\n";
    }
    void ends(std::uint32_t thread) { std::filesystem::remove_all(directory(thread)); }
    format::ProcessorTime read() {
        format::ProcessorTime time{};
        times.read(time, helper);
        return time;
    }
    ProcessorTime times;
    std::filesystem::path root;
};

TEST_F(processor_time, counts_from_the_moment_it_was_opened) {
    EXPECT_EQ(read().first_ran_ns, 0u);

    runs(first, 1700, 25);
    runs(101, 5300, 90);

    const auto time = read();
    EXPECT_EQ(time.first_ran_ns, 700u);
    EXPECT_EQ(time.first_waited_ns, 15u);
    EXPECT_EQ(time.others_ran_ns, 300u);
    EXPECT_EQ(time.others_waited_ns, 40u);
}

TEST_F(processor_time, of_threads_that_ended_is_kept) {
    runs(102, 200, 20);
    read();
    ends(102);
    ends(101);

    EXPECT_EQ(read().others_ran_ns, 200u);
    EXPECT_EQ(read().others_waited_ns, 20u) << "and counted once";
    runs(102, 30, 3);  // another thread by the same number
    EXPECT_EQ(read().others_ran_ns, 230u);
}

TEST_F(processor_time, of_a_number_that_came_back_between_two_readings_is_of_two_threads) {
    runs(102, 200, 20);
    read();
    runs(102, 30, 3);

    EXPECT_EQ(read().others_ran_ns, 230u);
    EXPECT_EQ(read().others_waited_ns, 23u);
}

TEST_F(processor_time, of_our_helper_is_left_out) {
    runs(helper, 1'000'000, 1'000'000);

    EXPECT_EQ(read().others_ran_ns, 0u);
    EXPECT_EQ(read().others_waited_ns, 0u);
}

TEST_F(processor_time, is_nothing_where_the_kernel_keeps_no_account) {
    ends(first);
    ends(101);
    ProcessorTime none;
    const std::filesystem::path nowhere = root / "nowhere";  // it is kept as it is handed over
    none.open(first, nowhere.c_str());

    format::ProcessorTime time{1, 2, 3, 4};
    none.read(time, helper);

    EXPECT_EQ(time.first_ran_ns + time.first_waited_ns + time.others_ran_ns + time.others_waited_ns, 0u);
}

}  // namespace
}  // namespace mpiprof::test
