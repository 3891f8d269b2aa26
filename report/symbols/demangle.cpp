// libstdc++'s demangler, kept from names that no compiler makes.
#include "report/symbols/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace mpiprof::report {
namespace {

// The demangler's work may grow much faster than its input.
constexpr std::size_t longest_mangled = 4096;
constexpr std::size_t longest_name = 400;

}  // namespace

std::string demangled(const std::string& name) {
    if (!name.starts_with("_Z") || name.size() > longest_mangled) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           std::free);
    if (status != 0 || !text) return name;
    std::string readable = text.get();
    if (readable.size() > longest_name) readable = short_function(readable);
    if (readable.size() > longest_name) readable = readable.substr(0, longest_name) + "...";
    return readable;
}

// Brackets are counted, and those that belong to a name are no brackets. What does not come out even stays as it is.
std::string short_function(std::string_view name) {
    constexpr std::string_view kept[] = {"(anonymous namespace)",
                                         "operator()",
                                         "operator<=>",
                                         "operator<<",
                                         "operator<=",
                                         "operator<",
                                         "operator->",
                                         "operator>>",
                                         "operator>=",
                                         "operator>"};
    std::string text;
    int depth = 0;
    for (std::size_t i = 0; i < name.size();) {
        const auto word = std::find_if(std::begin(kept), std::end(kept),
                                       [&](std::string_view k) { return name.substr(i).starts_with(k); });
        if (word != std::end(kept)) {
            if (depth == 0) text += *word;
            i += word->size();
            continue;
        }
        const char c = name[i++];
        if (c == '<' || c == '(') ++depth;
        if (depth == 0) text += c;
        if (c == '>' || c == ')') --depth;
        if (depth < 0) return std::string(name);
    }
    if (depth != 0 || text.empty()) return std::string(name);
    // "void run<int>(int)": the result's type comes first, and " const" or "[clone .isra.0]" last.
    for (const std::string_view tail : {" const", " [clone"})
        if (const auto at = text.find(tail); at != std::string::npos) text.resize(at);
    const auto blank = name.find('<') == std::string_view::npos ? std::string::npos : text.rfind(' ');
    const bool is_operator =
        text.find("operator") != std::string::npos || text.find("(anonymous ") != std::string::npos;
    return blank == std::string::npos || is_operator ? text : text.substr(blank + 1);
}

}  // namespace mpiprof::report
