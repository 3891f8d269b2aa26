// Tables on a terminal: fitted to its width, with bars; columns that do not fit are left out in the order their
// section set, then names are cut.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/model/joined.h"
#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/views/cells.h"
#include "report/views/drawn.h"
#include "report/views/fitting.h"
#include "report/views/paint.h"
#include "report/views/pictures.h"
#include "report/views/view.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t gap = 2;
constexpr std::size_t least_bar = 5, most_bar = 24;
constexpr std::size_t least_line = 8, most_line = 48;
constexpr std::size_t least_name = 8;

std::string blanks(std::size_t n) { return std::string(n, ' '); }

void end_line(std::string& out) {
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
}

// Columns and rows on their way to the screen: what is shown of them, the texts and widths.
class GridPrinter {
  public:
    GridPrinter(const Table& table, const Screen& screen) : table_(table), screen_(screen) {
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            if (table.columns[i].only_data || !says_something(table, i)) continue;
            shown_.push_back({i, cells_of(table, i, screen.has_utf8), 0});
            measure(shown_.back());
        }
    }

    std::string print() {
        std::string out;
        if (table_.rows.empty()) return out;  // its note says why
        fit();
        const auto has_title = [&](const Shown& s) { return !table_.columns[s.index].title.empty(); };
        if (std::any_of(shown_.begin(), shown_.end(), has_title)) print_titles(out);
        for (std::size_t row = 0; row < table_.rows.size(); ++row) print_row(out, row);
        print_marks(out);
        return out;
    }

    // The columns that print() showed, by their ids.
    std::set<std::string> shown() const {
        std::set<std::string> ids;
        for (const Shown& s : shown_) ids.insert(column(s).id);
        return ids;
    }

    // After print(): "MIN, P50 and MAX are hidden: --width 132"; empty where there was room for all.
    const std::string& hidden() const { return hidden_; }

  private:
    struct Shown {
        std::size_t index;
        std::vector<std::string> cells;
        std::size_t width;
        std::size_t least = least_name;  // a name may be narrowed to
    };

    const Column& column(const Shown& shown) const { return table_.columns[shown.index]; }

    bool is_heat(const Shown& shown) const {
        return column(shown).draw == Draw::heat || column(shown).draw == Draw::log_heat;
    }
    // One character for each value of a Series.
    bool is_line(const Shown& shown) const {
        return column(shown).draw == Draw::sparkline || column(shown).draw == Draw::shared_sparkline || has_all(shown);
    }
    // Neighbours are not put together where there is room.
    bool has_all(const Shown& shown) const { return is_heat(shown) || column(shown).draw == Draw::histogram; }

    void measure(Shown& shown) const {
        shown.width = display_width(column(shown).title);
        for (const std::string& cell : shown.cells) shown.width = std::max(shown.width, display_width(cell));
        if (is_line(shown)) shown.width = std::max(shown.width, least_line);
        if (column(shown).draw == Draw::bar || column(shown).draw == Draw::full_bar)
            shown.width = std::max(shown.width, least_bar);
        if (!column(shown).is_place || column(shown).drop == 0) return;
        for (const std::string& cell : shown.cells)
            shown.least = std::max(shown.least, std::min(most_line, display_width(line_of(cell))));
    }

    // "file:line" of "file:line function".
    static std::string_view line_of(std::string_view place) {
        const std::size_t begin = std::min(place.find_first_not_of(' '), place.size());
        return place.substr(0, place.find(' ', begin));
    }

    std::size_t total() const {
        std::size_t width = indent;
        for (const Shown& shown : shown_) width += shown.width + gap;
        return width - gap;
    }

    // A place that can be left out is shown as soon as there is room for its line.
    std::size_t needed(const Shown& shown) const {
        return column(shown).is_place && column(shown).drop != 0 ? shown.least : shown.width;
    }

    // Columns that are always shown, then the others by rank as far as they fit; those of one rank go together.
    void choose_columns() {
        std::set<int> ranks;
        for (const Shown& shown : shown_) ranks.insert(column(shown).drop);
        std::set<int> chosen{0};
        const auto width_with = [&](int rank) {
            std::size_t width = indent;
            for (const Shown& shown : shown_)
                if (chosen.contains(column(shown).drop) || column(shown).drop == rank) width += needed(shown) + gap;
            return width - gap;
        };
        for (const int rank : ranks)
            if (width_with(rank) <= screen_.width) chosen.insert(rank);
        say_hidden(chosen);
        std::erase_if(shown_, [&](const Shown& shown) { return !chosen.contains(column(shown).drop); });
    }

    void say_hidden(const std::set<int>& chosen) {
        std::vector<std::string> titles;
        std::size_t width = indent;
        for (const Shown& shown : shown_) {
            width += needed(shown) + gap;
            if (!chosen.contains(column(shown).drop) && !column(shown).title.empty())
                titles.push_back(column(shown).title);
        }
        if (!titles.empty()) hidden_ = fmt::format("hidden: {}; --width {}", joined(titles, ", "), width - gap);
    }

    void fit() {
        choose_columns();
        while (total() > screen_.width && narrow_widest_name()) {
        }
        for (Shown& shown : shown_) widen_drawing(shown);
    }

    // By one at a time, so that several long ones become equally wide.
    bool narrow_widest_name() {
        Shown* widest = nullptr;
        for (Shown& shown : shown_)
            if (column(shown).unit == Unit::text && column(shown).draw == Draw::nothing && shown.width > shown.least &&
                (!widest || shown.width > widest->width))
                widest = &shown;
        if (!widest) return false;
        --widest->width;
        return true;
    }

    void widen_drawing(Shown& shown) {
        const Draw draw = column(shown).draw;
        if (draw == Draw::nothing || total() >= screen_.width) return;
        std::size_t most = most_bar;
        if (is_line(shown)) {
            const std::size_t values = most_values(shown);
            most = has_all(shown) ? values : std::min(most_line, values);
        }
        shown.width = std::max(shown.width, std::min(most, shown.width + screen_.width - total()));
    }

    void print_titles(std::string& out) const {
        std::string line;
        for (const Shown& shown : shown_) add_cell(line, column(shown).title, shown);
        while (!line.empty() && line.back() == ' ') line.pop_back();
        out += blanks(indent) + paint(line, Ink::bold, screen_.has_color) + '\n';
    }

    void print_row(std::string& out, std::size_t row) const {
        std::string line = blanks(indent);
        for (const Shown& shown : shown_) {
            if (column(shown).draw == Draw::nothing)
                add_cell(line, shown.cells[row], shown);
            else
                add_drawing(line, table_.rows[row][shown.index], shown);
        }
        out += line;
        end_line(out);
    }

    // Below what is drawn, where a column has places of interest.
    void print_marks(std::string& out) const {
        if (std::ranges::all_of(shown_, [&](const Shown& s) { return marks_of(table_, s.index).empty(); })) return;
        std::string line = blanks(indent);
        for (const Shown& shown : shown_) {
            std::string marks = blanks(shown.width + gap);
            const std::size_t drawn = std::min(shown.width, most_values(shown));
            for (const double at : marks_of(table_, shown.index))
                marks[std::min(static_cast<std::size_t>(at * static_cast<double>(drawn)), drawn - 1)] = '^';
            line += marks;
        }
        out += line;
        end_line(out);
    }

    // Of the column's Series.
    std::size_t most_values(const Shown& shown) const {
        std::size_t most = 1;
        for (const auto& row : table_.rows)
            if (const auto* series = std::get_if<Series>(&row[shown.index])) most = std::max(most, series->size());
        return most;
    }

    void add_cell(std::string& line, std::string_view text, const Shown& shown) const {
        const std::string fitted = column(shown).is_place ? cut_place(text, shown.width, screen_.has_utf8)
                                                          : cut(text, shown.width, screen_.has_utf8);
        const std::string padding = blanks(shown.width - display_width(fitted));
        line += is_right_aligned(column(shown)) ? padding + fitted : fitted + padding;
        line += blanks(gap);
    }

    void add_drawing(std::string& line, const Value& value, const Shown& shown) const {
        std::string drawing;
        if (const auto* series = std::get_if<Series>(&value))
            drawing = line_drawing(*series, shown);
        else if (const auto* share = std::get_if<double>(&value))
            drawing = bar(*share / full_bar_of(table_, shown.index), shown.width, screen_.has_utf8);
        const std::size_t width = display_width(drawing);
        line += paint(drawing, Ink::bar, screen_.has_color) + blanks(shown.width - std::min(width, shown.width) + gap);
    }

    std::string line_drawing(const Series& series, const Shown& shown) const {
        if (column(shown).draw == Draw::histogram) return histogram(series, shown.width, screen_.has_utf8);
        if (is_heat(shown)) return heat(series, shades_for(table_, shown.index), shown.width, screen_.has_utf8);
        return sparkline(series, range_for(table_, shown.index, series), shown.width, screen_.has_utf8);
    }

    const Table& table_;
    const Screen& screen_;
    std::vector<Shown> shown_;
    std::string hidden_;
};

