// folded: stacks of call sites as flame graphs read them (flamegraph.pl, inferno, speedscope): a line per stack, frames
// from the outermost to the call, then its time in microseconds, of all ranks together.
// "main (app.c:90);exchange (halo.c:12);MPI_Sendrecv 1234".
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/model/visible.h"
#include "report/symbols/symbols.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view not_told_apart = "(other call sites)";

// Semicolons part frames.
std::string frame_text(std::string_view text) {
    std::string frame = visible(text, true);
    std::replace(frame.begin(), frame.end(), ';', ':');
    return frame;
}

std::string line_text(const SourceLine& line) {
    if (line.file.empty()) return line.function;
    const std::string at = fmt::format("{}:{}", line.file.substr(line.file.rfind('/') + 1), line.line);
    return line.function.empty() ? at : fmt::format("{} ({})", line.function, at);
}

// Outermost first; an inlined function has a frame as any other.
void add_frames(std::string& stack, const Symbol& symbol, const Module& module, std::uint64_t offset) {
    bool is_known = false;
    for (auto line = symbol.lines.rbegin(); line != symbol.lines.rend(); ++line) {
        const std::string text = line_text(*line);
        if (text.empty()) continue;
        stack += frame_text(text) + ';';
        is_known = true;
    }
    if (is_known) return;
    const std::string text = place_text(symbol, module, offset);
    stack += frame_text(text.empty() ? "(unknown)" : text) + ';';
}

std::string stack_of(const CallSite& site, const CallSites& sites, const Job& job, Symbols& symbols) {
    std::string stack;
    for (auto frame = site.frames.rbegin(); frame != site.frames.rend(); ++frame) {
        const Module& module = sites.modules[frame->module];
        add_frames(stack, symbols.at(module, frame->offset), module, frame->offset);
    }
    if (site.frames.empty()) stack = fmt::format("{};", not_told_apart);
    return stack + frame_text(job.calls[site.call].name);
}

}  // namespace

std::vector<std::string> export_folded(const Analysed& all, const ProfileSource&, const Sink& sink, const Complaint&) {
    const Job& job = all.job;
    Symbols symbols;
    std::map<std::string, std::uint64_t> ns_of;  // two offsets may be the same line
    for (const CallSite& site : job.sites.sites) ns_of[stack_of(site, job.sites, job, symbols)] += site.time_ns;
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
