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

// ---- the memo ----

TEST(ledger, a_call_that_was_seen_before_is_found_by_its_memo) {
    Recording recording;
    const std::uint64_t key = call_key(reduce, some_site);
    Memo& memo = recording.ledger->memos.first(key);
    const auto is_known = [&] { return Memos::hit(memo, key, no_handle, some_communicator); };
    EXPECT_FALSE(is_known());

    record(*recording.ledger, 8, 100);

    EXPECT_TRUE(is_known());
    EXPECT_TRUE(recording.ledger->books.add_fast(memo, 8, 100));
    EXPECT_FALSE(recording.ledger->books.add_fast(memo, 9, 100)) << "another size";
    EXPECT_FALSE(Memos::hit(memo, key, no_handle, some_communicator + 1));
    EXPECT_FALSE(Memos::hit(memo, key, 0x4c00080b, some_communicator));
}

// Whether a call of this kind would be booked without the slow path.
bool is_at_hand(Ledger& ledger, Bytes bytes, const Spec& spec = {}) {
    const Word* frame = frame_of(spec);
    const std::uint64_t key = call_key(spec.call, spec.site);
    return ledger.memos.known(key, no_handle, spec.communicator, frame, {1, spec.communicator_index}, bytes) != nullptr;
}

TEST(ledger, sizes_that_alternate_at_one_site_are_all_found_by_their_memos) {
    Recording recording;
    for (int i = 0; i < 100; ++i)
        for (const Bytes bytes : {8, 512, 5640, 72000}) record(*recording.ledger, bytes, 100);

    for (const Bytes bytes : {8, 512, 5640, 72000}) EXPECT_TRUE(is_at_hand(*recording.ledger, bytes)) << bytes;
}

TEST(ledger, communicators_that_alternate_at_one_site_are_all_found_by_their_memos) {
    Recording recording;
    for (int i = 0; i < 100; ++i)
        for (Word comm = 1; comm <= 4; ++comm) record(*recording.ledger, 8, 100, {.communicator = 0x84000000 + comm});

    for (Word comm = 1; comm <= 4; ++comm)
        EXPECT_TRUE(is_at_hand(*recording.ledger, 8, {.communicator = 0x84000000 + comm}));
}

TEST(ledger, a_type_whose_size_was_not_asked_is_not_remembered) {
    Recording recording;
    const std::uint64_t key = call_key(reduce, some_site);

    Memo& memo = recording.ledger->learn(key, 0x4c00080b, some_communicator, stack, {0, 1, false}, 0);
    recording.ledger->books.add(memo, 0, 100);

    EXPECT_EQ(sums_of(recording.image()), (Sums{1, 0, 100, 0}));
    EXPECT_FALSE(Memos::hit(memo, key, 0x4c00080b, some_communicator));
}

TEST(ledger, a_type_of_more_than_four_gib_has_its_size) {
    Recording recording;
    const std::uint64_t key = call_key(reduce, some_site), size = std::uint64_t{5} << 30;

    for (int i = 0; i < 3; ++i) {
        Memo& memo = recording.ledger->learn(key, 77, some_communicator, stack, {size, 1}, 2 * size);
        EXPECT_FALSE(Memos::hit(memo, key, 77, some_communicator)) << "a memo has room for 32 bits";
        recording.ledger->books.add(memo, 2 * size, 100);
    }

    EXPECT_EQ(sums_of(recording.image()), (Sums{3, 6 * size, 300, 0}));
}

// ---- handles ----

constexpr EndedHandle end_of_communicator(Word handle) { return {HandleKind::communicator, handle, 0}; }

TEST(ledger, a_communicator_is_asked_about_once_until_it_is_freed) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    EXPECT_EQ(ledger.groups.find(7), nullptr);

    for (Word handle : {7, 8}) ledger.groups.remember({handle, 3, 16, -1, -1});
    ASSERT_NE(ledger.groups.find(7), nullptr);
    EXPECT_EQ(ledger.groups.find(7)->rank, 3);

    ledger.end_of(end_of_communicator(7));
    EXPECT_EQ(ledger.groups.find(7), nullptr);
    EXPECT_NE(ledger.groups.find(8), nullptr) << "it lives on";
}

// A call with a datatype, as wrap/ books it: false if its place in the program had to be learned.
bool call_with_type(Ledger& ledger, Word type, std::uint64_t size, Word site = some_site) {
    const std::uint64_t key = call_key(reduce, site);
    Memos::Types::Known* known = ledger.memos.known_type(type);
    Meaning meaning{known ? known->meaning : size, 1, known && known->lasts()};
    if (known)
        meaning.type_at = ledger.memos.place_of_type(type);
    else
        ledger.memos.learn_type(type, size);
    const Bytes bytes = meaning.type_size;
    Memo* memo = ledger.memos.known(key, type, some_communicator, stack, meaning, bytes);
    const bool is_known = memo;
    if (!memo) memo = &ledger.learn(key, type, some_communicator, stack, meaning, bytes);
    ledger.books.add(*memo, bytes, 100);
    return is_known;
}

TEST(ledger, a_datatype_made_for_each_message_is_no_new_place) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    EXPECT_FALSE(call_with_type(ledger, 1000, 16));
    for (Word type = 1001; type < 2000; ++type) {
        EXPECT_TRUE(call_with_type(ledger, type, 16)) << type;
        ledger.end_of({HandleKind::type, type, 0});
    }
    EXPECT_EQ(sums_of(recording.image()), (Sums{1000, 16000, 100000, 0}));
}

