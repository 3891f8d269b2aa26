// A view shows Tables in one form. One file each, with a function show_NAME, and one line in
// views.def. It computes nothing but print and knows
// nothing of MPI.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/table.h"

namespace mpiprof::report {

// Of the JSON of sections: ids and types of what is there do not change within a schema, keys are only added.
inline constexpr unsigned section_schema = 2;

// What the output can show; only the text view asks.
struct Screen {
    unsigned width = 80;
    bool has_utf8 = false;
    bool has_color = false;
};

struct Answer {
    std::string_view section;
    const std::vector<Table>& tables;
};

struct View {
    std::string_view name;  // what --format takes
    std::string_view about;
    bool is_for_screen;
    std::string (*show)(const Answer& answer, const Screen& screen);
};

std::span<const View> views();  // the first is the default
const View* find_view(std::string_view name);

}  // namespace mpiprof::report
