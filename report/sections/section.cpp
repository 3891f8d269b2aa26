// What the sections share about their tables.
#include "report/sections/section.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

// Values that are not known sort last.
double number_of(const Value& value) {
    if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
    if (const auto* number = std::get_if<double>(&value)) return *number;
    return -1;
}

std::string_view text_of(const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text ? std::string_view(*text) : std::string_view();
}

// Names as people type them: capitals, and what stands between words, make no difference.
std::string folded(std::string_view name) {
    std::string text;
    for (const char c : name)
        text += c == ' ' || c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

// "time" of "time_ns"
bool is_begun_by(const std::string& id, std::string_view name) {
    return id.starts_with(name) && id.size() > name.size() && id[name.size()] == '_';
}

// The column of this heading or id. What stands on the screen comes before what is only in csv and json, and of two
// with the same heading the first.
std::vector<Column>::const_iterator column_named(const Table& table, std::string_view name) {
    const std::string wanted = folded(name);
    const auto& columns = table.columns;
    const auto find = [&](auto is_it) { return std::find_if(columns.begin(), columns.end(), is_it); };
    auto found = find([&](const Column& c) { return c.id == wanted; });
    if (found == columns.end())
        found = find([&](const Column& c) { return !c.only_data && !c.title.empty() && folded(c.title) == wanted; });
    if (found == columns.end()) found = find([&](const Column& c) { return is_begun_by(c.id, wanted); });
    return found;
}

// The headings, and the names of what has none.
std::string sortable(const Table& table) {
    std::string names;
    for (const Column& column : table.columns) {
        if (column.draw != Draw::nothing && column.title.empty()) continue;
        const bool is_shown = !column.only_data && !column.title.empty();
        names += (names.empty() ? "" : ", ") + (is_shown ? column.title : column.id);
    }
    return names;
}

}  // namespace

Column in_data(std::string id, Unit unit) {
    return {.id = std::move(id), .title = {}, .unit = unit, .only_data = true};
}

Column bar(int drop, Draw draw) {
    return {.id = "bar", .title = {}, .unit = Unit::share, .draw = draw, .drop = drop, .only_screen = true};
}

Table bare_table(std::string id, std::string title, std::vector<Column> columns) {
    return {.id = std::move(id), .title = std::move(title), .columns = std::move(columns), .rows = {}, .notes = {}};
}

Table picture_table(std::string id, Picture picture, std::string title) {
    Table table = bare_table(std::move(id), std::move(title));
    table.picture = std::move(picture);
    return table;
}

Result<std::monostate> sort_rows(Table& table, std::string_view name) {
    const auto column = column_named(table, name);
    if (column == table.columns.end())
        return problem(fmt::format("--sort {}", name), "no such column", "there is " + sortable(table));
    const auto at = static_cast<std::size_t>(column - table.columns.begin());
    const bool is_text = column->unit == Unit::text;
    const bool ascends = is_text || column->unit == Unit::rank;
    std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
        if (is_text) return text_of(a[at]) < text_of(b[at]);
        return ascends ? number_of(a[at]) < number_of(b[at]) : number_of(a[at]) > number_of(b[at]);
    });
    return std::monostate{};
}

Result<std::monostate> sort_rows(Table& table, const Question& question, std::string_view otherwise) {
    const std::string_view column = question.sort.empty() ? otherwise : question.sort;
    return column.empty() ? std::monostate{} : sort_rows(table, column);
}

std::size_t keep_top(Table& table, std::size_t top) {
    if (table.rows.size() <= top) return 0;
    const std::size_t left_out = table.rows.size() - top;
    table.rows.resize(top);
    return left_out;
}

void cut(Table& table, std::size_t top, std::string_view rest) {
    if (const std::size_t left_out = keep_top(table, top))
        table.notes.push_back(fmt::format("{} more{}", left_out, rest));
}

void cut(Table& table, const Question& question, std::size_t on_screen, std::string_view what) {
    const std::size_t all = table.rows.size();
    cut(table, question.top.value_or(question.is_for_screen ? on_screen : all), fmt::format("{} --top {}", what, all));
}

std::string rank_list(std::span<const NumberList::Range> ranges, std::size_t most_items) {
    std::vector<std::string> items;
    std::uint64_t more = 0;
    const auto add = [&](std::uint32_t first, std::uint32_t last) {
        if (items.size() == most_items)
            more += NumberList::Range{first, last}.size();
        else
            items.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    };
    for (const NumberList::Range& range : ranges) {
        const bool is_pair = range.size() == 2;  // "3, 4" reads better than "3-4"
        add(range.first, is_pair ? range.first : range.last);
        if (is_pair) add(range.last, range.last);
    }
    if (more) items.push_back(fmt::format("{} more", more));
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
        text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
    return text;
}

std::string rank_list(std::span<const std::uint32_t> ranks, std::size_t most_items) {
    std::vector<NumberList::Range> ranges;
    for (const std::uint32_t rank : ranks) {
        if (!ranges.empty() && ranges.back().last + 1 == rank)
            ranges.back().last = rank;
        else
            ranges.push_back({rank, rank});
    }
    return rank_list(ranges, most_items);
}

std::string ranks_text(std::span<const std::uint32_t> ranks, std::size_t most_items, At at) {
    const bool is_one = ranks.size() == 1;
    const char* what = at == At::begin ? (is_one ? "Rank " : "Ranks ") : (is_one ? "rank " : "ranks ");
    return what + rank_list(ranks, most_items);
}

std::string host_of(const Job& job, std::uint32_t node) {
    for (const Rank& rank : job.ranks)
        if (rank.node == node && !job.hosts[rank.host].empty()) return job.hosts[rank.host];
    return "";
}

std::string on_node_text(const Job& job, std::span<const std::uint32_t> ranks) {
    std::string host;
    for (const std::uint32_t number : ranks) {
        const Rank* rank = job.find(number);
        if (!rank || job.hosts[rank->host].empty()) return "";
        if (host.empty()) host = job.hosts[rank->host];
        if (host != job.hosts[rank->host]) return "";
    }
    return host.empty() ? "" : " on node " + host;
}

}  // namespace mpiprof::report
