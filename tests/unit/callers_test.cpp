// The callers of a call, followed once by an unwinder and compared as words of the stack afterwards: which calls are
// one site, which are told apart, and when the stack is not followed again. The stacks are made here.
#include <gtest/gtest.h>

#include <vector>

#include "libmpiprof/record/ledger.h"
#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::Cell;
using format::TableType;

// An unwinder that finds its answers in a stack made by the test: each frame's words, return address first.
struct MadeStack {
    static constexpr std::size_t words = 64;
    Word word[words] = {};
    std::vector<std::size_t> returns;  // where return addresses lie, innermost first
    unsigned walked = 0;
    void returns_to(std::size_t at, Word address) {
        word[at] = address;
        returns.push_back(at);
    }
};
MadeStack* made;
std::size_t position;
const Unwinder made_unwinder{
    [](Unwinder::Visit visit, void* argument) {
        made->walked += 1;
        for (position = 0; position < made->returns.size(); ++position)
            if (visit(nullptr, argument) != 0) break;
        return 5;
    },
    [](void*) { return static_cast<std::uintptr_t>(made->word[made->returns[position]]); },
    [](void*) { return reinterpret_cast<std::uintptr_t>(&made->word[made->returns[position]] + 1); }};

struct callers : testing::Test {
    MadeStack made_stack;
    Recording recording;
    callers() {
        made = &made_stack;
        recording.ledger->stack = {0, ~std::uintptr_t{0}};  // the thread's own, wherever the test has it
        recording.records.sites.unwinder = [] { return &made_unwinder; };
        made_stack.returns_to(0, some_site);
        made_stack.returns_to(10, 0x500000);
        made_stack.returns_to(30, 0x600000);
        made_stack.returns_to(40, 0x700000);
    }
    void call(Bytes bytes = 8) { record(*recording.ledger, bytes, 100, {.frame = made_stack.word}); }
    std::size_t sites() { return records_of<format::Site>(recording.image(), TableType::sites).size() - 1; }
};

#if defined(__x86_64__)
TEST_F(callers, the_stack_is_followed_once) {
    for (int i = 0; i < 1000; ++i) call();
    for (int i = 0; i < 1000; ++i) call(5640);

    EXPECT_EQ(made_stack.walked, 1u);
    EXPECT_EQ(sites(), 1u);
    const auto site = records_of<format::Site>(recording.image(), TableType::sites).at(1);
    EXPECT_EQ(site.frames, 4);
    EXPECT_EQ(site.flags, 3) << "the call, its caller and the next one are compared each time";
}

TEST_F(callers, behind_one_helper_function_are_told_apart) {
    for (int i = 0; i < 100; ++i)
        for (const Word caller : {0x500000, 0x500010, 0x500020, 0x500030}) {
            made_stack.word[10] = caller;
            call();
        }

    EXPECT_EQ(sites(), 4u);
    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 4u);
    for (const Cell& cell : cells) EXPECT_EQ(cell.calls, 100u);
    EXPECT_LE(made_stack.walked, 8u) << "each is known by its words";
}

