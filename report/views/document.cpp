// There is no edge of a screen in a document, so nothing is left out for its width.
#include "report/views/document.h"

#include <algorithm>

#include "report/views/cells.h"

namespace mpiprof::report {

bool is_published(const Table& table) {
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [](const Column& column) { return !column.heading.empty(); });
}

bool is_in_document(const Table& table, std::size_t i) {
    const Column& column = table.columns[i];
    return !column.only_data && says_something(table, i) && (column.drop == 0 || !is_published(table));
}

const std::string& heading_of(const Column& column) { return column.heading.empty() ? column.title : column.heading; }

std::string text_of(const Note& note, const Table& table, bool (*is_there)(const Table&, std::size_t)) {
    std::string text;
    for (const Note::Part& part : note.parts) {
        std::string subject;
        bool is_said = true;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            const Column& column = table.columns[i];
            if (column.id != part.column || column.id.empty()) continue;
            is_said = is_there(table, i);
            subject = heading_of(column) + ": ";
        }
        if (is_said) text += (text.empty() ? "" : "; ") + subject + part.text;
    }
    return text;
}

}  // namespace mpiprof::report
