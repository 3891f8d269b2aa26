// The range of an axis, its ticks, and where on it a value lies: for charts on a canvas and on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpiprof::report {

struct ChartAxis {
    enum class Kind : std::uint8_t { linear, integers, bytes, decades };  // the last two in equal ratios
    Kind kind = Kind::linear;
    std::string title;
};

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

}  // namespace mpiprof::report
