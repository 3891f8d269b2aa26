// Names that compilers made, as their sources have them.
#pragma once

#include <string>

namespace mpiprof::report {

// "ns::solver::step(double)" of "_ZN2ns6solver4stepEd"; what is no such name comes back as it is.
std::string demangled(const std::string& name);

}  // namespace mpiprof::report
