// A Job to sites and pairs.
#include "report/compare/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/symbols/demangle.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t pairs_kept = 10'000;
std::string base(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string place_of(const CallSite& site, const CallSites& sites, Symbols& symbols) {
    const Place& place = site.frames[own_frame(site.frames, sites.modules)];
    const Module& module = sites.modules[place.module];
    const Symbol& symbol = symbols.at(module, place.offset);
    if (symbol.lines.empty() || symbol.lines.front().function.empty()) return place_text(symbol, module, place.offset);
    const SourceLine& line = symbol.lines.front();
    const std::string function = short_function(line.function);
    return line.file.empty() ? function : fmt::format("{} {}", base(line.file), function);
}

std::vector<RunSite> sites_of(const Job& job, Symbols& symbols) {
    std::map<std::pair<std::string, std::string>, RunSite> sites;
    for (const CallSite& site : job.sites.sites) {
        if (site.frames.empty()) continue;  // of no place is more known than the calls themselves tell
        const std::string& call = job.calls[site.call].name;
        const std::string place = place_of(site, job.sites, symbols);
        RunSite& to = sites.try_emplace({call, place}, RunSite{.call = call, .place = place}).first->second;
        to.calls += site.calls;
        to.time_ns += site.time_ns;
    }
    std::vector<RunSite> result;
    for (auto& [key, site] : sites) result.push_back(std::move(site));
    return result;
}

void add_pairs(RunDetail& detail, const Job& job) {
    for (const PeerPair& pair : job.peers.pairs) {
        detail.pair_bytes += pair.bytes();
        const Rank *from = job.find(pair.from), *to = job.find(pair.to);
        if (from && to && from->node != to->node) detail.between_nodes += pair.bytes();
        if (!detail.pairs.empty() && detail.pairs.back().from == pair.from && detail.pairs.back().to == pair.to) {
            detail.pairs.back().messages += pair.messages();
            detail.pairs.back().bytes += pair.bytes();
        } else {
            detail.pairs.push_back({pair.from, pair.to, pair.messages(), pair.bytes()});
        }
    }
    if (detail.pairs.size() <= pairs_kept) return;
    std::nth_element(detail.pairs.begin(), detail.pairs.begin() + pairs_kept, detail.pairs.end(),
                     [](const RunPair& a, const RunPair& b) { return a.bytes > b.bytes; });
    detail.pairs.resize(pairs_kept);
    std::sort(detail.pairs.begin(), detail.pairs.end(),
              [](const RunPair& a, const RunPair& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
}

}  // namespace

RunDetail detail_of(const Job& job, Symbols& symbols) {
    RunDetail detail{.source = {}, .program = base(job.executable), .sites = sites_of(job, symbols), .pairs = {}};
    add_pairs(detail, job);
    return detail;
}

}  // namespace mpiprof::report
