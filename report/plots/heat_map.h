// Shades over two axes: who sends how much to whom, or who was inside MPI when. Values in, SVG out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpiprof::report {

struct HeatMap {
    struct Line {
        std::string name;
        std::vector<double> values;  // 0: nothing; not a number: not known
    };
    std::string title;
    std::string of{};         // the run
    std::string x, y;         // what runs from left to right, and from top to bottom
    std::string first, last;  // at the ends of x
    enum class Of : std::uint8_t { bytes, shares };
    Of values = Of::bytes;
    bool by_ratio = false;   // shades from the least to the most in equal ratios
    double most = 0;         // of the darkest shade; 0: the largest value
    bool is_square = false;  // as many columns as lines, and as high as wide
    std::vector<Line> lines;
    // Places along x, 0..1: values of the axis, and what is marked.
    struct Place {
        double at;
        std::string text;
    };
    std::vector<Place> ticks{}, marks{};
    std::vector<double> borders{};  // along both axes of a square map: where another node begins
};

std::string svg_of(const HeatMap& map);

}  // namespace mpiprof::report
