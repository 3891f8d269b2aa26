// The rows of the schema are made by column_meanings.cmake.
#include "report/sections/column_meanings.h"

#include <algorithm>
#include <array>

namespace mpiprof::report {
namespace {

constexpr ColumnMeaning all[] = {
#include "report/sections/column_meanings.inc"
    // Only screens have these.
    {"summary", "top", "all_calls", "CALLS", "Calls of all ranks together."},
    {"calls", "calls", "all_calls", "CALLS", "Calls of all ranks together."},
    {"sites", "sites", "all_calls", "CALLS", "Calls of all ranks together."},
    {"comms", "comms", "all_calls", "CALLS", "Calls of all ranks together."},
    {"comms", "comms_by_call", "all_calls", "CALLS", "Calls of all ranks together."},
    {"calls", "calls", "durations", "DURATIONS", "How many calls took how long; the note below has the range."},
    {"comms", "comms", "all_bytes", "BYTES", "Bytes of all ranks together."},
    {"comms", "comms", "how", "MADE BY", "The call that made the communicator, and where it stands."},
    {"hang", "standings", "from", "CALLED FROM", "Line of the source, and its callers."},
    {"hang", "standings", "times", "TIMES", "How often the ranks have entered this collective on its communicator."},
    {"hang", "standings", "where", "WHERE", "The MPI call that the ranks are in, or the program after the last one."},
    {"placement", "settings", "differs", "DIFFERS", "Ranks that have another value."},
    {"placement", "placement", "ranks", "RANKS", "Ranks of the group."},
    {"placement", "topology", "cores", "CORES", "Processors near the device."},
    {"placement", "topology", "numa_node", "NUMA", "NUMA node of the device."},
    {"ranks", "nodes", "spread", "BY RANK", "Time outside MPI of each rank of the node."},
    {"ranks", "ranks", "ending", "ENDING", "How the rank ended: finalized, killed, or still running."},
    {"regions", "regions", "name", "REGION", "Name of the region, below the one that it is in."},
    {"regions", "regions", "times", "TIMES", "How often a rank entered it, mean of the ranks."},
    {"settings", "settings", "from", "FROM", "Where the setting is from: the default, or the environment."},
    {"sites", "sites", "from", "CALLED FROM|LINE|FUNCTION|FILE",
     "Where the calls stand: the line of the source and its callers, or what --by groups."},
    {"steps", "steps", "over_time", "FROM START TO END", "Duration of each step, from the first to the last."},
    {"summary", "spread", "by_rank", "RANKS 0..", "The figure of each rank, from the lowest number to the highest."},
    {"time", "ranks", "ranks", "RANK", "Ranks of the line."},
};

}  // namespace

std::span<const ColumnMeaning> column_meanings() { return all; }

std::string_view first_title(const ColumnMeaning& meaning) {
    return meaning.title.substr(0, std::min(meaning.title.find('|'), meaning.title.size()));
}

bool has_title(const ColumnMeaning& meaning, std::string_view title) {
    for (std::size_t begin = 0; begin <= meaning.title.size();) {
        const std::size_t end = std::min(meaning.title.find('|', begin), meaning.title.size());
        const std::string_view known = meaning.title.substr(begin, end - begin);
        if (!title.empty() &&
            (known == title || (known.ends_with("..") && title.starts_with(known.substr(0, known.size() - 2)))))
            return true;
        begin = end + 1;
    }
    return false;
}

bool is_explained(std::string_view section, std::string_view table, const Column& column) {
    return std::ranges::any_of(all, [&](const ColumnMeaning& meaning) {
        return meaning.id == column.id && has_title(meaning, column.title) && meaning.section == section &&
               meaning.table == table;
    });
}

}  // namespace mpiprof::report