TEST_F(callers, that_were_followed_once_are_known_for_every_size) {
    constexpr Word several = 500;
    const auto call_from_all = [&](Bytes bytes) {
        const unsigned before = made_stack.walked;
        for (Word i = 0; i < several; ++i) {
            made_stack.word[10] = 0x500000 + 16 * i;
            call(bytes);
        }
        return made_stack.walked - before;
    };
    EXPECT_EQ(call_from_all(8), several);

    call_from_all(5640);  // the table has grown, and forgot what it knew

    EXPECT_EQ(call_from_all(100'000), 0u);
    EXPECT_EQ(call_from_all(1'000'000), 0u);
    EXPECT_EQ(sites(), static_cast<std::size_t>(several));
}

TEST_F(callers, of_the_caller_are_told_apart) {
    for (int i = 0; i < 100; ++i)
        for (const Word caller : {0x600000, 0x600010}) {
            made_stack.word[30] = caller;
            call();
        }

    EXPECT_EQ(sites(), 2u);
    EXPECT_LE(made_stack.walked, 4u);
}

TEST_F(callers, words_that_are_no_return_addresses_may_change) {
    for (Word i = 0; i < 1000; ++i) {
        for (const std::size_t at : {1, 9, 11, 29, 31, 63}) made_stack.word[at] = i;
        call();
    }

    EXPECT_EQ(made_stack.walked, 1u);
    EXPECT_EQ(sites(), 1u);
}

TEST_F(callers, that_are_deeper_in_a_recursion_are_the_same_site) {
    std::vector<MadeStack> deeper(20, made_stack);
    for (int round = 0; round < 50; ++round)
        for (MadeStack& other : deeper) {
            made = &other;
            record(*recording.ledger, 8, 100, {.frame = other.word});
        }

    EXPECT_EQ(sites(), 1u);
    const auto cells = cells_of(recording.image());
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_EQ(cells[0].calls, 1000u);
}

TEST_F(callers, of_ever_new_frames_are_not_followed_for_ever) {
    auto room = std::make_unique<Word[]>(2 * 40000);
    for (int i = 0; i < 40000; ++i) {
        Word* frame = room.get() + 2 * i;
        frame[0] = some_site;
        made_stack.returns = {};
        record(*recording.ledger, 8, 100, {.frame = frame});
    }

    EXPECT_LT(made_stack.walked, 20000u);
    EXPECT_EQ(sums_of(recording.image()).calls, 40000u);
}

// A place that was first reached from elsewhere, and then from three lines of one function further down.
TEST_F(callers, at_another_depth_than_the_first_one_do_not_take_each_others_memos) {
    Memos& memos = recording.ledger->memos;
    const Spec spec{.frame = made_stack.word};
    const std::uint64_t key = call_key(spec.call, spec.site);
    const auto is_known = [&](Bytes bytes) {
        const Memo& first = memos.first(key);
        return (Memos::is_called_alike(first, spec.frame) && first.bin == hot_bin(bytes)) ||
               memos.second(first, spec.frame, spec.communicator_index, hot_bin(bytes));
    };
    MadeStack elsewhere = made_stack;
    made = &elsewhere;
    record(*recording.ledger, 8, 100, {.frame = elsewhere.word});
    made = &made_stack;
    unsigned learned = 0;
    for (int i = 0; i < 1000; ++i)
        for (const Word caller : {0x600000, 0x600010, 0x600020}) {
            made_stack.word[30] = caller;
            learned += !is_known(i % 2 ? 8 : 5640);
            call(i % 2 ? 8 : 5640);
        }

    EXPECT_EQ(sites(), 3u);
    EXPECT_LT(learned, 100u);
}

TEST_F(callers, on_a_stack_that_may_be_given_back_are_not_compared) {
    recording.ledger->stack = {};
    for (int i = 0; i < 100; ++i)
        for (const Word caller : {0x500000, 0x500010}) {
            made_stack.word[10] = caller;
            call(i % 2 ? 8 : 5640);
        }

    EXPECT_EQ(made_stack.walked, 1u);
    ASSERT_EQ(sites(), 1u);
    const auto site = records_of<format::Site>(recording.image(), TableType::sites).at(1);
    EXPECT_EQ(site.frames, 4);
    EXPECT_EQ(site.flags, 1) << "where the call returns to is all that is the same of each";
}

TEST_F(callers, beyond_the_end_of_the_stack_are_not_compared) {
    const auto begin = reinterpret_cast<std::uintptr_t>(made_stack.word);
    recording.ledger->stack = {begin, begin + 20 * sizeof(Word)};
    call();

    const auto site = records_of<format::Site>(recording.image(), TableType::sites).at(1);
    EXPECT_EQ(site.flags, 2);
}

TEST_F(callers, of_a_thread_are_forgotten_where_the_next_has_another_stack) {
    call();
    recording.ledger->adopt(2);  // its stack is this thread's, and not the one above
    const unsigned before = made_stack.walked;
    recording.ledger->stack = {0, ~std::uintptr_t{0}};
    call();

    EXPECT_EQ(made_stack.walked, before + 1);
    EXPECT_EQ(sites(), 1u);
}

TEST_F(callers, a_failed_call_has_the_site_of_one_that_did_not) {
    call();
    recording.ledger->add_error(call_key(reduce, some_site), 1, made_stack.word);

    EXPECT_EQ(sites(), 1u);
}
#endif

TEST_F(callers, are_left_out_if_the_depth_is_one) {
    recording.records.sites.depth = 1;
    for (const Word caller : {0x500000, 0x500010}) {
        made_stack.word[10] = caller;
        call();
    }

    EXPECT_EQ(made_stack.walked, 0u);
    EXPECT_EQ(sites(), 1u);
}

}  // namespace
}  // namespace mpiprof::test
