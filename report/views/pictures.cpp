// The glyphs of each drawing, in Unicode and ASCII, and how many of them a value gets.
#include "report/views/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace mpiprof::report {
namespace {

constexpr std::array<std::string_view, 8> eighths{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::array<std::string_view, 8> heights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 8> ascii_heights{"_", ".", "-", "=", "+", "o", "O", "#"};
constexpr std::array<std::string_view, 5> shade_glyphs{" ", "░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 5> ascii_shades{" ", ".", "+", "x", "#"};
constexpr std::string_view glyph_of_unknown = "-";
// The first segment is what the others are set against.
constexpr std::array<std::string_view, 13> segments{"░", "▤", "█", "▓", "▒", "▞", "▪", "▚", "▐", "▧", "·", ":", "▫"};
constexpr std::array<std::string_view, 13> ascii_segments{".", "'", "#", "=", "+", "o", "-",
                                                          "%", "?", "*", "_", ":", "~"};

std::string repeat(std::string_view glyph, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += glyph;
    return out;
}

// At most so many groups of neighbours, each by its greatest value in the order of `less`.
template <class Less>
std::vector<double> grouped(std::span<const double> values, std::size_t groups, Less less) {
    if (values.size() <= groups) return {values.begin(), values.end()};
    std::vector<double> result;
    for (std::size_t group = 0; group < groups; ++group) {
        const std::size_t begin = group * values.size() / groups;
        const std::size_t end = (group + 1) * values.size() / groups;
        result.push_back(*std::max_element(values.begin() + begin, values.begin() + end, less));
    }
    return result;
}

}  // namespace

std::string bar(double share, std::size_t width, bool utf8) {
    const double length = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
    if (!utf8) return std::string(static_cast<std::size_t>(std::lround(length)), '#');
    const auto parts = static_cast<std::size_t>(std::lround(length * 8));
    std::string out = repeat("█", parts / 8);
    if (parts % 8) out += eighths[parts % 8];
    return out;
}

std::string sparkline(std::span<const double> values, Range range, std::size_t width, bool utf8) {
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    const auto less_unusual = [&](double a, double b) { return std::abs(a - mean) < std::abs(b - mean); };
    std::string out;
    for (const double value : grouped(values, std::max<std::size_t>(width, 1), less_unusual)) {
        const auto step = static_cast<std::size_t>(std::clamp(std::lround(height_of(value, range) * 7), 0L, 7L));
        out += utf8 ? heights[step] : ascii_heights[step];
    }
    return out;
}

std::string heat(std::span<const double> values, Shades shades, std::size_t width, bool utf8) {
    const auto less = [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a < b; };
    std::string out;
    for (const double value : grouped(values, std::max<std::size_t>(width, 1), less))
        out += std::isnan(value) ? glyph_of_unknown : (utf8 ? shade_glyphs : ascii_shades)[shade_of(value, shades)];
    return out;
}

std::string histogram(std::span<const double> counts, std::size_t width, bool utf8) {
    const std::vector<double> values = grouped(counts, std::max<std::size_t>(width, 1), std::less<>());
    const double most = *std::ranges::max_element(values);
    std::string out;
    for (const double value : values) {
        const auto step = static_cast<std::size_t>(std::lround(value / std::max(most, 1.0) * 7));
        out += !(value > 0) ? " " : (utf8 ? heights : ascii_heights)[std::min(step, heights.size() - 1)];
    }
    return out;
}

std::vector<std::size_t> stacked_widths(std::span<const double> shares, std::size_t width) {
    std::vector<std::size_t> widths;
    for (const double share : shares) {
        const double exact = share * static_cast<double>(width);
        widths.push_back(share >= 0.01 ? std::max<std::size_t>(1, static_cast<std::size_t>(exact))
                                       : static_cast<std::size_t>(exact));
    }
    // What rounding left goes to the segments that lost most; what was given to slivers is taken from the widest.
    std::size_t used = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
    while (!widths.empty() && used != width) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < widths.size(); ++i) {
            const auto lack = [&](std::size_t at) {
                return shares[at] * static_cast<double>(width) - static_cast<double>(widths[at]);
            };
            if (used < width ? lack(i) > lack(best) : widths[i] > widths[best]) best = i;
        }
        used < width ? (++widths[best], ++used) : (--widths[best], --used);
    }
    return widths;
}

std::string_view stacked_glyph(std::size_t segment, bool utf8) {
    const std::size_t at = std::min(segment, segments.size() - 1);
    return utf8 ? segments[at] : ascii_segments[at];
}

}  // namespace mpiprof::report
