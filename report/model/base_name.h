// The last part of a path, as screens name programs, libraries and source files.
#pragma once

#include <string>

namespace mpiprof::report {

std::string base_name(const std::string& path);

}  // namespace mpiprof::report
