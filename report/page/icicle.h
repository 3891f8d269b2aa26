// Stacks with times as an icicle: the whole at the top, what is called below its caller, as wide as its share. Values
// in, SVG out; the page's script makes it zoom and search, and without it all frames have their texts.
#pragma once

#include <string>
#include <vector>

namespace mpiprof::report::page {

struct Stack {
    std::vector<std::string> frames;  // outermost first
    double ns = 0;
};

// Empty: no stack has a time, or they are of one frame each.
std::string icicle(const std::vector<Stack>& stacks);

}  // namespace mpiprof::report::page
