// The list of views.
#include <algorithm>
#include <array>

#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr std::array all{
    View{"text", "for the terminal", true, show_text},
    View{"markdown", "tables for merge requests and notes", true, show_markdown},
    View{"csv", "numbers in ns and bytes, one line per row", false, show_csv},
    View{"json", "the same, for programs", false, show_json},
};

}  // namespace

std::span<const View> views() { return all; }

const View* find_view(std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const View& v) { return v.name == name; });
    return found == all.end() ? nullptr : found;
}

}  // namespace mpiprof::report
