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
    notes.push_back(fmt::format("AVG SIZE of {}: sent plus received; peers counts each message once, at the sender",
                                fmt::join(names, ", ")));
}

void note_replays(std::vector<Note>& notes, const Job& job) {
    if (job.gpu.replayed_operations() != 0 || job.gpu.ranks_missing_replays != 0)
        notes.push_back(
            "replays of CUDA graphs repeat NCCL operations without a call and are not listed here: mpiprof-report nccl");
}

}  // namespace mpiprof::report
