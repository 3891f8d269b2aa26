// libstdc++'s demangler, kept from names that no compiler makes.
#include "report/symbols/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace mpiprof::report {
namespace {

// The demangler's work may grow much faster than its input.
constexpr std::size_t longest_mangled = 1024;
constexpr std::size_t longest_name = 400;

}  // namespace

std::string demangled(const std::string& name) {
    if (!name.starts_with("_Z") || name.size() > longest_mangled) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           std::free);
    if (status != 0 || !text) return name;
    std::string readable = text.get();
    if (readable.size() > longest_name) readable = readable.substr(0, longest_name) + "...";
    return readable;
}

}  // namespace mpiprof::report
