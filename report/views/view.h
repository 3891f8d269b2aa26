// A view shows Tables in one form. One file each and one line in list.cpp. It computes nothing but print and knows
// nothing of MPI.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/table.h"

namespace mpiprof::report {

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

std::string show_text(const Answer& answer, const Screen& screen);
std::string show_markdown(const Answer& answer, const Screen& screen);
std::string show_csv(const Answer& answer, const Screen& screen);
std::string show_json(const Answer& answer, const Screen& screen);

}  // namespace mpiprof::report
