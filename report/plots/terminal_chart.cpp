// The chart is drawn into a grid of characters, which becomes text line by line.
#include "report/plots/terminal_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/model/visible.h"
#include "report/plots/scale.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t rows = 18;
constexpr std::string_view letters = "ox+*#@";

class Grid {
  public:
    Grid(const Chart& chart, std::size_t columns, std::size_t margin, bool utf8)
        : chart_(chart),
          columns_(columns),
          margin_(margin),
          utf8_(utf8),
          cells_(rows, std::string(columns, ' ')),
          x_(chart.x, extents_of(chart).first.least, extents_of(chart).first.most, 0, static_cast<double>(columns - 1)),
          y_(chart.y, extents_of(chart).second.least, extents_of(chart).second.most, static_cast<double>(rows - 1), 0) {
    }

    std::string draw() {
        if (chart_.has_diagonal) {
            const double end = std::min(x_.high(), y_.high());
            line({0, 0}, {end, end}, '`');
        }
        for (const Curve& curve : chart_.curves)
            for (std::size_t i = 1; i < curve.points.size(); ++i) line(curve.points[i - 1], curve.points[i], '.');
        for (std::size_t c = 0; c < chart_.curves.size(); ++c)
            for (const Point& point : chart_.curves[c].points) put(place(point), letters[c % letters.size()], true);
        std::string text = fmt::format("  {}\n{}\n  {}\n", chart_.title,
                                       chart_.of.empty() ? "" : "  " + visible(chart_.of, utf8_) + "\n",
                                       visible(chart_.y.title, utf8_));
        for (std::size_t row = 0; row < rows; ++row) text += trimmed(label_of(row) + " |" + cells_[row]) + "\n";
        text += std::string(margin_ + 1, ' ') + "+" + std::string(columns_, '-') + "\n";
        text += trimmed(ticks()) + "\n";
        text += std::string(margin_ + 2, ' ') + chart_.x.title + "\n\n";
        return text + legend();
    }

  private:
    struct Cell {
        std::ptrdiff_t column, row;
    };
    static std::string trimmed(std::string line) {
        line.resize(line.find_last_not_of(' ') + 1);
        return line;
    }
    Cell place(const Point& point) const { return {std::lround(x_.at(point.x)), std::lround(y_.at(point.y))}; }
    void put(Cell cell, char letter, bool over) {
        if (cell.column < 0 || cell.row < 0 || cell.column >= static_cast<std::ptrdiff_t>(columns_) ||
            cell.row >= static_cast<std::ptrdiff_t>(rows))
            return;
        char& at = cells_[static_cast<std::size_t>(cell.row)][static_cast<std::size_t>(cell.column)];
        if (over || at == ' ' || at == '`') at = letter;
    }
    // Straight on the grid, as on the picture.
    void line(const Point& from, const Point& to, char letter) {
        const double x0 = x_.at(from.x), y0 = y_.at(from.y), x1 = x_.at(to.x), y1 = y_.at(to.y);
        const int steps = static_cast<int>(std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0}));
        for (int i = 0; i <= steps; ++i) {
            const double part = static_cast<double>(i) / steps;
            put({std::lround(x0 + part * (x1 - x0)), std::lround(y0 + part * (y1 - y0))}, letter, false);
        }
    }
    std::string label_of(std::size_t row) const {
        for (const Tick& tick : y_.ticks())
            if (std::lround(y_.at(tick.value)) == static_cast<long>(row))
                return fmt::format("{:>{}}", tick.label, margin_);
        return std::string(margin_, ' ');
    }
    std::string ticks() const {
        std::string line(margin_ + 2 + columns_ + 12, ' ');
        std::size_t free = 0;
        for (const Tick& tick : x_.ticks()) {
            const std::size_t middle = margin_ + 2 + static_cast<std::size_t>(std::lround(x_.at(tick.value)));
            std::size_t begin = middle - std::min(middle, tick.label.size() / 2);
            begin = std::min(begin, margin_ + 2 + columns_ - std::min(columns_, tick.label.size()));
            if (begin < free) continue;
            line.replace(begin, tick.label.size(), tick.label);
            free = begin + tick.label.size() + 1;
        }
        return line;
    }
    std::string legend() const {
        std::string text;
        for (std::size_t c = 0; c < chart_.curves.size(); ++c)
            if (!chart_.curves[c].name.empty())
                text += fmt::format("  {} {}\n", letters[c % letters.size()], visible(chart_.curves[c].name, utf8_));
        return chart_.has_diagonal ? text + "  ` perfect scaling\n" : text;
    }

    const Chart& chart_;
    std::size_t columns_, margin_;
    bool utf8_;
    std::vector<std::string> cells_;
    Scale x_, y_;
};

}  // namespace

std::string text_of(const Chart& chart, unsigned columns, bool utf8) {
    const auto [x, y] = extents_of(chart);
    std::size_t margin = 6;
    const Scale scale(chart.y, y.least, y.most, 0, 1);
    for (const Tick& tick : scale.ticks()) margin = std::max(margin, tick.label.size() + 2);
    const std::size_t inside = std::clamp<std::size_t>(columns, 40, 100) - margin - 2;
    return Grid(chart, inside, margin, utf8).draw();
}

}  // namespace mpiprof::report