// The texts of one line stand side by side as far as they fit.
std::string show_headline(const Headline& headline, const Screen& screen) {
    const std::string_view between = screen.has_utf8 ? " · " : " | ";
    std::string out, line;
    std::uint64_t current = 0;
    const auto finish = [&] {
        if (!line.empty()) out += (out.empty() ? paint(line, Ink::bold, screen.has_color) : line) + '\n';
        line.clear();
    };
    for (const Headline::Item& item : headline.items) {
        const std::string text = cut(visible(item.text, screen.has_utf8), screen.width, screen.has_utf8);
        if (text.empty()) continue;
        const bool is_full = display_width(line) + display_width(between) + display_width(text) > screen.width;
        if (item.line != current || is_full) finish();
        current = item.line;
        if (!line.empty()) line += between;
        line += text;
    }
    finish();
    return out;
}

std::string show_stacked_bar(const StackedBar& bar, const Screen& screen) {
    std::vector<double> shares;
    for (const StackedBar::Segment& segment : bar.segments) shares.push_back(segment.share);
    const std::size_t width = screen.width - 2 * indent;
    const auto widths = stacked_widths(shares, width);
    std::string out = blanks(indent);
    for (std::size_t i = 0; i < widths.size(); ++i) {
        std::string segment;
        for (std::size_t n = 0; n < widths[i]; ++n) segment += stacked_glyph(i, screen.has_utf8);
        out += paint_segment(segment, i, screen.has_color);
    }
    std::size_t used = screen.width;  // so that the legend begins a line
    for (std::size_t i = 0; i < bar.segments.size(); ++i) {
        if (shares[i] <= 0) continue;
        const std::string label = visible(bar.segments[i].label.text, screen.has_utf8) + " " + human_share(shares[i]);
        const std::size_t needed = 2 + display_width(label) + 3;
        if (used + needed - 3 > screen.width) {
            end_line(out);
            out += blanks(indent);
            used = indent;
        }
        out += paint_segment(stacked_glyph(i, screen.has_utf8), i, screen.has_color) + " " + label + "   ";
        used += needed;
    }
    end_line(out);
    return out;
}

