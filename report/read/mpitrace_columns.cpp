// Digits to ranges, headings to columns, words to the fields of a rank.
#include "report/read/mpitrace_columns.h"

#include <array>
#include <cctype>
#include <string>
#include <type_traits>

namespace mpiprof::report {
namespace {

// More than any real file shows; few enough that sums over a whole file stay below 2^127.
constexpr int most_digits = 15;

Wide power_of_ten(int exponent) {
    Wide power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

struct Heading {
    std::string_view title;
    RankColumn column;
};
constexpr std::array headings{
    Heading{"taskid", RankColumn::rank},
    Heading{"hostname", RankColumn::host},
    Heading{"host", RankColumn::host},
    Heading{"cpu", RankColumn::cpu},
    Heading{"comm(s)", RankColumn::communication},
    Heading{"elapsed(s)", RankColumn::elapsed},
    Heading{"user(s)", RankColumn::user},
    Heading{"system(s)", RankColumn::system},
    Heading{"size(MB)", RankColumn::mib},
    Heading{"size(MiB)", RankColumn::mib},
    Heading{"size(KB)", RankColumn::kib},
    Heading{"switches", RankColumn::switches},
};

}  // namespace

PrintedRange range_of(Decimal number, Wide units) {
    const Wide scale = power_of_ten(number.decimals);
    const Wide twice = 2 * scale;
    const Wide value = (number.digits * units + scale / 2) / scale;
    const Wide low = (2 * Wide{number.digits} - 1) * units / twice + 1;
    const Wide high = ((2 * Wide{number.digits} + 1) * units + twice - 1) / twice - 1;
    return {value, std::max<Wide>(0, std::min(low, value)), std::max(high, value)};
}

RankColumn column_of(std::string_view title) {
    for (const Heading& heading : headings)
        if (heading.title == title) return heading.column;
    return RankColumn::skip;
}

bool put(TextRank& line, RankColumn column, std::string_view word) {
    const auto number = [&](PrintedRange& place, Wide units) {
        const auto decimal = parse_decimal(word);
        if (decimal) place = range_of(*decimal, units);
        return decimal.has_value();
    };
    const auto integer = [&](auto& place) {
        const auto value = parse_integer<std::remove_reference_t<decltype(place)>>(word);
        if (value) place = *value;
        return value.has_value();
    };
    switch (column) {
        case RankColumn::rank:
            return integer(line.rank);
        case RankColumn::host:
            line.host = word;
            return true;
        case RankColumn::cpu: {
            const auto cpu = parse_integer<std::int32_t>(word);
            if (cpu && *cpu >= 0) line.cpu = cpu;
            return cpu.has_value();
        }
        case RankColumn::communication:
            return number(line.communication, ns_per_second);
        case RankColumn::elapsed:
            return number(line.elapsed, ns_per_second);
        case RankColumn::user:
            return number(line.user, ns_per_second);
        case RankColumn::system:
            return number(line.system, ns_per_second);
        case RankColumn::mib:
            return number(line.resident, 1024 * 1024);
        case RankColumn::kib:
            return number(line.resident, 1024);
        case RankColumn::switches:
            return integer(line.switches);
        case RankColumn::skip:
            return true;
    }
    return false;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
    Decimal number;
    int digits = 0;
    bool is_fraction = false;
    // A difference of two clocks that is not quite nothing is printed as "-0.00".
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    for (const char c : text) {
        if (c == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > most_digits) return std::nullopt;
        number.digits = number.digits * 10 + static_cast<std::uint64_t>(c - '0');
        number.decimals += is_fraction;
    }
    if (digits == 0 || (is_negative && number.digits != 0)) return std::nullopt;
    return number;
}

bool is_meant_as_number(std::string_view word) {
    if (word.find_first_of("0123456789") != std::string_view::npos) return true;
    if (word.find_first_not_of('*') == std::string_view::npos) return !word.empty();
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    std::string lower;
    for (const char c : word) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.starts_with("nan") || lower == "inf" || lower == "infinity";
}

}  // namespace mpiprof::report
