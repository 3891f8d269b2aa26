// Few lines are no higher than is easy to compare, few bins no wider; what is not 0 is seen, however small.
#include "report/plots/histograms.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/units.h"
#include "report/plots/canvas.h"

namespace mpiprof::report {
namespace {

constexpr double width = 640, height = 440, left = 150, right = 110, top = 50, bottom = 48;
constexpr double most_step = 44, label_width = 56, least = 1.5;

struct Steps {
    double line, bin;
};

std::string description_of(const Histograms& of) {
    std::string text = fmt::format("{}.", of.axis);
    for (const Histograms::Line& line : of.lines) text += fmt::format(" {};", line.name);
    return text;
}

void draw(Canvas& canvas, const Histograms& of, const Histograms::Line& line, double base, Steps steps) {
    const double most = line.counts.empty() ? 0 : *std::ranges::max_element(line.counts);
    canvas.line({left, base}, {width - right, base}, {.color = "#c8c8c8"});
    canvas.text({left - 8, base - 4}, line.name, Anchor::end, 11);
    canvas.text({width - right + 8, base - 4}, fmt::format("highest: {}", human_count(most)), Anchor::begin, 11);
    for (std::size_t i = 0; i < line.counts.size(); ++i) {
        if (!(line.counts[i] > 0)) continue;
        const double x = left + static_cast<double>(i) * steps.bin;
        const double high = std::max(least, line.counts[i] / most * 0.8 * steps.line);
        canvas.box({x, base - high}, {x + steps.bin * 0.88, base}, "#0072b2",
                   fmt::format("{}, {}: {} {}", line.name, of.bins[i], human_count(line.counts[i]), of.unit));
    }
}

}  // namespace

std::string svg_of(const Histograms& of) {
    const auto step = [](double room, std::size_t count) {
        return std::min(most_step, room / static_cast<double>(std::max<std::size_t>(count, 1)));
    };
    const Steps steps{step(height - top - bottom, of.lines.size()), step(width - left - right, of.bins.size())};
    Canvas canvas(width, height, of.title, description_of(of));
    canvas.heading(of.title, of.of);
    double base = top;
    for (const Histograms::Line& line : of.lines) draw(canvas, of, line, base += steps.line, steps);
    const auto every = std::max<std::size_t>(1, static_cast<std::size_t>(label_width / steps.bin + 1));
    for (std::size_t i = 0; i < of.bins.size(); i += every)
        canvas.text({left + (static_cast<double>(i) + 0.44) * steps.bin, base + 17}, of.bins[i], Anchor::middle, 11);
    canvas.text({left, base + 38}, of.axis, Anchor::begin, 13);
    return canvas.svg();
}

}  // namespace mpiprof::report
