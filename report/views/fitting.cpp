// Widths are of the screen, not of bytes: model/visible knows them.
#include "report/views/fitting.h"

#include <algorithm>

#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

std::string_view ellipsis(bool utf8) { return utf8 ? "…" : "..."; }

// Where a function's first scope ends, behind its "::"; npos if it has none. What stands in <> or () is part of a name.
std::size_t end_of_scope(std::string_view function) {
    int depth = 0;
    for (std::size_t i = 0; i + 1 < function.size(); ++i) {
        if (function[i] == '<' || function[i] == '(') ++depth;
        if (function[i] == '>' || function[i] == ')') --depth;
        if (depth == 0 && function.substr(i, 2) == "::") return i + 2;
    }
    return std::string_view::npos;
}

}  // namespace

std::string cut(std::string_view text, std::size_t width, bool utf8) {
    if (display_width(text) <= width) return std::string(text);
    const std::string_view mark = ellipsis(utf8);
    const std::size_t kept = width > display_width(mark) ? width - display_width(mark) : 0;
    return std::string(fitting(text, kept)) + std::string(fitting(mark, width));
}

std::string cut_place(std::string_view text, std::size_t width, bool utf8) {
    // Blanks in front, and "file:line " where that is known.
    std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t blank = text.find(' ', begin);
    const std::size_t scope = text.find("::", begin);
    if (blank != std::string_view::npos && blank < scope) begin = blank + 1;
    std::string_view function = text.substr(begin);
    std::string shorter(text);
    while (display_width(shorter) > width) {
        const std::size_t end = end_of_scope(function);
        if (end == std::string_view::npos) break;
        function.remove_prefix(end);
        shorter = std::string(text.substr(0, begin)) + std::string(ellipsis(utf8)) + std::string(function);
    }
    return cut(shorter, width, utf8);
}

// Words of `text` in lines of at most `width` columns; a word that is longer is broken.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines(1);
    std::size_t used = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (used != 0 && used + 1 + display_width(word) > width) {
            lines.emplace_back();
            used = 0;
        }
        while (used == 0 && display_width(word) > width) {
            std::string_view piece = fitting(word, width);
            if (piece.empty()) break;
            lines.back() = piece;
            lines.emplace_back();
            word.remove_prefix(piece.size());
        }
        if (word.empty()) continue;
        if (used != 0) lines.back() += ' ';
        lines.back() += word;
        used = display_width(lines.back());
    }
    if (lines.size() > 1 && lines.back().empty()) lines.pop_back();
    return lines;
}

}  // namespace mpiprof::report
