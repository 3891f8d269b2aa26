// The numbers of an mpitrace text, and the columns of its table of all ranks. For mpitrace_lines.cpp, which finds the
// lines.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "report/read/mpitrace_values.h"

namespace mpiprof::report {

inline constexpr Wide ns_per_second = 1'000'000'000;

std::optional<Decimal> parse_decimal(std::string_view text);

// Whether somebody printed a number there, though none that can be read: "0,001", "1.5D+03", "*****", "nan".
bool is_meant_as_number(std::string_view word);

// `units` of ns or bytes to one of what is printed. The ends are left out: a tie may round either way.
PrintedRange range_of(Decimal number, Wide units);

template <typename T>
std::optional<T> parse_integer(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The columns of the table of all ranks, by its heading: their number and order changed over the years.
enum class RankColumn : std::uint8_t {
    rank,
    host,
    cpu,
    communication,
    elapsed,
    user,
    system,
    mib,
    kib,
    switches,
    skip
};
RankColumn column_of(std::string_view title);
// Puts one word into its place; false if it is no such thing.
bool put(TextRank& line, RankColumn column, std::string_view word);

}  // namespace mpiprof::report
