// Tables for merge requests and notes: what a wide screen shows of them, in the tables of GitHub's and GitLab's
// Markdown. Drawings are left out.
#include <fmt/format.h>
#include <algorithm>

#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/views/cells.h"
#include "report/views/document.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

bool is_in_word(const std::string& text, std::size_t i) {
    const auto is_word = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    return i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
}

// Names come from programs and files: none of them ends a cell, or begins a tag, a link or emphasis.
std::string escaped(std::string_view raw) {
    const std::string text = visible(raw, true);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (std::string_view("\\|`*<>[]").find(c) != std::string_view::npos || (c == '_' && !is_in_word(text, i)))
            out += '\\';
        out += c;
    }
    return out;
}

bool is_shown(const Table& table, std::size_t i) {
    return table.columns[i].draw == Draw::nothing && is_in_document(table, i);
}

std::string grid(const Table& table) {
    if (table.rows.empty()) return "";
    std::string head, rule;
    std::vector<std::vector<std::string>> shown;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (!is_shown(table, i)) continue;
        head += "|" + escaped(heading_of(table.columns[i]));
        rule += "|---";
        shown.push_back(cells_of(table, i, true));
    }
    std::string out = head + "|\n" + rule + "|\n";
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        for (const auto& cells : shown) out += "|" + escaped(cells[row]);
        out += "|\n";
    }
    return out;
}

struct Body {
    const Table& table;

    std::string operator()(const Grid&) const { return grid(table); }
    std::string operator()(const Headline& headline) const {
        std::string out;
        for (const Headline::Item& item : headline.items)
            if (!item.text.empty()) out += "- " + escaped(item.text) + "\n";
        return out;
    }
    std::string operator()(const StackedBar& bar) const {
        std::string out;
        for (const StackedBar::Segment& segment : bar.segments)
            out += fmt::format("- {} {}\n", escaped(segment.label.text), human_share(segment.share));
        return out;
    }
    std::string operator()(const Remarks& remarks) const {
        std::string out;
        for (const Remarks::Remark& remark : remarks.remarks)
            out += (remark.is_serious ? "- **" + escaped(remark.text) + "**" : "- " + escaped(remark.text)) + "\n";
        return out;
    }
};

}  // namespace

std::string show_markdown(const Answer& answer, const Screen&) {
    std::string out;
    for (const Table& table : answer.tables) {
        if (table.only_data || (table.is_empty() && table.notes.empty())) continue;
        if (!out.empty()) out += '\n';
        if (!table.title.empty()) out += "**" + escaped(table.title) + "**\n\n";
        const std::string body = std::visit(Body{table}, table.picture);
        out += body;
        bool is_after_something = !body.empty();
        for (const Note& note : table.notes) {
            const std::string text = text_of(note, table, is_shown);
            if (text.empty()) continue;
            out += (is_after_something ? "\n" : "") + escaped(text) + "\n";
            is_after_something = true;
        }
    }
    return out;
}

}  // namespace mpiprof::report
