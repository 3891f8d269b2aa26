// Which calls exchange is the profile's to say, none is known by its name here.
#include "report/sections/size_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace mpiprof::report {

void note_exchanges(Table& table, const Job& job) {
    const auto column =
        std::find_if(table.columns.begin(), table.columns.end(), [](const Column& c) { return c.id == "call"; });
    if (column == table.columns.end()) return;
    const auto at = static_cast<std::size_t>(column - table.columns.begin());
    std::set<std::string> shown;
    for (const std::vector<Value>& row : table.rows)
        if (const auto* name = std::get_if<std::string>(&row[at])) shown.insert(*name);
    std::vector<std::string> names;
    for (const Call& call : job.calls)
        if (call.traffic == Traffic::exchange && shown.contains(call.name)) names.push_back(call.name);
    if (names.empty()) return;
    table.notes.push_back(
        fmt::format("AVG SIZE of {}: sent and received together; peers counts each message once, where it was sent",
                    fmt::join(names, ", ")));
}

}  // namespace mpiprof::report
