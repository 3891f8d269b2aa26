// A linear axis has ticks at steps of 1, 2 or 5 from 0 on; an axis of ratios at powers of 2 or 10.
#include "report/plots/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/units.h"

namespace mpiprof::report {
namespace {

bool is_in_ratios(const ChartAxis& axis) {
    return axis.kind == ChartAxis::Kind::bytes || axis.kind == ChartAxis::Kind::decades;
}

}  // namespace

double nice_step(double span) {
    const double raw = span / 5, power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= raw * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

std::string plain_number(double value) { return fmt::format("{:.6g}", value); }

Scale::Scale(const ChartAxis& axis, double least, double most, double from, double to)
    : is_log_(is_in_ratios(axis)), from_(from), to_(to) {
    if (axis.kind == ChartAxis::Kind::bytes)
        by_ratio(least, most, 2, 8);
    else if (axis.kind == ChartAxis::Kind::decades)
        by_ratio(least, most, 10, 1);
    else
        by_step(most, axis.kind == ChartAxis::Kind::integers);
    for (Tick& tick : ticks_)
        tick.label = axis.kind == ChartAxis::Kind::bytes ? human_bytes(tick.value) : plain_number(tick.value);
}

double Scale::at(double value) const {
    const double part = (place(value) - place(low_)) / (place(high_) - place(low_));
    return from_ + part * (to_ - from_);
}

double Scale::place(double value) const { return is_log_ ? std::log(value) : value; }

// From 0 on.
void Scale::by_step(double most, bool only_integers) {
    double step = nice_step(std::max(most, 1e-12));
    if (only_integers) step = most <= 12 ? 1 : std::max(1.0, std::ceil(step));
    low_ = 0;
    high_ = step * std::max(std::ceil(most / step - 1e-9), 1.0);
    for (int i = 0; i * step <= high_ * (1 + 1e-9); ++i) ticks_.push_back({i * step, {}});
}

// Powers of a base; every so many are ticks where there are too many.
void Scale::by_ratio(double least, double most, double base, int most_between) {
    const auto first = static_cast<int>(std::floor(std::log(least) / std::log(base) + 1e-9));
    auto last = static_cast<int>(std::ceil(std::log(most) / std::log(base) - 1e-9));
    last = std::max(last, first + 1);
    low_ = std::pow(base, first);
    high_ = std::pow(base, last);
    const int every = std::clamp((last - first) / 6, 1, std::max(most_between, (last - first) / 6));
    for (int power = first; power <= last; power += every) ticks_.push_back({std::pow(base, power), {}});
}

}  // namespace mpiprof::report
