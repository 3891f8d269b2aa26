// Strings are what nearly everybody joins: one copy of the code instead of one for each file.
#include "report/model/joined.h"

#include <span>

namespace mpiprof::report {

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
    return joined(std::span(texts), between);
}

}  // namespace mpiprof::report
