// A Job to facts, sites and pairs.
#include "report/compare/run_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/symbols/demangle.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t pairs_kept = 10'000;
constexpr std::size_t names_shown = 4;

std::string base(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string first_names(const std::vector<std::string>& names) {
    const std::size_t shown = std::min(names.size(), names_shown);
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

// "4; 8 on 3 ranks": the value of most ranks, and how many have another.
template <class Values, class Text>
std::string value_text(const Values& values, Text text) {
    std::string all;
    for (std::size_t i = 0; i < values.size() && i < names_shown; ++i)
        all += i == 0 ? text(values[i]) : fmt::format("; {} on {} ranks", text(values[i]), values[i].count);
    return all;
}

class Facts {
  public:
    explicit Facts(const Job& job) : job_(job) {}

    std::vector<RunFact> all() {
        using Kind = RunFact::Kind;
        for (const SettingRow& row : job_.labels)
            add(Kind::label, row.name, value_text(row.values, [](const SettingValue& v) { return v.value; }));
        add(Kind::program, "command", job_.command);
        add(Kind::program, "program", job_.executable);
        add(Kind::program, "launcher", job_.launcher);
        add(Kind::size, "ranks", fmt::format("{}", job_.size));
        add(Kind::size, "nodes", fmt::format("{}", job_.nodes.size()));
        add(Kind::size, "ranks with a profile",
            job_.lacks_ranks() ? fmt::format("{} of {}", job_.profiles(), job_.expected()) : "all");
        add(Kind::place, "hosts", first_names(job_.hosts));
        add_nodes();
        add(Kind::library, "MPI", job_.mpi_library);
        if (job_.is_cuda_aware) add(Kind::library, "MPI is CUDA-aware", *job_.is_cuda_aware ? "yes" : "no");
        add(Kind::library, "libmpiprof", job_.library_version);
        add_code();
        for (const SettingRow& row : job_.settings) {
            if (row.name == "LABELS") continue;  // what it says is among the labels
            add(Kind::setting, "MPIPROF_" + row.name,
                value_text(row.values, [](const SettingValue& v) { return v.value; }));
        }
        for (const Variable& variable : job_.placement.variables)
            add(Kind::environment, variable.name,
                value_text(variable.values, [](const VariableValue& v) { return v.value.value_or("(not set)"); }));
        return std::move(facts_);
    }

  private:
    void add(RunFact::Kind kind, std::string name, std::string value) {
        if (!value.empty()) facts_.push_back({kind, std::move(name), std::move(value)});
    }

    void add_nodes() {
        std::vector<std::string> processors, cores;
        const auto add_once = [](std::vector<std::string>& to, const std::string& text) {
            if (!text.empty() && std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
        };
        for (const NodeFacts& node : job_.placement.nodes) add_once(processors, node.processor);
        for (const RankPlace& rank : job_.placement.ranks)
            if (const auto count = job_.placement.cpus_of(rank).count()) add_once(cores, fmt::format("{}", count));
        add(RunFact::Kind::place, "processor", first_names(processors));
        add(RunFact::Kind::place, "cores that a rank may use", first_names(cores));
    }

    // Programs and libraries that called, by their build-ids. The same file in another directory is the same code.
    void add_code() {
        std::map<std::string, std::string> builds;
        for (const Module& module : job_.sites.modules)
            if (!module.is_script && !module.build_id.empty()) builds[base(module.path)] = module.build_id;
        for (const auto& [name, build] : builds) add(RunFact::Kind::code, "build of " + name, build);
    }

    const Job& job_;
    std::vector<RunFact> facts_;
};

std::string place_of(const CallSite& site, const CallSites& sites, Symbols& symbols) {
    const Place& place = site.frames.front();
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
    RunDetail detail{.source = {},
                     .program = base(job.executable),
                     .facts = Facts(job).all(),
                     .sites = sites_of(job, symbols),
                     .pairs = {}};
    add_pairs(detail, job);
    return detail;
}

}  // namespace mpiprof::report
