// Tables as comma-separated values: times in ns, sizes in bytes, shares as fractions. Several tables are set apart by
// an empty line and a line "# name".
#include <fmt/format.h>

#include <cmath>

#include "report/model/visible.h"
#include "report/views/data_rows.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

// Never with an exponent: spreadsheets and shell scripts read them alike.
std::string plain(double number) {
    const double size = std::abs(number);
    return size >= 1e6 ? fmt::format("{:.0f}", number) : fmt::format("{:.10g}", size < 1e-9 ? 0 : number);
}

std::string joined(const Series& series) {
    std::string text;
    for (const double number : series) text += (text.empty() ? "" : " ") + plain(number);
    return text;
}

struct Print {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::uint64_t count) const { return fmt::format("{}", count); }
    std::string operator()(double number) const { return plain(number); }
    std::string operator()(const std::string& text) const { return csv_field(text); }
    std::string operator()(Yes yes) const { return yes.is ? "true" : "false"; }
    std::string operator()(const Named& named) const { return csv_field(named.id); }
    std::string operator()(const Series& series) const { return csv_field(joined(series)); }
};

template <class Field>
std::string line_of(const std::vector<Field>& fields, auto print) {
    std::string line;
    for (const Field& field : fields) line += (&field == fields.data() ? "" : ",") + print(field);
    return line + '\n';
}

}  // namespace

std::string show_csv(const Answer& answer, const Screen&) {
    std::string out;
    for (const Table& table : answer.tables) {
        if (answer.tables.size() > 1) out += fmt::format("{}# {}\n", out.empty() ? "" : "\n", table.id);
        const DataRows data = data_rows_of(table);
        out += line_of(data.names, [](const std::string& name) { return name; });
        for (const auto& row : data.rows)
            out += line_of(row, [](const Value& value) { return std::visit(Print{}, value); });
    }
    return out;
}

}  // namespace mpiprof::report
