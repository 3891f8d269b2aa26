// Dark and light bars: told apart without colours, too.
#include "report/plots/bars.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/plots/canvas.h"
#include "report/plots/scale.h"

namespace mpiprof::report {
namespace {

constexpr double width = 640, height = 440;
constexpr double left = 190, right = 40, top = 66, bottom = 52;
constexpr std::string_view colors[] = {"#0072b2", "#e69f00"};

std::string description_of(const Bars& bars) {
    std::string text = bars.axis + ".";
    for (const Bars::Group& group : bars.groups)
        for (std::size_t i = 0; i < group.values.size(); ++i)
            text += fmt::format(" {}, {}: {};", group.name, bars.series[i], plain_number(group.values[i]));
    return text;
}

}  // namespace

std::string svg_of(const Bars& bars) {
    double most = 0;
    for (const Bars::Group& group : bars.groups)
        for (const double value : group.values) most = std::max(most, value);
    const Scale x({ChartAxis::Kind::linear, bars.axis}, 0, most, left, width - right);
    Canvas canvas(width, height, bars.title, description_of(bars));
    for (const Tick& tick : x.ticks()) {
        canvas.line({x.at(tick.value), top}, {x.at(tick.value), height - bottom}, {.color = "#e4e4e4"});
        canvas.text({x.at(tick.value), height - bottom + 18}, tick.label, Anchor::middle);
    }
    canvas.line({left, top}, {left, height - bottom}, {.color = "#444444"});
    canvas.text({(left + width - right) / 2, height - 12}, bars.axis, Anchor::middle, 13);
    canvas.heading(bars.title, bars.of);
    const double slot = (height - top - bottom) / static_cast<double>(std::max<std::size_t>(bars.groups.size(), 1));
    const double thickness =
        std::min(0.8 * slot / static_cast<double>(std::max<std::size_t>(bars.series.size(), 1)), 24.0);
    for (std::size_t g = 0; g < bars.groups.size(); ++g) {
        const Bars::Group& group = bars.groups[g];
        const double middle = top + (static_cast<double>(g) + 0.5) * slot;
        canvas.text({left - 8, middle + 4}, group.name, Anchor::end, 11);
        double y = middle - thickness * static_cast<double>(group.values.size()) / 2;
        for (std::size_t i = 0; i < group.values.size(); ++i, y += thickness)
            canvas.box({left, y}, {x.at(group.values[i]), y + thickness * 0.92}, colors[i % 2],
                       fmt::format("{}, {}: {}", group.name, bars.series[i], plain_number(group.values[i])));
    }
    double at = left;
    for (std::size_t i = 0; i < bars.series.size(); ++i) {
        canvas.box({at, 44}, {at + 14, 56}, colors[i % 2]);
        canvas.text({at + 20, 55}, bars.series[i], Anchor::begin);
        at += 40 + 7.5 * static_cast<double>(bars.series[i].size());
    }
    return canvas.svg();
}

}  // namespace mpiprof::report
