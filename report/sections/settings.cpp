// settings: what libmpiprof was told, by whom, and which ranks were told something else.
#include <algorithm>

#include "report/analysis/analysed.h"
#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

struct Line {
    const SettingRow* row = nullptr;
    const SettingValue* value = nullptr;
    std::string tool;     // whose variables count, too
    bool is_one = false;  // all ranks have it
    bool is_most = false;
};

std::string source_text(const Line& line) {
    switch (line.value->source) {
        case SettingSource::fallback:
            return "default";
        case SettingSource::environment:
            return "environment";
        case SettingSource::named_file:
            return "the file that MPIPROF_CONFIG names";
        case SettingSource::file_for_all:
            return "/etc/mpiprof.conf";
        case SettingSource::other_tool:
            break;
    }
    return line.tool.empty() ? "another tool's variable" : "a variable of " + line.tool;
}

std::string ranks_text(const Line& line) {
    if (line.is_one) return "all";
    return line.is_most ? "the other " + plural(line.value->count, "rank", "ranks") : rank_list(line.value->ranks);
}

// "mpip" where MPIPROF_COMPAT names it.
std::string tool_of(const Job& job) {
    for (const SettingRow& row : job.settings)
        if (row.name == "COMPAT") return row.values.front().value == "none" ? "" : row.values.front().value;
    return "";
}

}  // namespace

Result<std::vector<Table>> settings(const Analysed& all, const Question&) {
    const Job& job = all.job;
    std::vector<Line> lines;
    for (const SettingRow& row : job.settings)
        for (const SettingValue& value : row.values)
            lines.push_back({.row = &row,
                             .value = &value,
                             .tool = tool_of(job),
                             .is_one = row.values.size() == 1,
                             .is_most = &value == &row.values.front()});
    // What was set comes first.
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
        const auto is_set = [](const Line& l) {
            return std::ranges::any_of(l.row->values,
                                       [](const SettingValue& v) { return v.source != SettingSource::fallback; });
        };
        return is_set(a) > is_set(b);
    });
    using L = const Line&;
    const bool differ = std::ranges::any_of(lines, [](L l) { return !l.is_one; });
    Table table =
        table_of("settings",
                 std::vector<Field<Line>>{
                     {{.id = "name", .title = "SETTING"}, [](L l) { return "MPIPROF_" + l.row->name; }},
                     {{.id = "value", .title = "VALUE"}, [](L l) { return l.value->value; }},
                     {{.id = "from", .title = "FROM", .only_screen = true}, [](L l) { return source_text(l); }},
                     {in_data("source"), [](L l) { return std::string(name_of(l.value->source)); }},
                     {{.id = "which", .title = "RANKS", .only_data = !differ}, [](L l) { return ranks_text(l); }},
                     {in_data("ranks", Unit::count), [](L l) { return std::uint64_t{l.value->count}; }},
                 },
                 lines);
    const auto is_default = [](L l) { return l.value->source == SettingSource::fallback; };
    if (!lines.empty() && std::ranges::all_of(lines, is_default))
        table.title = "no MPIPROF_ variable was set, and no file had one: all settings at their defaults";
    if (lines.empty() && !job.is_text) table.notes.push_back("the profiles record no settings");
    if (job.is_text) table.notes.push_back("mpitrace's text does not record its settings");
    if (differ) table.notes.push_back("not all ranks saw the same variables: check that the launcher propagates them");
    return std::vector{std::move(table)};
}

}  // namespace mpiprof::report
