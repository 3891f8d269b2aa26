// What is known of a call site, as plain values.
#pragma once

#include <string>
#include <vector>

namespace mpiprof::report {

struct SourceLine {
    std::string function;  // demangled; empty = not known
    std::string file;      // as the compiler was given it; empty = not known
    unsigned line = 0;
    bool operator==(const SourceLine&) const = default;
};

struct Symbol {
    std::vector<SourceLine> lines;  // innermost first: inlined functions, then the one they are in; may be empty
    std::string problem;            // what is wrong with the module's file, in a few words; empty = nothing
};

}  // namespace mpiprof::report
