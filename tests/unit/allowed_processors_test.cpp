// How busy the processors were that a process may use, and what of it was its own, read from a /proc that the test
// makes.
#include "libmpiprof/host/allowed_processors.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mpiprof::test {
namespace {

constexpr std::uint64_t tick_us = 10'000;

struct allowed_processors : testing::Test {
    void SetUp() override {
        char name[] = "/tmp/mpiprof-test-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        root = name;
        cpu_set_t mask;
        ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
        while (!CPU_ISSET(mine, &mask)) ++mine;
        while (CPU_ISSET(foreign, &mask)) ++foreign;
        has(100, 50);
        of.open(root.c_str());
    }
    void TearDown() override { std::filesystem::remove_all(root); }

    // Ticks in user mode of one processor that it may use and of one that it may not.
    void has(int ticks, int stolen, int of_others = 0) {
        std::filesystem::create_directories(root / "proc/self/task/1");
        std::ofstream file(root / "proc/stat");
        file << "cpu  999999 0 0 0 0 0 0 0 0 0\n";
        file << "cpu" << mine << " " << ticks << " 1 2 " << 70000 + (ticks - 100) * 3 / 10 << " 30 4000 5000 " << stolen
             << " 0 0\n";
        file << "cpu" << foreign << " " << of_others << " 0 0 0 0 0 0 0 0 0\n";
        file << "intr 407574 0 0\nctxt 4711\n";
    }
    void has_child(const std::string& of_process, int pid, int ticks) {
        std::filesystem::create_directories(root / "proc" / of_process / "task/1");
        std::ofstream(root / "proc" / of_process / "task/1/children") << pid << " ";
        std::filesystem::create_directories(root / "proc" / std::to_string(pid));
        std::ofstream(root / "proc" / std::to_string(pid) / "stat")
            << pid << " (a worker) R 1 1 1 0 -1 4194560 1 2 3 4 " << ticks << " 1 2 3 20 0 1 0 100 0 0\n";
    }
    format::AllowedProcessors read() {
        format::AllowedProcessors times{};
        of.update(times);
        return times;
    }

    int mine = 0, foreign = 0;
    std::filesystem::path root;
    AllowedProcessors of;
};

TEST_F(allowed_processors, count_whoever_ran_on_them_since_the_start) {
    has(130, 57, 5000);
    const auto times = read();
    EXPECT_EQ(times.user_us, 30 * tick_us);
    EXPECT_EQ(times.idle_us, 9 * tick_us);
    EXPECT_EQ(times.stolen_us, 7 * tick_us);
    EXPECT_EQ(times.processors, 1u) << "and not those on which the process may not run";
    EXPECT_GT(times.span_us, 0u);
}

TEST_F(allowed_processors, used_by_children_and_their_children_are_used_by_the_process) {
    has_child("self", 4711, 20);
    has_child("4711", 4712, 30);
    const auto times = read();
    EXPECT_GE(times.own_us, 54 * tick_us) << "of a child also what its ended children used";
    EXPECT_LT(times.own_us, 154 * tick_us);
}

TEST_F(allowed_processors, are_not_known_where_there_are_more_children_than_fit) {
    std::ofstream children(root / "proc/self/task/1/children");
    for (int i = 0; i < 300; ++i) children << 5000 + i << " ";
    children.close();
    has(130, 57);
    EXPECT_EQ(read().processors, 0u);
}

TEST_F(allowed_processors, are_not_known_where_the_kernel_does_not_count_them) {
    std::filesystem::remove(root / "proc/stat");
    EXPECT_EQ(read().processors, 0u) << "any more";
    AllowedProcessors none;
    none.open(root.c_str());
    format::AllowedProcessors times{};
    none.update(times);
    EXPECT_EQ(times.processors, 0u);
}

}  // namespace
}  // namespace mpiprof::test
