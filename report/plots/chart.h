// A chart: curves over two axes, linear or in equal ratios, with labelled ticks and a legend. Values in, SVG out; the
// plots of report/plot.cpp make it of what tables show.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/plots/canvas.h"
#include "report/plots/scale.h"

namespace mpiprof::report {

struct Curve {
    std::string name;
    std::vector<Point> points;    // ascending in x
    std::vector<Point> spread{};  // of each point the smallest and largest y, as x and y; empty: none
};

struct Chart {
    std::string title;
    std::string of{};  // the run, or the runs
    ChartAxis x, y;
    std::vector<Curve> curves;
    bool has_diagonal = false;  // light, y = x: perfect scaling
};

// The least and most values of all curves.
struct Extent {
    double least = 0, most = 0;
    bool is_empty = true;

    void add(double value);
};
std::pair<Extent, Extent> extents_of(const Chart& chart);

std::string svg_of(const Chart& chart);

}  // namespace mpiprof::report
