// Two kinds of rules: those that name a call, and those for whose ranks others wait, wherever that is.
#include "report/analysis/where.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "report/model/words.h"

namespace mpiprof::report {
namespace {

// Of a line that the compiler has put into many places each may have little.
constexpr double too_little = 0.02;

// What a finding of waiting lost is more than waiting can be estimated for: ranks poll, and that is how they wait.
bool is_mostly_polled(const Finding& finding, const Job& job, const CallSites& found) {
    double waiting = 0, recorded = 0;
    for (const CallSite& site : found.sites) waiting += static_cast<double>(site.waiting_ns);
    for (const Rank& rank : job.ranks) recorded += static_cast<double>(rank.recorded_ns());
    return waiting < finding.run_share * recorded / 2;
}

// Waiting that is mostly for the partners of one call is found at its lines: what is waited elsewhere follows from it.
// A call that only posts waits nowhere.
bool waits_in_its_call(const Finding& finding, const CallSites& found) {
    if (finding.calls.empty()) return false;
    std::uint64_t all = 0, of_call = 0;
    for (const CallSite& site : found.sites) {
        all += site.waiting_ns;
        if (site.call == finding.calls.front()) of_call += site.waiting_ns;
    }
    return static_cast<double>(of_call) >= a_good_part * static_cast<double>(all);
}

bool is_polled(const Call& call) {
    return call.is_sampled && (call.traffic == Traffic::probe || call.traffic == Traffic::completion);
}

}  // namespace

Where where_of(const Finding& finding, const Job& job) {
    const About what = row_of(finding.rule).about;
    if (what == About::no_calls || (what == About::its_call && finding.calls.empty())) return {};
    const CallSites& found = job.kept_sites ? *job.kept_sites : job.sites;
    std::map<std::tuple<std::uint16_t, std::uint32_t, std::uint64_t>, std::uint64_t> by_line;
    std::uint64_t all_ns = 0;
    const bool counts_polls = what == About::waiting && is_mostly_polled(finding, job, found);
    const bool has_call = what == About::waiting && !finding.calls.empty();
    const bool is_of_one_call = has_call && waits_in_its_call(finding, found);
    // Where each of its calls waits, the fastest too, little of that is seen as waiting: then it is their time.
    const bool is_its_call = what == About::its_call || (has_call && !is_of_one_call);
    for (const CallSite& site : found.sites) {
        if (is_its_call && site.call != finding.calls.front()) continue;
        const bool is_time = is_its_call || (counts_polls && is_polled(job.calls[site.call]));
        const std::uint64_t ns = is_time ? site.time_ns : site.waiting_ns;
        all_ns += ns;
        if (site.frames.empty() || (is_of_one_call && site.call != finding.calls.front())) continue;
        const Place& place = site.frames[own_frame(site.frames, found.modules)];
        if (place.module != 0) by_line[{site.call, place.module, place.offset}] += ns;
    }
    if (all_ns == 0) return {};
    Where where{!is_its_call};
    for (const auto& [place, ns] : by_line) {
        const auto& [call, module, offset] = place;
        const double share = static_cast<double>(ns) / static_cast<double>(all_ns);
        if (share >= too_little) where.lines.push_back({call, &found.modules[module], offset, share});
    }
    return where;
}

}  // namespace mpiprof::report