std::string show_remarks(const Remarks& remarks, const Screen& screen) {
    std::string out;
    for (const Remarks::Remark& remark : remarks.remarks) {
        const std::string mark =
            remark.is_serious ? paint("!", Ink::warning, screen.has_color) : paint(".", Ink::plain, screen.has_color);
        const std::string text =
            visible(remark.text, screen.has_utf8) + " [" + visible(remark.rule, screen.has_utf8) + "]";
        const std::string padding = blanks(2);
        const std::size_t margin = remark.because.empty() ? indent : indent + padding.size();  // below what explains it
        bool is_first = true;
        for (const std::string& line : wrapped(text, screen.width - indent - margin - padding.size())) {
            out += blanks(margin) + (is_first ? mark + " " : padding) + line;
            end_line(out);
            is_first = false;
        }
    }
    return out;
}

// What a note says of the columns that are there, and of all else.
std::string text_of(const Note& note, const Table& table, const std::set<std::string>& shown) {
    std::string text;
    for (const Note::Part& part : note.parts) {
        std::string subject;
        if (!part.column.empty()) {
            if (!shown.contains(part.column)) continue;
            subject = std::find_if(table.columns.begin(), table.columns.end(),
                                   [&](const Column& column) { return column.id == part.column; })
                          ->title +
                      ": ";
        }
        text += (text.empty() ? "" : "; ") + subject + part.text;
    }
    return text;
}

// The body, and which columns it has and has not.
struct Body {
    const Table& table;
    const Screen& screen;
    std::set<std::string>& shown;
    std::string& hidden;

    std::string operator()(const Grid&) const {
        GridPrinter grid(table, screen);
        std::string text = grid.print();
        shown = grid.shown();
        hidden = grid.hidden();
        return text;
    }
    std::string operator()(const Headline& headline) const { return show_headline(headline, screen); }
    std::string operator()(const StackedBar& bar) const { return show_stacked_bar(bar, screen); }
    std::string operator()(const Remarks& remarks) const { return show_remarks(remarks, screen); }
};

}  // namespace

std::string show_text(const Answer& answer, const Screen& asked) {
    Screen screen = asked;
    screen.width = std::max(screen.width, 40u);
    std::string out;
    for (const Table& table : answer.tables) {
        if (table.only_data || (table.is_empty() && table.notes.empty())) continue;
        if (!out.empty()) out += '\n';
        if (!table.title.empty())
            for (const std::string& line : wrapped(visible(table.title, screen.has_utf8), screen.width - indent))
                out += blanks(indent) + paint(line, Ink::bold, screen.has_color) + '\n';
        std::set<std::string> shown;
        std::string hidden;
        out += std::visit(Body{table, screen, shown, hidden}, table.picture);
        const auto say = [&](const std::string& text) {
            for (const std::string& line : wrapped(visible(text, screen.has_utf8), screen.width - indent))
                if (!line.empty()) out += blanks(indent) + paint(line, Ink::dim, screen.has_color) + '\n';
        };
        for (const Note& note : table.notes) say(text_of(note, table, shown));
        // The summary names the screens that have more.
        if (answer.section != "summary") say(hidden);
    }
    return out;
}

}  // namespace mpiprof::report
