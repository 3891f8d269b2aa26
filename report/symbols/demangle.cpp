// libstdc++'s demangler, kept from names that no compiler makes; and names of Fortran's modules.
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

// A procedure of a Fortran module: "__mesh_MOD_assemble" of gfortran, "mesh_mp_assemble_" of Intel's compilers,
// "_QMmeshPassemble" of flang. Empty: it is none.
std::string of_fortran_module(std::string_view name) {
    const auto around = [&](std::string_view begin, std::string_view middle, std::string_view end) -> std::string {
        if (name.size() <= begin.size() + middle.size() + end.size() || !name.starts_with(begin) ||
            !name.ends_with(end))
            return "";
        const std::string_view inner = name.substr(begin.size(), name.size() - begin.size() - end.size());
        const auto at = inner.find(middle);
        if (at == std::string_view::npos || at == 0 || at + middle.size() == inner.size()) return "";
        return std::string(inner.substr(0, at)) + "::" + std::string(inner.substr(at + middle.size()));
    };
    for (const std::string& text : {around("__", "_MOD_", ""), around("", "_mp_", "_"), around("_QM", "P", "")})
        if (!text.empty()) return text;
    return "";
}

}  // namespace

std::string demangled(const std::string& name) {
    if (name.size() > longest_mangled) return name;
    if (std::string text = of_fortran_module(name); !text.empty()) return text;
    if (!name.starts_with("_Z")) return name;
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
