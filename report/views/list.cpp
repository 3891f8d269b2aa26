// The list of views, from views.def: a new one is a file beside this and a line there.
#include <algorithm>
#include <array>

#include "report/views/view.h"

namespace mpiprof::report {

#define VIEW(name, about, is_for_screen) std::string show_##name(const Answer& answer, const Screen& screen);
#include "report/views/views.def"
#undef VIEW

namespace {

#define VIEW(name, about, is_for_screen) View{#name, about, is_for_screen, show_##name},
constexpr std::array all{
#include "report/views/views.def"
};
#undef VIEW

}  // namespace

std::span<const View> views() { return all; }

const View* find_view(std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const View& v) { return v.name == name; });
    return found == all.end() ? nullptr : found;
}

}  // namespace mpiprof::report
