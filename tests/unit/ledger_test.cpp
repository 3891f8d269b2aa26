// The ledger: which calls share a cell, that sums are exact whatever overflows, and what the drop counters then say.
#include "libmpiprof/record/ledger.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::Cell;
using format::TableType;

const Word stack[] = {some_site};  // where calls in these tests return to

// ---- what shares a cell ----

TEST(ledger, calls_of_one_kind_add_up_in_one_cell) {
    Recording recording;

    record(*recording.ledger, 8, 100);
    record(*recording.ledger, 6, 300);
    record(*recording.ledger, 7, 200);

    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_EQ(cells[0].call, reduce);
    EXPECT_EQ(cells[0].calls, 3u);
    EXPECT_EQ(cells[0].bytes, 21u);
    EXPECT_EQ(cells[0].ticks, 600u);
    EXPECT_EQ(cells[0].min_ticks, 100u);
    EXPECT_EQ(cells[0].max_ticks, 300u);
}

TEST(ledger, a_call_is_told_apart_by_call_size_bin_communicator_and_site) {
    Recording recording;
    record(*recording.ledger, 8, 100);

    record(*recording.ledger, 9, 100);
    record(*recording.ledger, 8, 100, {.call = send});
    record(*recording.ledger, 8, 100, {.site = some_site + 16});
    record(*recording.ledger, 8, 100, {.communicator = some_communicator + 1, .communicator_index = 2});

    EXPECT_EQ(cells_of(recording.image()).size(), 5u);
}

TEST(ledger, a_zero_byte_call_is_in_bin_zero) {
    Recording recording;

    record(*recording.ledger, 0, 100);
    record(*recording.ledger, 0, 100);

    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_EQ(cells[0].bin, 0);
    EXPECT_EQ(cells[0].calls, 2u);
    EXPECT_EQ(cells[0].bytes, 0u);
}

TEST(ledger, three_gib_are_three_gib) {
    Recording recording;
    const Bytes bytes = Bytes{3} << 30;

    for (int i = 0; i < 10; ++i) record(*recording.ledger, bytes, 100);

    EXPECT_EQ(sums_of(recording.image()), (Sums{10, 10 * bytes, 1000, 0}));
    EXPECT_EQ(cells_of(recording.image()).at(0).bin, format::size_bin(bytes));
}

TEST(ledger, one_site_that_alternates_between_sizes_gets_a_cell_for_each_bin) {
    Recording recording;

    for (int i = 0; i < 100; ++i)
        for (const Bytes bytes : {8, 512, 5640, 0}) record(*recording.ledger, bytes, 100);

    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 4u);
    for (const Cell& cell : cells) EXPECT_EQ(cell.calls, 100u);
}

TEST(ledger, every_size_is_booked_in_its_own_bin) {
    Recording recording;
    std::vector<Bytes> sizes;
    for (unsigned shift = 0; shift < 60; ++shift)
        for (const int d : {-1, 0, 1}) sizes.push_back((Bytes{1} << shift) + static_cast<Bytes>(d));

    for (int round = 0; round < 2; ++round)
        for (const Bytes bytes : sizes) record(*recording.ledger, bytes, 100);

    std::vector<std::uint64_t> expected(format::size_bins), counted(format::size_bins);
    for (const Bytes bytes : sizes) expected[format::size_bin(bytes)] += 2;
    for (const Cell& cell : cells_of(recording.image())) counted[cell.bin] += cell.calls;
    EXPECT_EQ(counted, expected);
}

TEST(ledger, a_new_region_has_new_cells) {
    Recording recording;
    record(*recording.ledger, 8, 100, {.communicator_index = 1});

    recording.records.forgets += 1;
    recording.ledger->enter_epoch(1);
    record(*recording.ledger, 8, 100, {.communicator_index = 2});

    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_EQ(cells[0].communicator, 1);
    EXPECT_EQ(cells[1].communicator, 2);
}

TEST(ledger, a_random_mixture_is_counted_exactly) {
    Recording recording;
    std::mt19937 random(4711);
    Sums expected{};

    for (int i = 0; i < 200000; ++i) {
        const Bytes bytes = random() % 3 == 0 ? 8 : random() % 100000;
        const Ticks ticks = 16 + random() % 5000;
        record(*recording.ledger, bytes, ticks,
               {.call = static_cast<std::uint16_t>(random() % 3),
                .site = some_site + 8 * static_cast<Word>(random() % 200)});
        expected.calls += 1;
        expected.bytes += bytes;
        expected.ticks += ticks;
    }

    EXPECT_EQ(sums_of(recording.image()), expected);
    EXPECT_EQ(recording.drops().cells, 0u);
    std::uint64_t in_histograms = 0;
    for (const auto& histogram : records_of<format::Histogram>(recording.image(), TableType::histograms))
        in_histograms += durations_in(recording.image(), histogram).size();
    EXPECT_EQ(in_histograms, expected.calls);
}

// ---- histograms, errors, clock ----

