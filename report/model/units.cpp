// The rules of print, one function each.
#include "report/model/units.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace mpiprof::report {
namespace {

// `digits` significant digits, never an exponent: 1.21, 18.6, 767.
std::string significant(double value, int digits) {
    int decimals = digits - 1;
    for (double limit = 10; decimals > 0 && value >= limit - 0.5 * std::pow(10.0, -decimals); limit *= 10) --decimals;
    return fmt::format("{:.{}f}", value, decimals);
}

std::string with_commas(std::uint64_t value) {
    std::string text = fmt::format("{}", value);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
    return text;
}

}  // namespace

std::string human_time(double ns) {
    if (ns < 0.5) return "0 s";
    if (ns < 999.5) return fmt::format("{:.0f} ns", ns);
    if (ns < 999.5e3) return significant(ns / 1e3, 3) + " us";
    if (ns < 999.5e6) return significant(ns / 1e6, 3) + " ms";
    if (ns < 3600e9) return significant(ns / 1e9, 4) + " s";
    return significant(ns / 3600e9, 4) + " h";
}

std::string human_bytes(double bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    double value = bytes;
    while (value >= 1023.5 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    const bool is_whole =
        unit == 0 ? value >= 9.95 || value == std::floor(value) : value >= 99.5 || value == std::floor(value);
    return fmt::format("{:.{}f} {}", value, is_whole ? 0 : 1, units[unit]);
}

std::string human_count(double count) {
    if (count >= 1e7) {
        constexpr const char* units[] = {"M", "G", "T", "P", "E"};
        unsigned unit = 0;
        double value = count / 1e6;
        while (value >= 999.5 && unit + 1 < std::size(units)) {
            value /= 1000;
            ++unit;
        }
        return fmt::format("{} {}", significant(value, 4), units[unit]);
    }
    if (count < 99.95 && std::abs(count - std::round(count)) > 0.005) return fmt::format("{:.1f}", count);
    return with_commas(static_cast<std::uint64_t>(std::llround(count)));
}

std::string human_share(double share) {
    const double percent = share * 100;
    if (percent > 0 && percent < 0.05) return "<0.1%";
    return fmt::format("{:.{}f}%", percent, percent >= 99.95 ? 0 : 1);
}

std::string human_rate(double bytes_per_second) {
    const double megabytes = bytes_per_second / 1e6;
    if (bytes_per_second <= 0) return "0 MB/s";
    if (megabytes < 0.05) return "<0.1 MB/s";
    if (megabytes < 9.95) return fmt::format("{:.1f} MB/s", megabytes);
    return with_commas(static_cast<std::uint64_t>(std::llround(megabytes))) + " MB/s";
}

std::string human_number(double number) { return significant(number, 2); }

namespace {

std::string moment_as(const char* form, std::uint64_t ns_since_1970) {
    const auto seconds = static_cast<std::time_t>(ns_since_1970 / 1'000'000'000);
    std::tm parts{};
    if (!localtime_r(&seconds, &parts)) return "";
    char text[32];
    return {text, std::strftime(text, sizeof text, form, &parts)};
}

}  // namespace

std::string human_moment(std::uint64_t ns_since_1970) { return moment_as("%Y-%m-%d %H:%M:%S", ns_since_1970); }
std::string human_clock(std::uint64_t ns_since_1970) { return moment_as("%H:%M:%S", ns_since_1970); }

std::string plural(std::uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", with_commas(count), count == 1 ? one : many);
}

}  // namespace mpiprof::report
