// Colours of bars and shades are the style's, so that they follow the theme. Sizes stand in attributes: the page's
// policy forbids styles of single elements, and a page without its style is still drawn right.
#include "report/page/drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/model/units.h"
#include "report/model/visible.h"

namespace mpiprof::report::page {
namespace {

constexpr int bar_width = 110, line_width = 160, height = 12;

// Of more values than there are pixels the smallest and the largest of each pixel, so that no peak is lost.
Series thinned(const Series& values) {
    if (values.size() <= 2 * line_width) return values;
    Series result;
    for (std::size_t pixel = 0; pixel < line_width; ++pixel) {
        const auto at = [&](std::size_t i) {
            return values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / line_width);
        };
        const auto [least, most] = std::minmax_element(at(pixel), at(pixel + 1));
        result.push_back(*least);
        result.push_back(*most);
    }
    return result;
}

}  // namespace

std::string bar(double share) {
    return fmt::format(
        R"(<svg width="{0}" height="{1}" aria-hidden="true"><rect class="bar" width="{2:.1f}" height="{1}" rx="2"/></svg>)",
        bar_width, height, std::clamp(share, 0.0, 1.0) * bar_width);
}

std::string sparkline(const Series& all, Range range) {
    const Series values = thinned(all);
    std::string points;
    const double step = line_width / std::max(1.0, static_cast<double>(values.size()) - 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double part = std::clamp(height_of(values[i], range), 0.0, 1.0);
        points += fmt::format("{:.1f},{:.1f} ", static_cast<double>(i) * step, 1 + (1 - part) * (height - 2));
    }
    return fmt::format(R"(<svg width="{}" height="{}" aria-hidden="true"><polyline class="trace" points="{}"/></svg>)",
                       line_width, height, points);
}

std::string heat(const Series& values, const Shades& shades, const std::vector<double>& marks) {
    std::array<std::string, most_shade + 1> paths;  // the first of what is not known
    for (std::size_t begin = 0, end; begin < values.size(); begin = end) {
        const auto shade = [&](std::size_t i) {
            if (std::isnan(values[i])) return std::size_t{0};
            return values[i] > 0 ? shade_of(values[i], shades) : paths.size();
        };
        end = begin + 1;
        while (end < values.size() && shade(end) == shade(begin)) ++end;
        if (shade(begin) < paths.size())
            paths[shade(begin)] += fmt::format("M{} 0h{}v1h-{}z", begin, end - begin, end - begin);
    }
    std::string svg = fmt::format(
        R"(<svg width="{}" height="{}" viewBox="0 0 {} 1" preserveAspectRatio="none" aria-hidden="true">)",
        std::clamp<std::size_t>(values.size() * 4, line_width, 800), height, std::max<std::size_t>(1, values.size()));
    for (std::size_t shade = 0; shade < paths.size(); ++shade)
        if (!paths[shade].empty()) svg += fmt::format(R"(<path class="s{}" d="{}"/>)", shade, paths[shade]);
    for (const double at : marks)
        svg += fmt::format(R"(<path class="mark" d="M{:.2f} 0v1"/>)", at * static_cast<double>(values.size()));
    return svg + "</svg>";
}

std::string histogram(const Series& counts) {
    constexpr int wide = 6, high = 2 * height;
    constexpr double least = 1.5;  // of what is not 0
    const double most = counts.empty() ? 0 : *std::ranges::max_element(counts);
    std::string path;
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0)
            path += fmt::format("M{} {}v-{:.1f}h{}v{:.1f}z", i * wide, high, std::max(least, counts[i] / most * high),
                                wide - 1, std::max(least, counts[i] / most * high));
    return fmt::format(R"(<svg width="{}" height="{}" aria-hidden="true"><path class="bar" d="{}"/></svg>)",
                       counts.size() * wide, high, path);
}

std::string_view colour_of(std::size_t segment) {
    constexpr std::array<std::string_view, 13> colours{"#8a97a8", "#c9a227", "#b3441e", "#2f6fde", "#7a4fbf",
                                                       "#1a7f4b", "#d07ab0", "#4f9aa8", "#7d5a3c", "#e07b39",
                                                       "#9fb84a", "#46506b", "#b8b0a0"};
    return colours[segment % colours.size()];
}

std::string stacked(const StackedBar& bar) {
    constexpr double width = 1000;
    std::string segments, legend;
    double at = 0;
    for (std::size_t i = 0; i < bar.segments.size(); ++i) {
        const StackedBar::Segment& segment = bar.segments[i];
        if (!(segment.share > 0)) continue;
        const std::string text = in_markup(segment.label.text + " " + human_share(segment.share));
        const std::string_view colour = colour_of(i);
        segments += fmt::format(R"(<rect x="{:.1f}" width="{:.1f}" height="26" fill="{}"><title>{}</title></rect>)", at,
                                segment.share * width, colour, text);
        legend += fmt::format(
            R"(<li><svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" fill="{}"/></svg> {}</li>)",
            colour, text);
        at += segment.share * width;
    }
    return fmt::format(
        R"(<svg width="100%" height="26" viewBox="0 0 {} 26" preserveAspectRatio="none" role="img" aria-label="Parts of the run, as listed below">{}</svg><ul class="legend">{}</ul>)",
        width, segments, legend);
}

}  // namespace mpiprof::report::page