TEST(ledger, a_handle_that_lasts_is_held_by_its_memos_until_it_ends) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    const auto is_held = [&](Word site) {
        return Memos::hit(ledger.memos.first(call_key(reduce, site)), call_key(reduce, site), 77, some_communicator);
    };
    // More places than a handle keeps a list of.
    for (int i = 0; i < 10; ++i)
        for (Word site = some_site; site < some_site + 30; ++site) call_with_type(ledger, 77, 8, site);
    for (Word site = some_site; site < some_site + 30; ++site) EXPECT_TRUE(is_held(site));
    for (int i = 0; i < 10; ++i) call_with_type(ledger, 78, 8, some_site + 40);

    ledger.end_of({HandleKind::type, 77, 0});
    for (Word site = some_site; site < some_site + 30; ++site) EXPECT_FALSE(is_held(site));
    EXPECT_TRUE(Memos::hit(ledger.memos.first(call_key(reduce, some_site + 40)), call_key(reduce, some_site + 40), 78,
                           some_communicator))
        << "of another handle";

    EXPECT_FALSE(call_with_type(ledger, 77, 64)) << "the same value is another type now";
    const auto cells = cells_of(recording.image());
    EXPECT_EQ(
        std::count_if(cells.begin(), cells.end(), [](const Cell& cell) { return cell.bytes == 64 && cell.calls == 1; }),
        1);
}

TEST(ledger, a_handle_that_loses_its_place_to_others_takes_its_memos_with_it) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    for (int i = 0; i < 10; ++i) call_with_type(ledger, 77, 8);
    Word rival = 78;
    while (ledger.memos.place_of_type(rival) != ledger.memos.place_of_type(77)) ++rival;
    for (int i = 0; i < 20; ++i) call_with_type(ledger, rival, 8, some_site + 1);
    ASSERT_EQ(ledger.memos.known_type(77), nullptr);

    ledger.end_of({HandleKind::type, 77, 0});
    EXPECT_FALSE(Memos::hit(ledger.memos.first(call_key(reduce, some_site)), call_key(reduce, some_site), 77,
                            some_communicator));
}

TEST(ledger, handles_that_ended_elsewhere_are_forgotten_before_the_next_call) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    for (int i = 0; i < 10; ++i)
        for (const Word type : {77, 78}) call_with_type(ledger, type, 8, some_site + type);
    recording.records.ended.publish({HandleKind::type, 77, 0});

    ledger.enter_epoch(1);
    EXPECT_EQ(ledger.memos.known_type(77), nullptr);
    EXPECT_NE(ledger.memos.known_type(78), nullptr);

    for (Word type = 1000; type < 1200; ++type) recording.records.ended.publish({HandleKind::type, type, 0});
    ledger.enter_epoch(2);
    EXPECT_EQ(ledger.memos.known_type(78), nullptr) << "more ended than anybody keeps: each may have";
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

TEST(ledger, calls_that_fight_for_a_memo_are_still_counted_apart) {
    Recording recording;
    std::vector<Word> rivals{some_site};
    const Memo* place = &recording.ledger->memos.first(call_key(reduce, some_site));
    for (Word site = some_site + 1; rivals.size() < 3; ++site)
        if (&recording.ledger->memos.first(call_key(reduce, site)) == place) rivals.push_back(site);

    for (int i = 0; i < 50; ++i)
        for (const Word site : rivals) record(*recording.ledger, 8, 100, {.site = site});

    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 3u);
    for (const Cell& cell : cells) EXPECT_EQ(cell.calls, 50u);
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

// Of two places in a program that dispute a memo's first place, one may be of a phase that is over.
TEST(ledger, a_first_place_goes_to_the_call_that_is_still_made) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    Spec over{.call = send}, still{.call = send};
    while (still.site == over.site ||
           &ledger.memos.first(call_key(send, still.site)) != &ledger.memos.first(call_key(send, over.site)))
        still.site += 5;
    const std::uint64_t key = call_key(send, still.site);

    for (int i = 0; i < 3; ++i) record(ledger, 8, 1000, over);
    for (int i = 0; i < 3; ++i) record(ledger, 8, 1000, still);
    EXPECT_EQ(ledger.memos.first(key).key, call_key(send, over.site)) << "it was there first";

    int calls = 3;
    for (; !ledger.memos.takes_turn(key) && calls < 1000; ++calls) record(ledger, 8, 1000, still);
    EXPECT_LT(calls, 1000);
    const Memo* moved = ledger.memos.known(key, no_handle, still.communicator, frame_of(still), {1, 1}, 8);
    EXPECT_EQ(moved, &ledger.memos.first(key));
    EXPECT_EQ(ledger.memos.first(key).key, key);
    EXPECT_EQ(&record(ledger, 8, 1000, still), moved);

    const auto cells = records_of<format::Cell>(recording.image(), TableType::cells);
    std::uint64_t counted = 0;
    for (const format::Cell& cell : cells) counted += cell.calls;
    EXPECT_EQ(counted, 3u + static_cast<unsigned>(calls) + 1) << "nothing is lost, and nothing counted twice";
}

// A status may have something else in the upper half of what looks like a size.
TEST(ledger, sizes_above_two_gibibytes_are_never_taken_at_a_look) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    constexpr Bytes gib = Bytes{1} << 30;

    record(ledger, 2 * gib, 1000, {.call = send});
    EXPECT_TRUE(ledger.books.add_fast(ledger.memos.first(call_key(send, some_site)), 2 * gib, 1000));
    Spec other{.call = send, .site = some_site + 64};
    for (int i = 0; i < 2; ++i) {
        Memo& memo = record(ledger, 3 * gib, 1000, other);
        EXPECT_FALSE(ledger.books.add_fast(memo, 3 * gib, 1000));
        EXPECT_FALSE(ledger.books.add_fast(memo, Bytes{1} << 32, 1000));
    }
    EXPECT_EQ(sums_of(recording.image()).bytes, 2 * 2 * gib + 2 * 3 * gib);
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
