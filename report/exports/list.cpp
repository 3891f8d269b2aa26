// The list of exports, from exports.def: a new one is a file beside this and a line there.
#include <algorithm>
#include <array>

#include "report/exports/export.h"

namespace mpiprof::report {

#define EXPORT(function, name, about, ...)                                                                             \
    std::vector<std::string> export_##function(const Analysed& all, const ProfileSource& profile_of, const Sink& sink, \
                                               const Complaint& complain);
#include "report/exports/exports.def"
#undef EXPORT

namespace {

#define EXPORT(function, of_f, about_it, ...) \
    Export{.name = of_f, .about = about_it, .write = export_##function __VA_OPT__(, ) __VA_ARGS__},
constexpr std::array all{
#include "report/exports/exports.def"
};
#undef EXPORT

}  // namespace

std::span<const Export> exports() { return all; }

const Export* find_export(std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Export& e) { return e.name == name; });
    return found == all.end() ? nullptr : found;
}

}  // namespace mpiprof::report
