// Communicators whose end the library tells: by slots, which callbacks of any thread hand in and somebody else
// collects.
#include "libmpiprof/mpi/told_ends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace mpiprof::mpi::test {
namespace {

struct told_ends : testing::Test {
    std::unique_ptr<ToldEnds> ends = std::make_unique<ToldEnds>();
    std::vector<Word> collect() {
        std::vector<Word> found;
        ends->collect([&](std::uint32_t, Word handle) { found.push_back(handle); });
        return found;
    }
};

TEST_F(told_ends, are_collected_once_and_leave_their_slots_to_others) {
    const std::uint32_t first = ends->take({0x100, 1}), second = ends->take({0x200, 2});
    EXPECT_FALSE(ends->has_ended());

    const ToldEnds::Handles ended = ends->end(first);

    EXPECT_EQ(ended.c, 0x100);
    EXPECT_EQ(ended.fortran, 1);
    EXPECT_TRUE(ends->has_ended());
    EXPECT_EQ(collect(), std::vector<Word>{0x100});
    EXPECT_TRUE(collect().empty());
    EXPECT_EQ(ends->take({0x300, 3}), first);
    EXPECT_NE(ends->take({0x400, 4}), second);
}

TEST_F(told_ends, that_were_seen_otherwise_tell_nothing_and_free_their_slot) {
    const std::uint32_t slot = ends->take({0x100, 1});
    ends->pass(slot);

    EXPECT_EQ(ends->end(slot).c, 0);

    EXPECT_TRUE(collect().empty());
    EXPECT_EQ(ends->take({0x200, 2}), slot);
}

TEST_F(told_ends, are_as_many_as_communicators_are_known) {
    for (std::uint32_t i = 0; i < ToldEnds::most; ++i) EXPECT_NE(ends->take({0x100, 1}), ToldEnds::none);
    EXPECT_EQ(ends->take({0x100, 1}), ToldEnds::none);
    EXPECT_EQ(ends->end(ToldEnds::none).c, 0);
    EXPECT_EQ(ends->end(ToldEnds::most + 1).c, 0);
}

TEST_F(told_ends, of_many_threads_at_once_are_all_collected) {
    constexpr int threads = 4, each = 200;
    std::vector<std::uint32_t> slots;
    for (int i = 0; i < threads * each; ++i) slots.push_back(ends->take({i + 1, 0}));
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) ends->end(slots[static_cast<std::size_t>(t * each + i)]);
        });
    std::vector<Word> found;
    while (found.size() < slots.size())
        for (const Word handle : collect()) found.push_back(handle);
    for (std::thread& thread : running) thread.join();

    std::sort(found.begin(), found.end());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], static_cast<Word>(i + 1));
}

}  // namespace
}  // namespace mpiprof::mpi::test
