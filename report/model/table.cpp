// How a table's parts are copied, moved and destroyed.
#include "report/model/table.h"

namespace mpiprof::report {

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Picture::Picture() = default;
Picture::Picture(const Picture&) = default;
Picture::Picture(Picture&&) noexcept = default;
Picture& Picture::operator=(const Picture&) = default;
Picture& Picture::operator=(Picture&&) noexcept = default;
Picture::~Picture() = default;

Note::Note(std::string text) { parts.push_back({std::move(text)}); }
Note::Note(const char* text) : Note(std::string(text)) {}
Note::Note(std::initializer_list<Part> all) : parts(all) {}
Note::Note(const Note&) = default;
Note::Note(Note&&) noexcept = default;
Note& Note::operator=(const Note&) = default;
Note& Note::operator=(Note&&) noexcept = default;
Note::~Note() = default;
void Note::add(Part part) { parts.push_back(std::move(part)); }
Note Note::on(std::string column, std::string text) { return {Part{std::move(text), std::move(column)}}; }

Note Note::mark(std::string column, double at, std::string text) {
    Note note = on(std::move(column), std::move(text));
    note.at = at;
    return note;
}

void Table::add(const Column& column) { columns.push_back(column); }

}  // namespace mpiprof::report
