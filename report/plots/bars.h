// Horizontal bars: what is compared by its name, in groups of one bar for each series. Values in, SVG out.
#pragma once

#include <string>
#include <vector>

namespace mpiprof::report {

struct Bars {
    struct Group {
        std::string name;
        std::vector<double> values;  // of each series
    };
    std::string title;
    std::string of{};                 // the run, or the runs
    std::string axis;                 // what a bar's length is
    std::vector<std::string> series;  // two at most can be told apart
    std::vector<Group> groups;        // from top to bottom
};

std::string svg_of(const Bars& bars);

}  // namespace mpiprof::report
