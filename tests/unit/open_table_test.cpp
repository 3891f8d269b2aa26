// What is put into an open table is found again, however it grows, and its memory is the kernel's.
#include "libmpiprof/base/open_table.h"

#include <gtest/gtest.h>

namespace {

using namespace mpiprof;

std::uint64_t hash_of(std::uint32_t number) { return mix(number) >> 32; }

// As in the library, tables begin as zeros.
template <OpenTableSize Size>
struct Numbers {
    OpenTable<std::uint32_t, Size> table{};
    bool add(std::uint32_t number) {
        if (!table.make_room(hash_of)) return false;
        table.insert(hash_of(number), number);
        return true;
    }
    bool has(std::uint32_t number) const {
        return table.find(hash_of(number), [&](std::uint32_t known) { return known == number; }) != nullptr;
    }
    std::uint32_t fill() {
        std::uint32_t number = 0;
        while (add(number + 1)) ++number;
        return number;
    }
};

TEST(open_table, finds_nothing_before_the_first_entry) {
    const Numbers<{.inside = 0, .outside = 256, .most = 1024}> numbers;
    EXPECT_FALSE(numbers.has(1));
    EXPECT_EQ(numbers.table.count(), 0u);
}

TEST(open_table, every_entry_is_found_again_after_it_grew_out_of_its_owner) {
    Numbers<{.inside = 16, .outside = 64, .most = 4096}> numbers;
    const std::uint32_t most = numbers.fill();
    EXPECT_EQ(most, 2048u);  // half of them
    for (std::uint32_t number = 1; number <= most; ++number) EXPECT_TRUE(numbers.has(number)) << number;
    EXPECT_FALSE(numbers.has(most + 1));
    EXPECT_EQ(numbers.table.count(), most);
}

TEST(open_table, is_as_full_as_its_owner_allows) {
    Numbers<{.inside = 0, .outside = 64, .most = 64, .quarters = 3}> numbers;
    EXPECT_EQ(numbers.fill(), 48u);
    EXPECT_FALSE(numbers.table.has_room());
}

TEST(open_table, one_that_does_not_grow_keeps_what_it_has) {
    Numbers<{.inside = 64, .outside = 0, .most = 64}> numbers;
    EXPECT_EQ(numbers.fill(), 32u);
    for (std::uint32_t number = 1; number <= 32; ++number) EXPECT_TRUE(numbers.has(number)) << number;
}

TEST(open_table, entries_of_one_hash_are_told_apart) {
    OpenTable<std::uint32_t, OpenTableSize{.inside = 16, .outside = 32, .most = 32}> table{};
    const auto same = [](std::uint32_t) { return std::uint64_t{15}; };  // the last place, and around from there
    for (const std::uint32_t number : {7u, 8u, 9u}) {
        ASSERT_TRUE(table.make_room(same));
        table.insert(15, number);
    }
    const std::uint32_t* found = table.find(15, [](std::uint32_t known) { return known == 9; });
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, 9u);
    EXPECT_FALSE(table.find(15, [](std::uint32_t known) { return known == 10; }));
}

TEST(open_table, is_empty_after_it_was_cleared_and_takes_new_entries) {
    for (const std::uint32_t count : {8u, 1000u}) {
        Numbers<{.inside = 0, .outside = 64, .most = 4096}> numbers;
        for (std::uint32_t number = 1; number <= count; ++number) ASSERT_TRUE(numbers.add(number));
        numbers.table.clear();
        EXPECT_FALSE(numbers.has(1));
        EXPECT_FALSE(numbers.table.any([](std::uint32_t) { return true; }));
        EXPECT_TRUE(numbers.add(5));
        EXPECT_TRUE(numbers.has(5));
        EXPECT_TRUE(numbers.table.any([](std::uint32_t known) { return known == 5; }));
    }
}

}  // namespace
