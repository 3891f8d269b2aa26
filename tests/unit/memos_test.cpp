// Memos: what spares a call every question, which calls find theirs, and what becomes of the handles that they hold.
#include "libmpiprof/record/memos.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::Cell;
using format::TableType;

const Word stack[] = {some_site};  // where calls in these tests return to

TEST(memos, a_call_that_was_seen_before_is_found_by_its_memo) {
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

TEST(memos, sizes_that_alternate_at_one_site_are_all_found_by_their_memos) {
    Recording recording;
    for (int i = 0; i < 100; ++i)
        for (const Bytes bytes : {8, 512, 5640, 72000}) record(*recording.ledger, bytes, 100);

    for (const Bytes bytes : {8, 512, 5640, 72000}) EXPECT_TRUE(is_at_hand(*recording.ledger, bytes)) << bytes;
}

TEST(memos, communicators_that_alternate_at_one_site_are_all_found_by_their_memos) {
    Recording recording;
    for (int i = 0; i < 100; ++i)
        for (Word comm = 1; comm <= 4; ++comm) record(*recording.ledger, 8, 100, {.communicator = 0x84000000 + comm});

    for (Word comm = 1; comm <= 4; ++comm)
        EXPECT_TRUE(is_at_hand(*recording.ledger, 8, {.communicator = 0x84000000 + comm}));
}

TEST(memos, a_type_whose_size_was_not_asked_is_not_remembered) {
    Recording recording;
    const std::uint64_t key = call_key(reduce, some_site);

    Memo& memo = recording.ledger->learn(key, 0x4c00080b, some_communicator, stack, {0, 1, false}, 0);
    recording.ledger->books.add(memo, 0, 100);

    EXPECT_EQ(sums_of(recording.image()), (Sums{1, 0, 100, 0}));
    EXPECT_FALSE(Memos::hit(memo, key, 0x4c00080b, some_communicator));
}

TEST(memos, a_type_of_more_than_four_gib_has_its_size) {
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

TEST(memos, a_communicator_is_asked_about_once_until_it_is_freed) {
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
        meaning.type_at = ledger.memos.slot_of_type(type);
    else
        ledger.memos.learn_type(type, size);
    const Bytes bytes = meaning.type_size;
    Memo* memo = ledger.memos.known(key, type, some_communicator, stack, meaning, bytes);
    const bool is_known = memo;
    if (!memo) memo = &ledger.learn(key, type, some_communicator, stack, meaning, bytes);
    ledger.books.add(*memo, bytes, 100);
    return is_known;
}

TEST(memos, a_datatype_made_for_each_message_is_no_new_place) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    EXPECT_FALSE(call_with_type(ledger, 1000, 16));
    for (Word type = 1001; type < 2000; ++type) {
        EXPECT_TRUE(call_with_type(ledger, type, 16)) << type;
        ledger.end_of({HandleKind::type, type, 0});
    }
    EXPECT_EQ(sums_of(recording.image()), (Sums{1000, 16000, 100000, 0}));
}

TEST(memos, a_handle_that_lasts_is_held_by_its_memos_until_it_ends) {
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

TEST(memos, a_handle_that_loses_its_place_to_others_takes_its_memos_with_it) {
    Recording recording;
    Ledger& ledger = *recording.ledger;
    for (int i = 0; i < 10; ++i) call_with_type(ledger, 77, 8);
    Word rival = 78;
    while (ledger.memos.slot_of_type(rival) != ledger.memos.slot_of_type(77)) ++rival;
    for (int i = 0; i < 20; ++i) call_with_type(ledger, rival, 8, some_site + 1);
    ASSERT_EQ(ledger.memos.known_type(77), nullptr);

    ledger.end_of({HandleKind::type, 77, 0});
    EXPECT_FALSE(Memos::hit(ledger.memos.first(call_key(reduce, some_site)), call_key(reduce, some_site), 77,
                            some_communicator));
}

TEST(memos, handles_that_ended_elsewhere_are_forgotten_before_the_next_call) {
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

TEST(memos, calls_that_fight_for_a_memo_are_still_counted_apart) {
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

// Of two places in a program that dispute a memo's first place, one may be of a phase that is over.
TEST(memos, a_first_place_goes_to_the_call_that_is_still_made) {
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
TEST(memos, sizes_above_two_gibibytes_are_never_taken_at_a_look) {
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

}  // namespace
}  // namespace mpiprof::test
