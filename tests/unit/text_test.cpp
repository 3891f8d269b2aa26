// Texts in fixed buffers and the numbers in them, as base/text.h reads them.
#include "libmpiprof/base/text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace mpiprof {
namespace {

TEST(Text, number_is_read_up_to_the_first_character_that_is_no_digit) {
    const char* text = "128:64";
    unsigned number = 7;

    EXPECT_EQ(read_number(text, number), text + 3);
    EXPECT_EQ(number, 128u);
}

TEST(Text, text_without_digits_is_no_number) {
    for (const char* text : {"", "x1", "-1", " 1", "+1"}) {
        unsigned number = 7;
        EXPECT_EQ(read_number(text, number), text);
        EXPECT_EQ(number, 0u);
    }
}

TEST(Text, number_that_does_not_fit_is_no_number) {
    const char *most = "4294967295", *more = "4294967296", *most_64 = "18446744073709551615";
    unsigned number = 7;
    std::uint64_t number_64 = 7;

    EXPECT_EQ(read_number(most, number), most + 10);
    EXPECT_EQ(number, 4294967295u);
    EXPECT_EQ(read_number(more, number), more);
    EXPECT_EQ(number, 0u);
    EXPECT_EQ(read_number(more, number_64), more + 10);
    EXPECT_EQ(number_64, 4294967296u);
    EXPECT_EQ(read_number(most_64, number_64), most_64 + 20);
    EXPECT_EQ(number_64, UINT64_MAX);
}

}  // namespace
}  // namespace mpiprof
