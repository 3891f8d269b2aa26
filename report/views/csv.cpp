// Tables as comma-separated values: times in ns, sizes in bytes, shares as fractions. Several tables are set apart by
// an empty line and a line "# name".
#include <fmt/format.h>

#include <iterator>

#include "report/model/visible.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

// Never with an exponent: spreadsheets and shell scripts read them alike.
std::string plain(double number) {
    return number >= 1e6 ? fmt::format("{:.0f}", number) : fmt::format("{:.10g}", number < 1e-9 ? 0 : number);
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
    std::string operator()(const Series& series) const { return csv_field(joined(series)); }
};

void add_line(std::string& out, const Table& table, auto field_of) {
    bool is_first = true;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].only_screen) continue;
        if (!is_first) out += ',';
        is_first = false;
        out += field_of(i);
    }
    out += '\n';
}

}  // namespace

std::string show_csv(const Answer& answer, const Screen&) {
    std::string out;
    for (const Table& table : answer.tables) {
        if (answer.tables.size() > 1)
            fmt::format_to(std::back_inserter(out), "{}# {}\n", out.empty() ? "" : "\n", table.id);
        add_line(out, table, [&](std::size_t i) { return table.columns[i].id; });
        for (const auto& row : table.rows)
            add_line(out, table, [&](std::size_t i) { return std::visit(Print{}, row[i]); });
    }
    return out;
}

}  // namespace mpiprof::report
