// Axes, ticks, curves, legend.
#include "report/plots/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/plots/scale.h"

namespace mpiprof::report {
namespace {

constexpr double width = 640, height = 440;
constexpr double left = 72, right = 32, top = 48, bottom = 56;

// Okabe and Ito's colours, which people who see fewer colours tell apart, from dark to light in an order that grey
// keeps; and dashes and marks, which need no colour.
struct Look {
    std::string_view color, dash;
    Shape shape;
};
constexpr std::array<Look, 6> looks{{{"#0072b2", "", Shape::circle},
                                     {"#d55e00", "7 3", Shape::square},
                                     {"#009e73", "2 3", Shape::triangle},
                                     {"#cc79a7", "9 3 2 3", Shape::diamond},
                                     {"#000000", "4 2", Shape::cross},
                                     {"#e69f00", "1 2", Shape::circle}}};

// Beyond the sixth curve colours come again with other dashes and marks.
Look look_of(std::size_t curve) {
    const std::size_t round = curve / looks.size(), i = curve % looks.size(), other = (i + round) % looks.size();
    return {looks[i].color, looks[other].dash, looks[other].shape};
}

std::size_t letters_in(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// The first or last so many letters.
std::string first_of(const std::string& text, std::size_t letters) {
    std::size_t end = 0;
    while (end < text.size() && letters_in(std::string_view(text).substr(0, end + 1)) <= letters) ++end;
    return text.substr(0, end);
}
std::string last_of(const std::string& text, std::size_t letters) {
    return text.substr(first_of(text, letters_in(text) - letters).size());
}

// What tells names apart is often their end.
std::string legend_name(const std::string& name) {
    constexpr std::size_t most = 40, begin = 12;
    if (letters_in(name) <= most) return name;
    return first_of(name, begin) + "\u2026" + last_of(name, most - begin - 1);
}

std::string description_of(const Chart& chart) {
    std::string text = fmt::format("{} over {}.", chart.y.title, chart.x.title);
    for (const Curve& curve : chart.curves) {
        text += fmt::format(" {}:", curve.name.empty() ? "values" : curve.name);
        for (const Point& point : curve.points)
            text += fmt::format(" {} {};", plain_number(point.x), plain_number(point.y));
    }
    return text;
}

class Drawing {
  public:
    Drawing(const Chart& chart, const Extent& x, const Extent& y)
        : chart_(chart),
          canvas_(width, height, chart.title, description_of(chart)),
          x_(chart.x, x.least, x.most, left, width - right),
          y_(chart.y, y.least, y.most, height - bottom, top) {}

    std::string draw() {
        axes();
        if (chart_.has_diagonal) {
            const double end = std::min(x_.high(), y_.high());
            canvas_.line({x_.at(0), y_.at(0)}, {x_.at(end), y_.at(end)}, {.color = "#b8b8b8", .width = 1.5});
        }
        for (std::size_t i = 0; i < chart_.curves.size(); ++i) curve(chart_.curves[i], look_of(i));
        legend();
        canvas_.heading(chart_.title, chart_.of);
        return canvas_.svg();
    }

  private:
    void axes() {
        const Stroke grid{.color = "#e4e4e4"}, axis{.color = "#444444"};
        for (const Tick& tick : x_.ticks()) {
            canvas_.line({x_.at(tick.value), top}, {x_.at(tick.value), height - bottom}, grid);
            canvas_.text({x_.at(tick.value), height - bottom + 18}, tick.label, Anchor::middle);
        }
        for (const Tick& tick : y_.ticks()) {
            canvas_.line({left, y_.at(tick.value)}, {width - right, y_.at(tick.value)}, grid);
            canvas_.text({left - 8, y_.at(tick.value) + 4}, tick.label, Anchor::end);
        }
        canvas_.line({left, height - bottom}, {width - right, height - bottom}, axis);
        canvas_.line({left, top}, {left, height - bottom}, axis);
        canvas_.text({(left + width - right) / 2, height - 14}, chart_.x.title, Anchor::middle, 13);
        canvas_.vertical_text({20, (top + height - bottom) / 2}, chart_.y.title, 13);
    }

    void curve(const Curve& curve, const Look& look) {
        std::vector<Point> points;
        for (const Point& point : curve.points) points.push_back({x_.at(point.x), y_.at(point.y)});
        canvas_.polyline(points, {.color = look.color, .width = 2, .dash = look.dash});
        for (std::size_t i = 0; i < curve.spread.size(); ++i)
            canvas_.line({points[i].x, y_.at(curve.spread[i].x)}, {points[i].x, y_.at(curve.spread[i].y)},
                         {.color = look.color});
        for (std::size_t i = 0; i < points.size(); ++i)
            canvas_.mark(points[i], look.shape, look.color,
                         fmt::format("{}{} {}: {}", curve.name, curve.name.empty() ? "" : " at",
                                     plain_number(curve.points[i].x), plain_number(curve.points[i].y)));
    }

    double legend_width() const {
        constexpr double least = 170, before_name = 60, of_letter = 6.8;
        double wide = least;
        for (const Curve& curve : chart_.curves)
            wide = std::max(wide, before_name + of_letter * static_cast<double>(letters_in(legend_name(curve.name))));
        return wide;
    }

    // The corner with the fewest points below the legend.
    Point legend_corner() const {
        const double wide = legend_width();
        const double high = 18 * static_cast<double>(chart_.curves.size() + chart_.has_diagonal) + 12;
        const double right_side = width - right - wide, low = height - bottom - high;
        Point best{};
        std::size_t fewest = ~std::size_t{0};
        for (const Point corner :
             {Point{left, top}, Point{right_side, low}, Point{right_side, top}, Point{left, low}}) {
            std::size_t covered = 0;
            for (const Curve& curve : chart_.curves)
                for (const Point& point : curve.points) {
                    const double x = x_.at(point.x) - corner.x, y = y_.at(point.y) - corner.y;
                    covered += x > -4 && x < wide && y > -4 && y < high;
                }
            if (covered >= fewest) continue;
            fewest = covered;
            best = corner;
        }
        return best;
    }

    void legend() {
        const Point corner = legend_corner();
        const double x = corner.x;
        double y = corner.y + 16;
        for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
            if (chart_.curves[i].name.empty()) continue;
            const Look look = look_of(i);
            canvas_.line({x + 12, y}, {x + 44, y}, {.color = look.color, .width = 2, .dash = look.dash});
            canvas_.mark({x + 28, y}, look.shape, look.color, chart_.curves[i].name);
            canvas_.text({x + 52, y + 4}, legend_name(chart_.curves[i].name), Anchor::begin);
            y += 18;
        }
        if (!chart_.has_diagonal) return;
        canvas_.line({x + 12, y}, {x + 44, y}, {.color = "#b8b8b8", .width = 1.5});
        canvas_.text({x + 52, y + 4}, "perfect scaling", Anchor::begin);
    }

    const Chart& chart_;
    Canvas canvas_;
    Scale x_, y_;
};

}  // namespace

void Extent::add(double value) {
    least = is_empty ? value : std::min(least, value);
    most = is_empty ? value : std::max(most, value);
    is_empty = false;
}

std::pair<Extent, Extent> extents_of(const Chart& chart) {
    Extent x, y;
    for (const Curve& curve : chart.curves) {
        for (const Point& point : curve.points) {
            x.add(point.x);
            y.add(point.y);
        }
        for (const Point& spread : curve.spread) y.add(spread.y);
    }
    return {x, y};
}

std::string svg_of(const Chart& chart) {
    const auto [x, y] = extents_of(chart);
    return Drawing(chart, x, y).draw();
}

}  // namespace mpiprof::report
