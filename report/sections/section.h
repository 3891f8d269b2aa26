// A section answers one question about a Job with Tables. One file each, with a function of its name, and one line in
// sections.def; every view shows them. A section never prints and knows no file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/model/device_matrix.h"
#include "report/model/job.h"
#include "report/model/ratio.h"
#include "report/model/result.h"
#include "report/model/table.h"

namespace mpiprof::report {

class Analysed;

struct Question {
    std::vector<std::uint32_t> ranks;       // only these, sorted; empty = all
    std::string sort;                       // id of a column, or its beginning ("time"); empty = the section's own
    std::string by;                         // what one line is; empty = the section's own
    std::optional<std::size_t> top;         // at most so many lines
    std::optional<DeviceMatrix> devices{};  // placement: as a tool of the node said how they are connected
    bool is_for_screen = true;              // lists are then cut to what a person reads
    bool wants_details = false;             // and what explains the figures is left out, where it is not asked for

    bool is_about(std::uint32_t rank) const {
        return ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), rank);
    }
};

struct Section {
    std::string_view name;
    Result<std::vector<Table>> (*ask)(const Analysed& all, const Question& question);
    std::string_view about;                // one line for --help
    std::string_view examples;             // for it, too: what stands behind mpiprof-report, a line each
    std::array<std::string_view, 5> by{};  // what --by takes; the first is the default, empty words are none
    bool takes_sort_and_top = false;
    bool takes_ranks = takes_sort_and_top;
    bool asks_for_places = false;  // of the ranks in question: Job::kept_sites
    bool takes_devices = false;    // Question::devices
    std::string_view details{};    // what Question::wants_details adds; empty: it is not taken

    Result<std::vector<Table>> answer(const Analysed& all, const Question& question) const {
        return ask(all, question);
    }
};

std::span<const Section> sections();  // the first is the default
const Section* find_section(std::string_view name);

// Helpers of the sections.

// A column and where its values come from.
template <class T>
struct Field {
    Column column;
    std::function<Value(const T&)> value;
};

// One column or several, of such a line or of what it is derived from.
template <class T>
struct Fields {
    std::vector<Field<T>> all;

    Fields(Column column, std::function<Value(const T&)> value) {
        all.push_back({std::move(column), std::move(value)});
    }
    template <class Base>
    Fields(const Field<Base>& field) : Fields(field.column, field.value) {}
    template <class Base>
    Fields(const std::vector<Field<Base>>& fields) {
        for (const Field<Base>& field : fields) all.push_back({field.column, field.value});
    }
};

template <class T>
std::vector<Field<T>> side_by_side(std::initializer_list<Fields<T>> groups) {
    std::vector<Field<T>> all;
    for (const Fields<T>& group : groups) all.insert(all.end(), group.all.begin(), group.all.end());
    return all;
}

// A column of csv and json that no screen shows.
Column in_data(std::string id, Unit unit = Unit::text);
// A share that the column before it has in figures, drawn.
Column bar(int drop, Draw draw = Draw::bar);

// A table whose rows are filled in by hand, or one that is a picture or notes alone.
Table bare_table(std::string id, std::string title = {}, std::vector<Column> columns = {});
Table picture_table(std::string id, Picture picture, std::string title = {});

template <class T>
Table table_of(std::string id, const std::vector<Field<T>>& fields, const std::vector<T>& lines) {
    Table table = bare_table(std::move(id));
    for (const Field<T>& field : fields) table.add(field.column);
    for (const T& line : lines) {
        std::vector<Value>& row = table.rows.emplace_back();
        for (const Field<T>& field : fields) row.push_back(field.value(line));
    }
    return table;
}

// Sorts by a column: numbers descending, text and ranks ascending. Fails if there is no such column.
Result<std::monostate> sort_rows(Table& table, std::string_view column);
// By the column that was asked for, else by `otherwise`; empty: the rows stay as they are.
Result<std::monostate> sort_rows(Table& table, const Question& question, std::string_view otherwise = "");
// Keeps the first `top` rows; returns how many were left out.
std::size_t keep_top(Table& table, std::size_t top);
// The same, and says below how many: "3 more", and then `rest`: " pairs of nodes: peers --format csv".
void cut(Table& table, std::size_t top, std::string_view rest);
// To as many rows as were asked for, else to what a screen takes; data has all. Below stands what to ask for: "3 more
// rows: --top 43", where `what` is " rows:".
void cut(Table& table, const Question& question, std::size_t on_screen, std::string_view what = " rows:");

// "3, 7, 9-12 and 24 more"
std::string rank_list(std::span<const std::uint32_t> ranks, std::size_t most_items = 8);
std::string rank_list(std::span<const NumberList::Range> ranges, std::size_t most_items = 8);

// The share of a time that was waiting (merge/waits estimates it), where half of the time at least could be judged.
inline Value waiting_share(std::uint64_t waiting_ns, std::uint64_t judged_ns, std::uint64_t time_ns) {
    if (judged_ns == 0 || 2 * judged_ns < time_ns) return {};
    return static_cast<double>(waiting_ns) / static_cast<double>(judged_ns);
}

// What ran and for how long, or how much in all: summary, watch and peers begin with it.
class HeadlineTable {
  public:
    explicit HeadlineTable(std::string id = "job") : id_(std::move(id)) {}
    void add(std::uint64_t line, std::string key, Value value, std::string text) {
        headline_.items.push_back({line, std::move(key), std::move(value), std::move(text)});
    }
    // Only for csv and json.
    void add(std::string key, Value value) { add(0, std::move(key), std::move(value), ""); }
    Table take() { return picture_table(std::move(id_), std::move(headline_)); }

  private:
    std::string id_;
    Headline headline_;
};

// "rank 3", "ranks 3, 7 and 24 more"
enum class At : std::uint8_t { middle, begin };  // of a sentence
std::string ranks_text(std::span<const std::uint32_t> ranks, std::size_t most_items, At at = At::middle);

// The node's label: the host of its first rank.
std::string host_of(const Job& job, std::uint32_t node);
// " on node mph3", where the ranks are all on one and the job has several or names it.
std::string on_node_text(const Job& job, std::span<const std::uint32_t> ranks);

// Part of a whole, or the mean of a sum; not known where there is no whole.
template <class Part, class Whole>
Value ratio(Part part, Whole whole) {
    const auto known = ratio_of(part, whole);
    return known ? Value(*known) : Value();
}

inline Value known(std::uint64_t ns) { return ns ? Value(ns) : Value(); }  // 0 means not known
inline Value value_of(const std::optional<std::uint64_t>& ns) { return ns ? Value(*ns) : Value(); }
inline Value known(const std::optional<double>& ns) { return ns ? Value(*ns) : Value(); }

}  // namespace mpiprof::report
