// Which calls exchange is the profile's to say, none is known by its name here.
#include "report/sections/call_notes.h"

#include <fmt/format.h>

#include <string>

namespace mpiprof::report {

void note_exchanges(std::vector<Note>& notes, const Job& job, const std::set<std::uint16_t>& calls) {
    std::vector<std::string> names;
    for (const std::uint16_t call : calls)  // in the order of their names
        if (job.calls[call].traffic == Traffic::exchange) names.push_back(job.calls[call].name);
    if (names.empty()) return;
    notes.push_back(
        fmt::format("AVG SIZE of {}: sent and received together; peers counts each message once, where it was sent",
                    fmt::join(names, ", ")));
}

}  // namespace mpiprof::report
