// Texts one behind the other. In place of fmt::join, which compiles how fmt writes a text anew wherever it is used: a
// second of the compiler's for each file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpiprof::report {

template <class Texts>
std::string joined(const Texts& texts, std::string_view between) {
    std::string all;
    bool is_first = true;
    for (const auto& text : texts) {
        if (!is_first) all += between;
        all += text;
        is_first = false;
    }
    return all;
}

// Of what nearly everybody has, compiled once.
std::string joined(const std::vector<std::string>& texts, std::string_view between);

}  // namespace mpiprof::report
