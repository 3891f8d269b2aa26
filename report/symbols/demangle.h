// Names that compilers made, as their sources have them.
#pragma once

#include <string>
#include <string_view>

namespace mpiprof::report {

// "ns::solver::step(double)" of "_ZN2ns6solver4stepEd"; what is no such name comes back as it is.
std::string demangled(const std::string& name);

// The same without parameters and template arguments: "ns::solver::step".
std::string short_function(std::string_view name);

}  // namespace mpiprof::report
