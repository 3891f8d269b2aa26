// SVG, two decimals of a pixel.
#include "report/plots/canvas.h"

#include <fmt/format.h>

#include "report/model/joined.h"
#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

// Without zeros at the end, and never "-0".
std::string number(double value) {
    std::string text = fmt::format("{:.2f}", value);
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string style_of(const Stroke& stroke) {
    std::string text = fmt::format(R"(fill="none" stroke="{}" stroke-width="{}")", stroke.color, number(stroke.width));
    if (!stroke.dash.empty()) text += fmt::format(R"( stroke-dasharray="{}")", stroke.dash);
    return text;
}

constexpr double radius = 4.5;

std::string outline(Point at, Shape shape) {
    const auto point = [&](double dx, double dy) {
        return fmt::format("{},{}", number(at.x + dx * radius), number(at.y + dy * radius));
    };
    const auto polygon = [](const std::vector<std::string>& points) {
        return fmt::format(R"(<polygon points="{}")", joined(points, " "));
    };
    switch (shape) {
        case Shape::circle:
            return fmt::format(R"(<circle cx="{}" cy="{}" r="{}")", number(at.x), number(at.y), number(radius));
        case Shape::square:
            return polygon({point(-0.85, -0.85), point(0.85, -0.85), point(0.85, 0.85), point(-0.85, 0.85)});
        case Shape::triangle:
            return polygon({point(0, -1.1), point(1, 0.8), point(-1, 0.8)});
        case Shape::diamond:
            return polygon({point(0, -1.2), point(1.2, 0), point(0, 1.2), point(-1.2, 0)});
        case Shape::cross:
            return polygon({point(-1, -0.4), point(-0.4, -0.4), point(-0.4, -1), point(0.4, -1), point(0.4, -0.4),
                            point(1, -0.4), point(1, 0.4), point(0.4, 0.4), point(0.4, 1), point(-0.4, 1),
                            point(-0.4, 0.4), point(-1, 0.4)});
    }
    return "";
}

}  // namespace

Canvas::Canvas(double width, double height, std::string_view title, std::string_view description) : width_(width) {
    head_ = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" font-family="Helvetica, Arial, sans-serif">
<title>{2}</title>
<desc>{3}</desc>
<rect width="{0}" height="{1}" fill="#ffffff"/>
)",
        number(width), number(height), in_markup(title), in_markup(description));
}

void Canvas::line(Point from, Point to, const Stroke& stroke) {
    body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", number(from.x), number(from.y),
                         number(to.x), number(to.y), style_of(stroke));
}

void Canvas::polyline(const std::vector<Point>& points, const Stroke& stroke) {
    std::string at;
    for (const Point& point : points)
        at += fmt::format("{}{},{}", at.empty() ? "" : " ", number(point.x), number(point.y));
    body_ += fmt::format("<polyline points=\"{}\" {}/>\n", at, style_of(stroke));
}

void Canvas::mark(Point at, Shape shape, std::string_view color, std::string_view about) {
    const std::string element = outline(at, shape);
    const std::string_view name = std::string_view(element).substr(1, element.find(' ') - 1);
    body_ += fmt::format("{} fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.8\"><title>{}</title></{}>\n", element,
                         color, in_markup(about), name);
}

void Canvas::box(Point from, Point to, std::string_view color, std::string_view about) {
    body_ +=
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" shape-rendering=\"crispEdges\"",
                    number(from.x), number(from.y), number(to.x - from.x), number(to.y - from.y), color);
    if (about.empty())
        body_ += "/>\n";
    else
        body_ += fmt::format("><title>{}</title></rect>\n", in_markup(about));
}

void Canvas::text(Point at, std::string_view text, Anchor anchor, double size) {
    constexpr std::string_view anchors[] = {"start", "middle", "end"};
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", number(at.x),
                         number(at.y), number(size), anchors[static_cast<std::size_t>(anchor)], in_markup(text));
}

void Canvas::heading(std::string_view title, std::string_view of) {
    text({width_ / 2, 20}, title, Anchor::middle, 15);
    if (!of.empty()) text({width_ / 2, 36}, of, Anchor::middle, 11);
}

void Canvas::vertical_text(Point at, std::string_view text, double size) {
    body_ += fmt::format(
        "<text transform=\"translate({},{}) rotate(-90)\" font-size=\"{}\" text-anchor=\"middle\">{}</text>\n",
        number(at.x), number(at.y), number(size), in_markup(text));
}

std::string Canvas::svg() const { return head_ + body_ + "</svg>\n"; }

}  // namespace mpiprof::report
