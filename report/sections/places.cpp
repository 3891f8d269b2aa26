// Symbols are asked for one place at a time: a sentence has two or three.
#include "report/sections/places.h"

#include "report/symbols/symbols.h"

namespace mpiprof::report {

std::string line_text(const Job& job, std::uint32_t place) {
    if (place == 0 || place >= job.places.size()) return "";
    Symbols symbols;
    const Module& module = job.modules[job.places[place].module];
    return short_place_text(symbols.at(module, job.places[place].offset), module, job.places[place].offset);
}

std::string in_brackets(const std::string& line) { return line.empty() ? "" : " (" + line + ")"; }

}  // namespace mpiprof::report
