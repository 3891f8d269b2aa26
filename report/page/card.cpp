// From top to bottom; what no longer fits is said to be in the page.
#include "report/page/card.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/units.h"
#include "report/model/visible.h"
#include "report/page/drawings.h"
#include "report/page/pdf.h"
#include "report/views/cells.h"
#include "report/views/document.h"

namespace mpiprof::report::page {
namespace {

constexpr double left = 42, right = Pdf::width - 42, bottom = Pdf::height - 70;

const Block* find(const Page& page, std::string_view id) {
    const auto found = std::ranges::find(page.blocks, id, &Block::id);
    return found == page.blocks.end() ? nullptr : &*found;
}

class Card {
  public:
    explicit Card(const Page& page) : page_(page) {}

    std::string drawn(const std::vector<double>& by_rank, const std::string& what) {
        paragraph(page_.heading, Font::fixed, 9);
        headline();
        space(6);
        verdict();
        space(8);
        shares();
        standing();
        strip(by_rank, what);
        findings();
        return pdf_.file(page_.title);
    }

  private:
    void space(double points) { y_ += points; }
    bool has_room(double points) const { return y_ + points <= bottom; }

    void paragraph(std::string_view raw, Font font, double size, double indent = 0) {
        const std::string text = visible(raw, true);
        std::string line;
        const auto put = [&] {
            y_ += 1.3 * size;
            pdf_.text(left + indent, y_, font, size, line);
            line.clear();
        };
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            const std::string word = text.substr(at, end - at);
            if (!line.empty() && width_of(line + " " + word, font, size) > right - left - indent) put();
            line += (line.empty() ? "" : " ") + word;
            at = end + 1;
        }
        if (!line.empty()) put();
    }

    // What ran, but for the program, which is above.
    void headline() {
        const Block* block = find(page_, "run");
        if (!block) return;
        std::string all;
        for (const Table& table : block->tables)
            if (const auto* items = std::get_if<Headline>(&table.picture))
                for (const Headline::Item& item : items->items)
                    if (!item.text.empty() && item.line > 1) all += (all.empty() ? "" : "  |  ") + item.text;
        paragraph(all, Font::regular, 9);
    }

    void verdict() {
        const Block* block = find(page_, "verdict");
        if (!block) return;
        for (const Table& table : block->tables) {
            paragraph(table.title, Font::bold, 15);
            space(3);
            for (const Note& note : table.notes) paragraph(text_of(note, table, is_in_document), Font::regular, 10);
        }
    }

    void shares() {
        const Block* block = find(page_, "shares");
        if (!block) return;
        for (const Table& table : block->tables) {
            const auto* bar = std::get_if<StackedBar>(&table.picture);
            if (!bar || bar->segments.empty() || !has_room(50)) continue;
            space(4);
            paragraph(table.title, Font::bold, 9.5);
            y_ += 4;
            double at = left;
            std::string legend;
            for (std::size_t i = 0; i < bar->segments.size(); ++i) {
                const StackedBar::Segment& segment = bar->segments[i];
                const double wide = std::max(0.0, segment.share) * (right - left);
                pdf_.box(at, y_, wide, 11, colour_of(i));
                at += wide;
            }
            y_ += 13;
            double x = left;
            for (std::size_t i = 0; i < bar->segments.size(); ++i) {
                const StackedBar::Segment& segment = bar->segments[i];
                if (segment.share < 0.0005) continue;
                const std::string text = fmt::format("{} {}", segment.label.text, human_share(segment.share));
                const double wide = width_of(text, Font::regular, 8) + 14;
                if (x + wide > right && x > left) {
                    x = left;
                    y_ += 10;
                }
                pdf_.box(x, y_, 6, 6, colour_of(i));
                pdf_.text(x + 9, y_ + 6, Font::regular, 8, text);
                x += wide;
            }
            y_ += 10;
        }
    }

    // A grid in the fixed font.
    void standing() {
        const Block* block = find(page_, "standing");
        if (!block || block->tables.empty() || block->tables[0].rows.empty()) return;
        const Table& table = block->tables[0];
        std::vector<std::vector<std::string>> columns;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            if (!is_in_document(table, i) || table.columns[i].draw != Draw::nothing) continue;
            columns.push_back(cells_of(table, i, true));
            columns.back().insert(columns.back().begin(), heading_of(table.columns[i]));
        }
        space(6);
        for (std::size_t row = 0; row <= table.rows.size(); ++row) {
            y_ += 10.5;
            double x = left;
            for (const auto& column : columns) {
                double wide = 0;
                for (const std::string& cell : column) wide = std::max(wide, width_of(cell, Font::bold, 8));
                pdf_.text(x, y_, row == 0 ? Font::bold : Font::regular, 8, visible(column[row], true));
                x += wide + 8;
            }
        }
    }

    void strip(const std::vector<double>& by_rank, const std::string& what) {
        if (by_rank.size() < 2 || !has_room(70)) return;
        constexpr double high = 36;
        const double most = std::max(1.0, *std::ranges::max_element(by_rank));
        space(8);
        paragraph(fmt::format("{}, 0 to {}", what, human_time(most)), Font::bold, 9);
        space(4);
        const std::size_t columns = std::min<std::size_t>(by_rank.size(), 500);
        const double wide = (right - left) / static_cast<double>(columns);
        for (std::size_t i = 0; i < columns; ++i) {
            const auto from = by_rank.begin() + static_cast<std::ptrdiff_t>(i * by_rank.size() / columns);
            const auto to = by_rank.begin() + static_cast<std::ptrdiff_t>((i + 1) * by_rank.size() / columns);
            const double tall = *std::max_element(from, to) / most * high;
            pdf_.box(left + static_cast<double>(i) * wide, y_ + high - tall, std::max(0.3, wide - (wide > 3 ? 0.8 : 0)),
                     tall, "#2f6fde");
        }
        y_ += high + 9;
        pdf_.text(left, y_, Font::regular, 8, "rank 0");
        const std::string last = fmt::format("rank {}", by_rank.size() - 1);
        pdf_.text(right - width_of(last, Font::regular, 8), y_, Font::regular, 8, last);
    }

    void findings() {
        const Block* block = find(page_, "findings");
        if (!block) return;
        space(10);
        std::size_t left_out = 0;
        for (const Table& table : block->tables)
            if (const auto* remarks = std::get_if<Remarks>(&table.picture))
                for (const Remarks::Remark& remark : remarks->remarks) {
                    const std::string text = fmt::format("{} [{}]", remark.text, remark.rule);
                    if (left_out != 0 || !has_room(width_of(text, Font::regular, 9) / (right - left) * 12 + 14)) {
                        ++left_out;
                        continue;
                    }
                    space(3);
                    paragraph(text, remark.is_serious ? Font::bold : Font::regular, 9, remark.because.empty() ? 0 : 14);
                }
        y_ = bottom + 14;
        if (left_out != 0) paragraph(fmt::format("{} more findings: mpiprof-report", left_out), Font::regular, 8);
        paragraph(page_.holds, Font::regular, 8);
    }

    const Page& page_;
    Pdf pdf_;
    double y_ = 40;
};

}  // namespace

std::string card_of(const Page& page, const std::vector<double>& by_rank, const std::string& what) {
    return Card(page).drawn(by_rank, what);
}

}  // namespace mpiprof::report::page
