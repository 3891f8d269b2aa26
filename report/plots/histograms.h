// Histograms one below the other over one axis, each with its own scale. Values in, SVG out; it knows no job.
#pragma once

#include <string>
#include <vector>

namespace mpiprof::report {

struct Histograms {
    struct Line {
        std::string name;
        std::vector<double> counts;  // of each bin
    };
    std::string title, of{};  // what it shows, and of which run
    std::string axis;         // what the bins are ranges of
    std::string unit;         // what is counted: "calls"
    std::vector<std::string> bins;
    std::vector<Line> lines;  // from top to bottom
};

std::string svg_of(const Histograms& histograms);

}  // namespace mpiprof::report
