// Times of collectives that are kept: the same calls on every member, whatever each of them does beside.
#include "libmpiprof/record/arrivals.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::Arrival;
using format::arrivals_kept;
using Counted = CommunicatorTable::Counted;

struct arrivals : testing::Test {
    std::unique_ptr<Recording> fresh = std::make_unique<Recording>();

    Counted& communicator(std::uint32_t size = 2) {
        const auto slot = fresh->records.communicators.take(fresh->image());
        slot.record->size = size;
        index_ = slot.index;
        return fresh->records.communicators.at(slot.index);
    }
    // So many calls; number n begins at begin_of(n).
    void make(Counted& c, std::uint64_t calls) {
        for (; calls > 0; --calls) {
            if (c.is_at_arrival())
                fresh->records.arrivals.keep(fresh->image(), index_, c,
                                             {.number_and_call = 5,
                                              .begin = begin_of(c.collectives),
                                              .ticks_and_kind = 77 << 16,
                                              .site = 3,
                                              .root = 1});
            c.count(1);
        }
    }
    static std::uint64_t begin_of(std::uint64_t number) { return 1000 + 10 * number; }
    std::vector<Arrival> kept() const {
        std::vector<Arrival> found;
        for (const Arrival& a : records_of<Arrival>(fresh->image(), format::TableType::arrivals))
            if (a.number_and_call != 0) found.push_back(a);
        return found;
    }
    std::set<std::uint64_t> numbers() const {
        std::set<std::uint64_t> found;
        for (const Arrival& a : kept()) found.insert((a.number_and_call >> 16) - 1);
        return found;
    }
    std::uint16_t index_ = 0;
};

// What all members must keep of so many calls.
std::set<std::uint64_t> wanted_of(std::uint64_t calls) {
    std::set<std::uint64_t> wanted;
    const unsigned level = format::arrival_level(calls);
    for (std::uint64_t block = 0; block << level < calls; ++block)
        if (const std::uint64_t n = format::arrival_of_block(block, level); n < calls) wanted.insert(n);
    return wanted;
}

TEST_F(arrivals, are_kept_of_every_call_while_there_is_room) {
    Counted& c = communicator();
    make(c, arrivals_kept);
    EXPECT_EQ(numbers().size(), arrivals_kept);
    const auto all = kept();
    EXPECT_EQ(all[17].begin, begin_of(17));
    EXPECT_EQ(all[17].number_and_call, 18u << 16 | 5);
    EXPECT_EQ(all[17].ticks_and_kind >> 16, 77u);
    EXPECT_EQ(all[17].root, 1);
}

TEST_F(arrivals, are_those_that_the_number_of_calls_says) {
    for (const std::uint64_t calls : {1u, 511u, 513u, 1024u, 1025u, 5000u, 100'000u}) {
        fresh = std::make_unique<Recording>();
        Counted& c = communicator();
        make(c, calls);
        // Just behind a rise of the level there are others, which a reader leaves out.
        const unsigned level = format::arrival_level(calls);
        auto found = numbers();
        std::erase_if(found, [&](std::uint64_t n) { return format::arrival_of_block(n >> level, level) != n; });
        EXPECT_EQ(found, wanted_of(calls)) << calls;
        for (const Arrival& a : kept()) EXPECT_EQ(a.begin, begin_of((a.number_and_call >> 16) - 1));
    }
}

TEST(kept_calls, of_a_higher_level_are_among_those_of_the_lower) {
    for (unsigned level = 1; level < 20; ++level)
        for (std::uint64_t block = 0; block < arrivals_kept; ++block) {
            const std::uint64_t number = format::arrival_of_block(block, level);
            EXPECT_EQ(number >> level, block);
            EXPECT_EQ(format::arrival_of_block(number >> (level - 1), level - 1), number);
        }
}

// A loop of three calls, and one of 64, have each of theirs among them as often as any other.
TEST(kept_calls, do_not_fall_in_step_with_a_loop) {
    for (const unsigned loop : {2u, 3u, 64u}) {
        std::vector<unsigned> times(loop);
        for (std::uint64_t block = 0; block < 512 * loop; ++block) ++times[format::arrival_of_block(block, 10) % loop];
        for (const unsigned n : times) EXPECT_NEAR(n, 512, 120) << loop;
    }
}

TEST_F(arrivals, leave_out_calls_that_are_not_timed_and_go_on_behind_them) {
    Counted& c = communicator();
    make(c, 10);
    c.count_untimed(1);
    make(c, 1989);
    auto wanted = wanted_of(2000);
    wanted.erase(10);
    EXPECT_EQ(numbers(), wanted);
}

TEST_F(arrivals, level_rises_while_nothing_is_recorded) {
    Counted& c = communicator();
    make(c, 400);
    for (int i = 0; i < 9600; ++i) c.count_untimed(1);
    make(c, 10'000);
    auto wanted = wanted_of(20'000);
    std::erase_if(wanted, [](std::uint64_t n) { return n >= 400 && n < 10'000; });
    EXPECT_EQ(numbers(), wanted);
}

TEST_F(arrivals, are_not_kept_of_a_rank_that_is_alone) {
    Counted& c = communicator(1);
    make(c, 100);
    EXPECT_TRUE(kept().empty());
    EXPECT_EQ(c.collectives, 100u);
}

TEST_F(arrivals, have_room_for_eight_communicators) {
    for (int i = 0; i < 10; ++i) make(communicator(), 3);
    EXPECT_EQ(kept().size(), 24u);
    std::set<std::uint32_t> of;
    for (const format::Table& table : tables_of(fresh->image()))
        if (table.type == format::TableType::arrivals) of.insert(table.communicator);
    EXPECT_EQ(of.size(), 8u);
}

TEST_F(arrivals, of_calls_on_communicators_that_are_not_told_apart_are_not_kept) {
    Counted& nobody = fresh->records.communicators.at(0);
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(nobody.is_at_arrival());
        nobody.count(1);
    }
}

}  // namespace
}  // namespace mpiprof::test
