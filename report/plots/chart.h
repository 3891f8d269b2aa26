// A chart: curves over two axes, linear or in equal ratios, with labelled ticks and a legend. Values in, SVG out; the
// plots of report/plot.cpp make it of what tables show.
#pragma once

#include <string>
#include <vector>

#include "report/plots/canvas.h"

namespace mpiprof::report {

struct ChartAxis {
    enum class Kind : std::uint8_t { linear, integers, bytes, decades };  // the last two in equal ratios
    Kind kind = Kind::linear;
    std::string title;
};

struct Curve {
    std::string name;
    std::vector<Point> points;    // ascending in x
    std::vector<Point> spread{};  // of each point the smallest and largest y, as x and y; empty: none
};

struct Chart {
    std::string title;
    ChartAxis x, y;
    std::vector<Curve> curves;
    bool has_diagonal = false;  // light, y = x: perfect scaling
};

std::string svg_of(const Chart& chart);

}  // namespace mpiprof::report
