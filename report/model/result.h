// What may fail returns Result<T>: the value, or a Problem that says what is wrong, where, and what to do.
// A Problem is one line for a person; nothing in the reporter throws for bad input.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace mpiprof::report {

struct Problem {
    std::string where;   // a path, an option; may be empty
    std::string what;    // "is 40 bytes long, a profile has at least 2696"
    std::string advice;  // what to do; may be empty

    std::string line() const;
};

template <class T>
using Result = tl::expected<T, Problem>;

inline tl::unexpected<Problem> problem(std::string_view where, std::string what, std::string advice = {}) {
    return tl::make_unexpected(Problem{std::string(where), std::move(what), std::move(advice)});
}

}  // namespace mpiprof::report
