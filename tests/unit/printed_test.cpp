// Text with printf's formats and a point in its numbers: the same as printf's in the C locale, byte by byte.
#include "libmpiprof/base/printed.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "libmpiprof/format/mpitrace_layout.h"

namespace mpiprof {
namespace {

std::string ours(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const std::size_t length = print_into(text, sizeof text, format, arguments);
    va_end(arguments);
    EXPECT_EQ(length, std::string(text).size());
    return text;
}

std::string libcs(const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

TEST(printed, numbers_are_rounded_as_printf_rounds_them) {
    for (const double number : {0.0,
                                -0.0,
                                0.5,
                                1.5,
                                2.5,
                                0.05,
                                0.25,
                                0.0005,
                                0.0015,
                                0.0625,
                                0.9995,
                                0.99949999,
                                9.9996,
                                1e-300,
                                4.9e-324,
                                1.0,
                                123456.7891,
                                1e15 + 0.3,
                                4503599627370496.5,
                                9007199254740993.0,
                                1.8e19,
                                -3.14159,
                                1e-9,
                                5e-10}) {
        EXPECT_EQ(ours("%.3f", number), libcs("%.3f", number));
        EXPECT_EQ(ours("%11.1f|", number), libcs("%11.1f|", number));
        EXPECT_EQ(ours("%-12.9f|", number), libcs("%-12.9f|", number));
        EXPECT_EQ(ours("%.0f", number), libcs("%.0f", number));
        EXPECT_EQ(ours("%f", number), libcs("%f", number));
    }
    EXPECT_EQ(ours("%.3f", std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(ours("%.3f", std::nan("")), "nan");
}

TEST(printed, a_million_numbers_of_all_sizes_are_printfs) {
    std::mt19937_64 random(4711);
    for (int i = 0; i < 1'000'000; ++i) {
        const std::uint64_t bits = random();
        const double number = std::ldexp(static_cast<double>(bits >> 11), static_cast<int>(bits % 110) - 100);
        const char* format = bits & 1024 ? "%.3f" : "%.1f";
        ASSERT_EQ(ours(format, number), libcs(format, number));
    }
}

TEST(printed, halves_go_to_the_even_digit) {
    for (int i = 0; i < 4000; ++i) {
        const double number = i + 0.5, eighth = i / 16.0;
        ASSERT_EQ(ours("%.0f", number), libcs("%.0f", number));
        ASSERT_EQ(ours("%.3f", eighth), libcs("%.3f", eighth));
        ASSERT_EQ(ours("%.1f", eighth), libcs("%.1f", eighth));
    }
}

TEST(printed, lines_of_the_layout_are_printfs) {
    namespace layout = format::mpitrace;
    EXPECT_EQ(ours(layout::routine, "MPI_Allreduce", 123ull, 4.0, 0.0185),
              libcs(layout::routine, "MPI_Allreduce", 123ull, 4.0, 0.0185));
    EXPECT_EQ(ours(layout::routine, "MPI_Neighbor_alltoallw_init_and_more", ~0ull, 1e18, 1e9),
              libcs(layout::routine, "MPI_Neighbor_alltoallw_init_and_more", ~0ull, 1e18, 1e9));
    EXPECT_EQ(ours(layout::head, 7u, 4096u), libcs(layout::head, 7u, 4096u));
    EXPECT_EQ(ours(layout::size, 3ull, 16.5, 0.25), libcs(layout::size, 3ull, 16.5, 0.25));
    EXPECT_EQ(ours(layout::sizes_head, "MPI_Send"), libcs(layout::sizes_head, "MPI_Send"));
    EXPECT_EQ(ours("100%% of %s", "it"), "100% of it");
}

TEST(printed, a_text_without_room_is_cut) {
    char text[8];
    const auto print = [&](const char* format, ...) {
        va_list arguments;
        va_start(arguments, format);
        const std::size_t length = print_into(text, sizeof text, format, arguments);
        va_end(arguments);
        return length;
    };
    EXPECT_EQ(print("%s-%u", "ab", 12345678u), 7u);
    EXPECT_STREQ(text, "ab-1234");
}

TEST(printed, the_programs_locale_changes_nothing) {
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"}) {
        if (!setlocale(LC_ALL, name)) continue;  // it is not installed here
        EXPECT_EQ(ours("%.3f %12llu", 1234.5, 1234567ull), "1234.500      1234567") << name;
    }
    setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace mpiprof
