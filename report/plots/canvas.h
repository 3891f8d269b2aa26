// A small canvas of ours: lines, marks and text as an SVG file. Text stays text, so that it can be searched, read aloud
// and set anew. chart draws on it; it knows neither axes nor numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpiprof::report {

struct Point {
    double x = 0, y = 0;
};

// How a line and its marks look. Colours, dashes and shapes all differ: each alone tells curves apart, in print without
// colours, too.
struct Stroke {
    std::string_view color = "#000000";
    double width = 1;
    std::string_view dash{};  // as SVG takes it; empty: none
};

enum class Anchor : std::uint8_t { begin, middle, end };
enum class Shape : std::uint8_t { circle, square, triangle, diamond, cross };

class Canvas {
  public:
    Canvas(double width, double height, std::string_view title, std::string_view description);

    void line(Point from, Point to, const Stroke& stroke);
    void polyline(const std::vector<Point>& points, const Stroke& stroke);
    // `about` is what a reader is told who points at it.
    void mark(Point at, Shape shape, std::string_view color, std::string_view about);
    // Filled; `about` as of a mark.
    void box(Point from, Point to, std::string_view color, std::string_view about = {});
    void text(Point at, std::string_view text, Anchor anchor, double size = 12);
    // What the picture shows, and of which run.
    void heading(std::string_view title, std::string_view of);
    void vertical_text(Point at, std::string_view text, double size = 12);  // upwards, around its middle

    std::string svg() const;

  private:
    double width_;
    std::string head_, body_;
};

}  // namespace mpiprof::report
