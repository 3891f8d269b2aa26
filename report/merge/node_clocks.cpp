// The line that keeps farthest from all bounds is taken for the truth: an interval's middle is nearer to it than its
// ends.
#include "report/merge/node_clocks.h"

#include <algorithm>
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

// The room between the bounds is a concave function of the slope, so its largest value is found by bracketing.
std::optional<NodeClocks::Line> NodeClocks::line_through(const Bound* first, const Bound* last) {
    const Bound& origin = *first;
    struct Room {
        double least, most;
        double width() const { return most - least; }
    };
    const auto room_at = [&](double slope) {
        Room room{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        for (const Bound* b = first; b != last; ++b) {
            const double drift = slope * static_cast<double>(b->at - origin.at);
            room.least = std::max(room.least, static_cast<double>(b->least - origin.least) - drift);
            room.most = std::min(room.most, static_cast<double>(b->most - origin.least) - drift);
        }
        return room;
    };
    double low = -largest_slope, high = largest_slope;
    for (int i = 0; i < 80; ++i) {
        const double left = low + (high - low) / 3, right = high - (high - low) / 3;
        (room_at(left).width() < room_at(right).width() ? low : high) =
            room_at(left).width() < room_at(right).width() ? left : right;
    }
    const double slope = (low + high) / 2;
    const Room room = room_at(slope);
    if (room.width() < 0) return std::nullopt;
    return Line{.begin = origin.at,
                .offset = origin.least + static_cast<std::int64_t>((room.least + room.most) / 2),
                .slope = slope,
                .error_ns = room.width() / 2};
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

std::optional<std::int64_t> NodeClocks::offset(std::uint32_t node, std::int64_t moment) const {
    if (node == reference_) return 0;
    const auto found = lines_.find(node);
    if (found == lines_.end()) return std::nullopt;
    const std::vector<Line>& lines = found->second;
    auto line = std::upper_bound(lines.begin(), lines.end(), moment,
                                 [](std::int64_t at, const Line& l) { return at < l.begin; });
    if (line != lines.begin()) --line;
    return line->offset + static_cast<std::int64_t>(line->slope * static_cast<double>(moment - line->begin));
}

double NodeClocks::error_ns(std::uint32_t node) const {
    const auto found = lines_.find(node);
    double error = 0;
    if (found != lines_.end())
        for (const Line& line : found->second) error = std::max(error, line.error_ns);
    return error;
}

}  // namespace mpiprof::report
