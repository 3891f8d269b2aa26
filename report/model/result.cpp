// Compiled once: many files make a line of a Problem.
#include "report/model/result.h"

namespace mpiprof::report {

std::string Problem::line() const {
    std::string text = where.empty() ? what : where + ": " + what;
    if (!advice.empty()) text += "; " + advice;
    return text;
}

}  // namespace mpiprof::report
