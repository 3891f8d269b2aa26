// folded: stacks of call sites as flame graphs read them (flamegraph.pl, inferno, speedscope): a line per stack, frames
// from the outermost to the call, then its time in microseconds, of all ranks together.
// "main (app.c:90);exchange (halo.c:12);MPI_Sendrecv 1234".
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/model/joined.h"
#include "report/model/visible.h"
#include "report/symbols/stacks.h"

namespace mpiprof::report {
namespace {

// Semicolons part frames.
std::string frame_text(std::string_view text) {
    std::string frame = visible(text, true);
    std::replace(frame.begin(), frame.end(), ';', ':');
    return frame;
}

std::string line_of(const std::vector<std::string>& stack) {
    std::vector<std::string> frames;
    for (const std::string& frame : stack) frames.push_back(frame_text(frame));
    return joined(frames, ";");
}

}  // namespace

std::vector<std::string> export_folded(const Analysed& all, const ProfileSource&, const Sink& sink, const Complaint&) {
    const Job& job = all.job;
    Symbols symbols;
    std::map<std::string, std::uint64_t> ns_of;  // two offsets may be the same line
    for (const CallSite& site : job.sites.sites) ns_of[line_of(stack_of(site, job, symbols))] += site.time_ns;
    fmt::memory_buffer out;
    std::size_t short_ones = 0;
    for (const auto& [stack, ns] : ns_of) {
        const std::uint64_t us = (ns + 500) / 1000;
        if (us == 0)
            ++short_ones;
        else
            out.append(fmt::format("{} {}\n", stack, us));
    }
    if (out.size() != 0) sink({out.data(), out.size()});
    std::vector<std::string> remarks;
    if (out.size() == 0) remarks.emplace_back("no call has a time: nothing was written");
    if (short_ones != 0 && out.size() != 0)
        remarks.push_back(
            fmt::format("{} of {} stacks took less than a microsecond and are left out", short_ones, ns_of.size()));
    const auto is_in_call = [](const Rank& rank) { return rank.in_call.has_value(); };
    if (std::any_of(job.ranks.begin(), job.ranks.end(), is_in_call))
        remarks.emplace_back("calls that have not returned are in no stack: mpiprof-report hang");
    return remarks;
}

}  // namespace mpiprof::report
