// The range of an axis, its ticks, and where on it a value lies: for charts on a canvas and on a terminal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/plots/chart.h"

namespace mpiprof::report {

struct Tick {
    double value;
    std::string label;
};

// Six digits.
std::string plain_number(double value);
// 1, 2 or 5 times a power of ten, so that about five ticks fit.
double nice_step(double span);

class Scale {
  public:
    // From the least to the most of an axis, drawn between two places.
    Scale(const ChartAxis& axis, double least, double most, double from, double to);

    double at(double value) const;
    const std::vector<Tick>& ticks() const { return ticks_; }
    double low() const { return low_; }
    double high() const { return high_; }

  private:
    double place(double value) const;
    void by_step(double most, bool only_integers);
    void by_ratio(double least, double most, double base, int most_between);

    bool is_log_;
    double from_, to_;
    double low_ = 0, high_ = 1;
    std::vector<Tick> ticks_;
};

// The least and most values of all curves.
struct Extent {
    double least = 0, most = 0;
    bool is_empty = true;

    void add(double value);
};
std::pair<Extent, Extent> extents_of(const Chart& chart);

}  // namespace mpiprof::report
