// One row for each section that a key shows.
#include "report/commands/watch_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "report/commands/full_screen.h"
#include "report/model/visible.h"
#include "report/sections/live.h"
#include "report/sections/section.h"
#include "report/views/cells.h"
#include "report/views/fitting.h"

namespace mpiprof::report {
namespace {

struct Shown {
    char key;
    const char *section, *name;
};
constexpr Shown shown[] = {{'o', "", "overview"}, {'c', "calls", "calls"}, {'r', "ranks", "ranks"},
                           {'h', "hang", "hang"}, {'t', "time", "time"},   {'b', "budget", "budget"}};

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// Rows in which some cell has these letters, as a reader sees them.
void keep_rows_with(Table& table, const std::string& letters, bool utf8) {
    std::vector<bool> has(table.rows.size());
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].only_data) continue;
        const auto cells = cells_of(table, column, utf8);
        for (std::size_t row = 0; row < cells.size(); ++row)
            if (lower(cells[row]).find(letters) != std::string::npos) has[row] = true;
    }
    std::size_t row = 0;
    std::erase_if(table.rows, [&](const auto&) { return !has[row++]; });
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace

void WatchScreen::choose(const char* section) {
    if (section_ != section) sort_.clear();
    section_ = section;
    rank_.reset();
    first_ = 0;
}

void WatchScreen::sort_by_next(bool is_backwards) {
    if (sortable_.empty()) return;
    const auto at = std::ranges::find(sortable_, sort_);
    const auto count = sortable_.size();
    const auto i =
        at == sortable_.end() ? (is_backwards ? 0 : count - 1) : static_cast<std::size_t>(at - sortable_.begin());
    sort_ = sortable_[(i + (is_backwards ? count - 1 : 1)) % count];
}

// A filter, or a rank's number.
bool WatchScreen::take_text(int key) {
    if (key == escape) {
        typing_ = 0;
    } else if (key == backspace) {
        if (!typed_.empty()) typed_.pop_back();
    } else if (key == enter) {
        std::uint32_t number = 0;
        if (typing_ == '/')
            filter_ = lower(typed_);
        else if (std::from_chars(typed_.data(), typed_.data() + typed_.size(), number).ec == std::errc())
            rank_ = number;
        typing_ = 0;
        first_ = 0;
    } else if (key >= ' ' && key < backspace && typed_.size() < 40) {
        typed_ += static_cast<char>(key);
    }
    return true;
}

bool WatchScreen::take(int key) {
    if (typing_) return take_text(key);
    problem_.clear();
    for (const Shown& one : shown)
        if (key == one.key) choose(one.section);
    switch (key) {
        case 'q':
            return false;
        case '<':
        case '>':
            sort_by_next(key == '<');
            break;
        case '/':
        case 'g':
            typing_ = static_cast<char>(key);
            typed_.clear();
            break;
        case escape:
            filter_.clear();
            rank_.reset();
            break;
        case up:
        case 'k':
            first_ -= first_ > 0;
            break;
        case down:
        case 'j':
            ++first_;
            break;
        case page_up:
            first_ -= std::min(first_, page_);
            break;
        case page_down:
        case ' ':
            first_ += page_;
            break;
        default:
            break;
    }
    return true;
}

std::vector<Table> WatchScreen::tables(const Analysed& all, const Job* before) {
    if (section_.empty() && !rank_) return live_tables(all, before);
    Question question{.ranks = {}, .sort = sort_, .by = {}, .top = 1'000'000};
    std::vector<const char*> sections{section_.c_str()};
    if (rank_) {
        question.ranks = {*rank_};
        question.sort.clear();
        sections = {"ranks", "calls", "hang"};
    }
    std::vector<Table> tables;
    for (const char* name : sections) {
        const Section& section = *find_section(name);
        if (!section.takes_sort_and_top) question.sort.clear();
        auto answer = section.answer(all, question);
        if (answer)
            std::ranges::move(*answer, std::back_inserter(tables));
        else
            problem_ = answer.error().line();
    }
    return tables;
}

std::vector<std::string> WatchScreen::lines(Job& job, const Job* before, const Screen& screen) {
    const auto has_rank = [&](const Rank& rank) { return rank.has_profile && rank.rank == rank_; };
    if (rank_ && std::ranges::none_of(job.ranks, has_rank)) {
        problem_ = fmt::format("there is no rank {}", *rank_);
        rank_.reset();
    }
    if (rank_) load_ranks_(job, {*rank_});
    const Analysed all(job);
    std::vector<Table> shown_tables = tables(all, before);
    sortable_.clear();
    if (const Section* section = section_.empty() ? nullptr : find_section(section_);
        section && section->takes_sort_and_top && !rank_ && !shown_tables.empty())
        for (std::size_t i = 0; i < shown_tables.front().columns.size(); ++i) {
            const Column& column = shown_tables.front().columns[i];
            if (!column.only_data && !column.title.empty() && says_something(shown_tables.front(), i))
                sortable_.push_back(column.id);
        }
    if (!filter_.empty())
        for (Table& table : shown_tables)
            if (std::holds_alternative<Grid>(table.picture)) keep_rows_with(table, filter_, screen.has_utf8);
    return split(find_view("text")->show({"watch", shown_tables}, screen));
}

std::size_t WatchScreen::first_line(std::size_t lines, std::size_t rows) {
    page_ = std::max<std::size_t>(1, rows - 1);
    first_ = std::min(first_, lines > page_ ? lines - page_ : 0);
    return first_;
}

std::string WatchScreen::foot() const {
    if (typing_ == '/') return "rows with: " + typed_;
    if (typing_ == 'g') return "rank: " + typed_;
    if (!problem_.empty()) return visible(problem_, true);
    std::string text;
    for (const Shown& one : shown) text += fmt::format("{} {}  ", one.key, one.name);
    text += "g rank  / filter  ";
    if (!sortable_.empty()) text += "< > sort  ";
    text += "q quit";
    if (!filter_.empty()) text += fmt::format("  [{}]", filter_);
    if (!sort_.empty()) text += fmt::format("  [by {}]", sort_);
    return text;
}

}  // namespace mpiprof::report