TEST(ledger, sites_of_one_call_and_bin_share_a_histogram) {
    Recording recording;

    record(*recording.ledger, 8, 100);
    record(*recording.ledger, 8, 200, {.site = some_site + 16});
    record(*recording.ledger, 9, 100);
    record(*recording.ledger, 8, 100, {.call = send});

    EXPECT_EQ(records_of<format::Histogram>(recording.image(), TableType::histograms).size(), 3u);
    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 4u);
    EXPECT_EQ(cells[0].histogram, cells[1].histogram);
    EXPECT_NE(cells[0].histogram, cells[2].histogram);
    EXPECT_NE(cells[0].histogram, cells[3].histogram);
}

TEST(ledger, a_failed_call_is_counted_apart_and_has_no_time) {
    Recording recording;
    record(*recording.ledger, 8, 100);

    recording.ledger->add_error(call_key(reduce, some_site), 0, stack);
    recording.ledger->add_error(call_key(reduce, some_site), 0, stack);

    EXPECT_EQ(sums_of(recording.image()), (Sums{1, 8, 100, 2}));
}

TEST(ledger, a_call_that_only_ever_failed_is_in_the_profile) {
    Recording recording;

    recording.ledger->add_error(call_key(send, some_site), 0, stack);

    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_EQ(cells[0].call, send);
    EXPECT_EQ(cells[0].errors, 1u);
    EXPECT_EQ(names_in_dictionary(recording.image()), std::vector<std::string>{"MPI_Send"});
}

TEST(ledger, a_clock_that_runs_backwards_adds_no_time_and_is_counted) {
    Recording recording;
    record(*recording.ledger, 8, 100);

    record(*recording.ledger, 8, static_cast<Ticks>(-50));

    EXPECT_EQ(sums_of(recording.image()), (Sums{2, 16, 100, 0}));
    EXPECT_EQ(recording.drops().backwards, 1u);
    EXPECT_EQ(cells_of(recording.image()).at(0).max_ticks, 100u);
}

TEST(ledger, the_first_call_of_a_site_may_be_the_one_whose_clock_ran_backwards) {
    Recording recording;

    record(*recording.ledger, 8, static_cast<Ticks>(-1));

    EXPECT_EQ(sums_of(recording.image()), (Sums{1, 8, 0, 0}));
    EXPECT_EQ(cells_of(recording.image()).at(0).min_ticks, 0u);
}

TEST(ledger, the_dictionary_names_each_call_once) {
    Recording recording;

    for (int i = 0; i < 10; ++i)
        for (const std::uint16_t call : {send, reduce}) record(*recording.ledger, 8, 100, {.call = call});

    EXPECT_EQ(names_in_dictionary(recording.image()), (std::vector<std::string>{"MPI_Send", "MPI_Reduce"}));
}

TEST(ledger, the_dictionary_says_what_a_call_means_for_bus_bandwidth) {
    Recording recording;
    record(*recording.ledger, 8, 100, {.call = reduce});
    record(*recording.ledger, 8, 100, {.call = Catalogue::barrier_before + reduce});

    const auto calls = records_of<format::CallRecord>(recording.image(), TableType::calls);
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].bus, BusRule::twice_around);
    EXPECT_EQ(calls[1].bus, BusRule::none) << "the barrier before it moves nothing";
}

TEST(ledger, a_call_in_progress_is_in_the_profile_with_its_site_and_start) {
    Recording recording;

    recording.ledger->hand.begin(call_key(send, some_site), 12345);

    auto thread = records_of<format::Thread>(recording.image(), TableType::threads).at(0);
    EXPECT_EQ(thread.in_call >> 48, send);
    EXPECT_EQ(thread.in_call & 0xffffffffffff, static_cast<std::uint64_t>(some_site));
    EXPECT_EQ(thread.in_call_since, 12345u);

    EXPECT_EQ(recording.ledger->hand.ticks_until(12445), 100u);
    recording.ledger->hand.leave();
    thread = records_of<format::Thread>(recording.image(), TableType::threads).at(0);
    EXPECT_EQ(thread.in_call, call_key(send, some_site) | format::has_returned) << "where it was last seen";
}

TEST(ledger, queries_alone_are_no_moved_data) {
    Recording recording;
    recording.ledger->counters.count(0);
    EXPECT_FALSE(recording.ledger->has_moved_data());

    record(*recording.ledger, 8, 100);

    EXPECT_TRUE(recording.ledger->has_moved_data());
}

TEST(ledger, counted_calls_and_their_errors_are_in_the_counters_table) {
    Recording recording;

    for (int i = 0; i < 7; ++i) recording.ledger->counters.count(0);
    recording.ledger->counters.count_error(0);

    const auto counters = records_of<format::Counter>(recording.image(), TableType::counters);
    ASSERT_EQ(counters.size(), 1u);
    EXPECT_EQ(counters[0].calls, 7u);
    EXPECT_EQ(counters[0].errors, 1u);
}

}  // namespace
}  // namespace mpiprof::test
