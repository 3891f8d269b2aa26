// The ranks of a job side by side, each a bar of its parts, with bands for the nodes. Values in, SVG out; of many ranks
// a bar stands for neighbours, whose mean it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpiprof::report {

struct Strip {
    struct Part {
        std::string name;
        std::string colour;
    };
    struct Rank {
        std::uint32_t number = 0;
        std::string node;
        std::vector<double> ns;  // of each part, from the bottom
    };
    std::string title, of{};  // of a picture that stands alone: what it shows, and of which run
    std::vector<Part> parts;
    std::vector<Rank> ranks;
};

std::string svg_of(const Strip& strip);
// The same within a page that has the words; empty of fewer than two ranks.
std::string within_page(const Strip& strip);

}  // namespace mpiprof::report
