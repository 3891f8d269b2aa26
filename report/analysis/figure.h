// A figure that a finding rests on, by name, and how sure a finding is of what it says. For evidence.h and its like.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/number_list.h"
#include "report/model/table.h"

namespace mpiprof::report {

// 0 is a figure; what is not known is empty.
struct Figure {
    std::string_view name;
    Value value;

    template <class T>
    Figure(std::string_view called, const T& of) : name(called), value(value_of(of)) {}

  private:
    static Value value_of(bool is) { return Yes{is}; }
    static Value value_of(double number) { return number; }
    static Value value_of(const std::string& text) { return text; }
    static Value value_of(std::string_view text) { return std::string(text); }
    static Value value_of(const NumberList& numbers) { return numbers.text(); }
    static Value value_of(std::integral auto number) { return static_cast<std::uint64_t>(number); }
    static Value value_of(const std::optional<double>& number) { return number ? Value(*number) : Value(); }
};
using FigureList = std::vector<Figure>;

// How sure a finding is of what it says it costs. Evidence without a confidence() was measured.
enum class Confidence : std::uint8_t {
    proven,     // there is no other explanation
    measured,   // of all calls that it speaks of
    at_least,   // measured of a part, the rest is not known
    estimated,  // from what the fastest calls took, or a usual cost
};

}  // namespace mpiprof::report
