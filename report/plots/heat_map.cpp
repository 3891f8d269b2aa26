// One hue from light to dark, which grey keeps.
#include "report/plots/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"
#include "report/plots/canvas.h"
#include "report/plots/scale.h"

namespace mpiprof::report {
namespace {

constexpr double width = 640, height = 440;
constexpr double left = 84, right = 130, top = 54, bottom = 56;
constexpr int shades = 32;

// From white to a dark blue.
std::string color_of(double part) {
    const double at = std::clamp(part, 0.0, 1.0);
    const auto mix = [&](double from, double to) { return static_cast<int>(std::lround(from + at * (to - from))); };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(235, 8), mix(243, 29), mix(251, 88));
}

class Shades {
  public:
    explicit Shades(const HeatMap& map) : by_ratio_(map.by_ratio), most_(map.most) {
        for (const HeatMap::Line& line : map.lines)
            for (const double value : line.values) {
                if (!(value > 0)) continue;
                least_ = least_ > 0 ? std::min(least_, value) : value;
                if (map.most <= 0) most_ = std::max(most_, value);
            }
        if (!by_ratio_) least_ = 0;
    }
    double part(double value) const {
        if (most_ <= least_) return 1;
        return by_ratio_ ? std::log(value / least_) / std::log(most_ / least_) : value / most_;
    }
    double at(double part) const {
        return by_ratio_ ? least_ * std::pow(most_ / least_, part) : least_ + part * (most_ - least_);
    }
    double least() const { return least_; }
    double most() const { return most_; }

  private:
    bool by_ratio_;
    double least_ = 0, most_ = 0;
};

std::string text_of(double value, const HeatMap& map) {
    return map.values == HeatMap::Of::bytes ? human_bytes(value) : human_share(value);
}

std::string description_of(const HeatMap& map) {
    return fmt::format("{} over {}, {} lines.", map.y, map.x, map.lines.size());
}

// Ticks, borders of nodes, and what is marked.
void axis_and_places(Canvas& canvas, const HeatMap& map, double wide) {
    const double high = height - top - bottom;
    const Stroke border{.color = "#8a8a8a", .dash = "2 2"};
    if (map.ticks.empty()) {
        canvas.text({left, height - bottom + 18}, map.first, Anchor::begin);
        canvas.text({left + wide, height - bottom + 18}, map.last, Anchor::end);
    }
    for (const HeatMap::Place& tick : map.ticks) {
        const double x = left + tick.at * wide;
        canvas.line({x, top + high}, {x, top + high + 4}, {.color = "#444444"});
        canvas.text({x, height - bottom + 18}, tick.text, Anchor::middle);
    }
    for (const double at : map.borders) {
        canvas.line({left, top + at * high}, {left + wide, top + at * high}, border);
        if (map.is_square) canvas.line({left + at * wide, top}, {left + at * wide, top + high}, border);
    }
    for (const HeatMap::Place& mark : map.marks) {
        const double x = left + mark.at * wide;
        canvas.line({x, top}, {x, top + high}, {.color = "#d55e00", .width = 2});
        canvas.text({x, top - 4}, mark.text,
                    mark.at < 0.2   ? Anchor::begin
                    : mark.at > 0.8 ? Anchor::end
                                    : Anchor::middle,
                    11);
    }
}

}  // namespace

std::string svg_of(const HeatMap& map) {
    Canvas canvas(width, height, map.title, description_of(map));
    const Shades scale(map);
    const double high = height - top - bottom, wide = map.is_square ? high : width - left - right;
    const double line_height = high / static_cast<double>(std::max<std::size_t>(map.lines.size(), 1));
    const std::size_t every = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(13 / line_height)));
    for (std::size_t l = 0; l < map.lines.size(); ++l) {
        const HeatMap::Line& line = map.lines[l];
        const double y = top + static_cast<double>(l) * line_height;
        if (l % every == 0) canvas.text({left - 6, y + line_height / 2 + 4}, line.name, Anchor::end, 11);
        const double step = wide / static_cast<double>(std::max<std::size_t>(line.values.size(), 1));
        for (std::size_t i = 0; i < line.values.size(); ++i) {
            const double value = line.values[i], x = left + static_cast<double>(i) * step;
            if (std::isnan(value))
                canvas.line({x, y + line_height / 2}, {x + step, y + line_height / 2}, {.color = "#b8b8b8"});
            else if (value > 0)
                canvas.box({x, y}, {x + step, y + line_height}, color_of(scale.part(value)),
                           fmt::format("{}, {}: {}", line.name, i, plain_number(value)));
        }
    }
    const Stroke frame{.color = "#444444"};
    canvas.polyline({{left, top}, {left + wide, top}, {left + wide, top + high}, {left, top + high}, {left, top}},
                    frame);
    axis_and_places(canvas, map, wide);
    canvas.text({left + wide / 2, height - 14}, map.x, Anchor::middle, 13);
    canvas.vertical_text({20, top + high / 2}, map.y, 13);
    canvas.heading(map.title, map.of);
    // What the shades mean.
    const double key = left + wide + 24;
    for (int i = 0; i < shades; ++i) {
        const double from = top + high * (1 - static_cast<double>(i + 1) / shades);
        canvas.box({key, from}, {key + 16, from + high / shades + 0.3}, color_of((i + 0.5) / shades));
    }
    for (const double part : {1.0, 0.5, 0.0}) {
        if (part < 1 && !(scale.most() > scale.least())) break;
        canvas.text({key + 22, top + high * (1 - part) + 4}, text_of(scale.at(part), map), Anchor::begin, 11);
    }
    return canvas.svg();
}

}  // namespace mpiprof::report
