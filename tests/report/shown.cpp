#include "tests/report/shown.h"
#include "report/analysis/analysed.h"

namespace mpiprof::test {

std::string shown(const report::Job& job, const std::string& section, report::Question question, const char* view,
                  report::Screen screen) {
    question.is_for_screen = std::string_view(view) == "text";
    const auto tables = report::find_section(section)->answer(job, question);
    if (!tables) return "problem: " + tables.error().line();
    return report::find_view(view)->show({section, *tables}, screen);
}

std::string unwrapped(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c != '\n' && c != ' ')
            out += c;
        else if (!out.ends_with(' '))
            out += ' ';
    return out;
}

bool says(std::string_view text, std::string_view words) { return text.find(words) != std::string_view::npos; }

}  // namespace mpiprof::test
