// Cells are written as the text view writes them; numbers stand beside them once more for sorting.
#include "report/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/model/visible.h"
#include "report/page/drawings.h"
#include "report/views/cells.h"
#include "report/views/document.h"
#include "report/views/drawn.h"

namespace mpiprof::report::page {
namespace {

std::optional<double> number_in(const Value& value) {
    if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return {};
}

std::string drawing(const Table& table, std::size_t column, const Value& value) {
    const auto* series = std::get_if<Series>(&value);
    switch (table.columns[column].draw) {
        case Draw::bar:
        case Draw::full_bar:
            return bar(number_in(value).value_or(0) / full_bar_of(table, column));
        case Draw::sparkline:
        case Draw::shared_sparkline:
            return series ? sparkline(*series, range_for(table, column, *series)) : "";
        case Draw::heat:
        case Draw::log_heat:
            return series ? heat(*series, shades_for(table, column), marks_of(table, column)) : "";
        case Draw::histogram:
            return series ? histogram(*series) : "";
        case Draw::nothing:
            break;
    }
    return "";
}

class Grid {
  public:
    Grid(const Table& table, const std::string& id) : table_(table), id_(id) {
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (is_in_document(table, i)) shown_.push_back({i, cells_of(table, i, true)});
        // The line of the source is what a reader looks for: it is not what a narrow window hides.
        const auto place =
            std::ranges::find_if(shown_, [&](const Shown& s) { return table.columns[s.index].is_place; });
        if (place > shown_.begin() && place != shown_.end()) std::rotate(shown_.begin() + 1, place, place + 1);
    }

    std::string html() const {
        if (table_.rows.empty()) return "";
        // What scrolls is reached by the keyboard, and has a name.
        std::string out = fmt::format(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table id=\"{0}\"><thead><tr>",
            id_);
        for (const Shown& s : shown_) {
            const std::string heading = in_markup(heading_of(table_.columns[s.index]));
            out += heading.empty() ? "<td></td>" : fmt::format("<th scope=\"col\"{}>{}</th>", alignment(s), heading);
        }
        out += "</tr></thead><tbody>\n";
        for (std::size_t row = 0; row < table_.rows.size(); ++row) add_row(out, row);
        return out + "</tbody></table></div>\n";
    }

  private:
    struct Shown {
        std::size_t index;
        std::vector<std::string> cells;
    };

    std::string_view alignment(const Shown& s) const {
        return is_right_aligned(table_.columns[s.index]) ? " class=\"n\"" : "";
    }
    void add_row(std::string& out, std::size_t row) const {
        out += "<tr>";
        for (const Shown& s : shown_) {
            const Column& column = table_.columns[s.index];
            const Value& value = table_.rows[row][s.index];
            if (column.draw != Draw::nothing) {
                out += "<td>" + drawing(table_, s.index, value) + "</td>";
                continue;
            }
            const auto number = number_in(value);
            out += fmt::format("<td{}{}>{}</td>", alignment(s),
                               number ? fmt::format(" data-v=\"{:.6g}\"", *number)
                                      : std::string(is_right_aligned(column) ? " data-v=\"\"" : ""),
                               in_markup(s.cells[row]));
        }
        out += "</tr>\n";
    }

    const Table& table_;
    const std::string& id_;
    std::vector<Shown> shown_;
};

struct Body {
    const Table& table;
    const std::string& id;

    std::string operator()(const report::Grid&) const { return Grid(table, id).html(); }
    std::string operator()(const Headline& headline) const {
        std::string out;
        std::optional<std::uint64_t> line;
        for (const Headline::Item& item : headline.items) {
            if (item.text.empty()) continue;
            if (item.line != line) out += (out.empty() ? "" : "</ul>\n") + std::string("<ul class=\"facts\">");
            line = item.line;
            out += "<li>" + in_markup(item.text) + "</li>";
        }
        return out.empty() ? "" : out + "</ul>\n";
    }
    std::string operator()(const StackedBar& of) const { return stacked(of) + "\n"; }
    std::string operator()(const Remarks& remarks) const {
        std::string out = "<ul class=\"remarks\">";
        const auto is_here = [&](const std::string& rule) {
            return std::ranges::find(remarks.remarks, rule, &Remarks::Remark::rule) != remarks.remarks.end();
        };
        for (const Remarks::Remark& remark : remarks.remarks)
            out += fmt::format("<li class=\"{}{}\">{} <a href=\"#tags\">[{}]</a></li>\n",
                               severity_of(remark.is_serious), is_here(remark.because) ? " explained" : "",
                               in_markup(remark.text), in_markup(remark.rule));
        return out + "</ul>\n";
    }
};

}  // namespace

std::string html_of(const Table& table, const std::string& id) {
    std::string out;
    if (!table.title.empty()) out += "<h3>" + in_markup(table.title) + "</h3>\n";
    if (!table.is_empty()) out += std::visit(Body{table, id}, table.picture);
    for (const Note& note : table.notes)
        if (const std::string text = text_of(note, table, is_in_document); !text.empty())
            out += "<p class=\"note\">" + in_markup(text) + "</p>\n";
    return out;
}

}  // namespace mpiprof::report::page
