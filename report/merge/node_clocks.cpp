// The line that keeps farthest from all bounds is taken for the truth: an interval's middle is nearer to it than its
// ends.
#include "report/merge/node_clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

constexpr double largest_slope = 1e-3;       // the kernel corrects a clock by 500 ppm at most, and crystals are better
constexpr std::ptrdiff_t least_bounds = 16;  // for a line of its own, where one line for all does not fit

}  // namespace

void NodeClocks::add(std::uint32_t node, const Moments& there, const Moments& at_reference) {
    bounds_[node].push_back({.at = there.last_in,
                             .least = at_reference.last_in - there.first_out,
                             .most = at_reference.first_out - there.last_in});
}

namespace {

// What bounds a line on one side: a moment, and the offset there.
struct Side {
    double at, offset;
    double off(double slope) const { return offset - slope * at; }
};

// Those that are the largest for no slope between these two are left out; a little room keeps what rounding may decide.
void keep_largest(std::vector<Side>& sides, double low, double high) {
    constexpr std::size_t few = 4;
    if (sides.size() <= few) return;
    double least = -std::numeric_limits<double>::infinity(), size = 0;
    for (const Side& side : sides) {
        const double one = side.off(low), other = side.off(high);
        least = std::max(least, std::min(one, other));
        size = std::max({size, std::abs(one), std::abs(other)});
    }
    const double enough = least - 1 - size * 1e-12;
    std::erase_if(sides, [&](const Side& side) { return std::max(side.off(low), side.off(high)) < enough; });
}

double largest(const std::vector<Side>& sides, double slope) {
    double most = -std::numeric_limits<double>::infinity();
    for (const Side& side : sides) most = std::max(most, side.off(slope));
    return most;
}

}  // namespace

// The room between the bounds is a concave function of the slope, so its largest value is found by bracketing. Few of
// the bounds matter in a small bracket. The upper ones are kept with their signs changed.
std::optional<NodeClocks::Line> NodeClocks::line_through(const Bound* first, const Bound* last) {
    const Bound& origin = *first;
    std::vector<Side> above, below;
    for (const Bound* b = first; b != last; ++b) {
        const auto at = static_cast<double>(b->at - origin.at);
        below.push_back({at, static_cast<double>(b->least - origin.least)});
        above.push_back({-at, -static_cast<double>(b->most - origin.least)});
    }
    const auto room_at = [&](double slope) { return -largest(above, slope) - largest(below, slope); };
    double low = -largest_slope, high = largest_slope;
    for (int i = 0; i < 80; ++i) {
        keep_largest(below, low, high);
        keep_largest(above, low, high);
        const double left = low + (high - low) / 3, right = high - (high - low) / 3;
        if (room_at(left) < room_at(right))
            low = left;
        else
            high = right;
    }
    const double slope = (low + high) / 2;
    const double least = largest(below, slope), most = -largest(above, slope);
    if (most - least < 0) return std::nullopt;
    return Line{.begin = origin.at,
                .offset = origin.least + static_cast<std::int64_t>((least + most) / 2),
                .slope = slope,
                .error_ns = (most - least) / 2};
}

// A clock that was corrected in the middle of the run has another line from there on.
bool NodeClocks::add_lines(const Bound* first, const Bound* last, std::vector<Line>& lines) {
    if (const auto line = line_through(first, last)) {
        lines.push_back(*line);
        return true;
    }
    if (last - first < 2 * least_bounds) return false;
    const Bound* middle = first + (last - first) / 2;
    return add_lines(first, middle, lines) && add_lines(middle, last, lines);
}

void NodeClocks::solve() {
    for (auto& [node, bounds] : bounds_) {
        sort_by(bounds, &Bound::at);
        std::vector<Line> lines;
        if (add_lines(bounds.data(), bounds.data() + bounds.size(), lines)) lines_.emplace(node, std::move(lines));
    }
    bounds_.clear();
}

NodeClocks::Clock NodeClocks::clock_of(std::uint32_t node) const {
    const auto found = node == reference_ ? lines_.end() : lines_.find(node);
    return found == lines_.end() ? Clock({}) : Clock(found->second);
}

const NodeClocks::Line& NodeClocks::Clock::line_at(std::int64_t moment) const {
    auto line = std::upper_bound(lines_.begin(), lines_.end(), moment,
                                 [](std::int64_t at, const Line& l) { return at < l.begin; });
    if (line != lines_.begin()) --line;
    return *line;
}

std::optional<std::int64_t> NodeClocks::offset(std::uint32_t node, std::int64_t moment) const {
    if (!knows(node)) return std::nullopt;
    return clock_of(node).offset(moment);
}

double NodeClocks::error_ns(std::uint32_t node) const {
    const auto found = lines_.find(node);
    double error = 0;
    if (found != lines_.end())
        for (const Line& line : found->second) error = std::max(error, line.error_ns);
    return error;
}

}  // namespace mpiprof::report
