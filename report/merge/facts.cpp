// The part `facts`: where some of a job's ranks ran and under whose settings, from what their profiles say of
// processes, nodes and environments. Most ranks share their sets of processors and their environments, which are kept
// once each; nodes are described once.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "libmpiprof/format/facts.h"
#include "libmpiprof/format/network.h"
#include "report/merge/blocks.h"
#include "report/merge/keyed.h"
#include "report/merge/node_counts.h"
#include "report/merge/part.h"
#include "report/model/number_list.h"
#include "report/model/placement.h"
#include "report/model/sorted.h"

namespace mpiprof::report {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// What stands behind the dot of "nic_numa.mlx5_0", if the name begins so.
std::optional<std::string> entry_of(const Fact& fact, std::string_view kind) {
    if (!fact.name.starts_with(kind) || fact.name.size() <= kind.size() || fact.name[kind.size()] != '.')
        return std::nullopt;
    return fact.name.substr(kind.size() + 1);
}

Device& device_of(std::vector<Device>& devices, const std::string& name) {
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const Device& d) { return d.name == name; });
    return found != devices.end() ? *found : devices.emplace_back(Device{.name = name});
}

constexpr std::size_t longest_path = 512;  // as it is written

void add_path(Device& device, const std::string& path) {
    if (path.size() < longest_path) device.pci_path = path;
}

constexpr std::size_t most_nvlinks = 64;  // of a GPU; more come from damaged files alone

// "0000:41:00.0 4, switch 18"
void add_nvlinks(Device& gpu, std::string_view text) {
    while (!text.empty() && gpu.nvlinks.size() < most_nvlinks) {
        const std::string_view one = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), one.size() + 2));
        const std::size_t space = one.find(' ');
        const auto links = space == one.npos ? std::nullopt : number_of(one.substr(space + 1));
        const std::string_view to = one.substr(0, space);
        if (links.value_or(0) != 0 && *links <= most_nvlinks)
            gpu.nvlinks.push_back({to == format::facts::nvlink_switch ? std::string() : std::string(to), *links});
    }
}

void add_numa_node(NodeFacts& node, const std::string& entry, const std::string& cpus) {
    if (!entry.starts_with("node")) return;
    const auto number = number_of(std::string_view(entry).substr(4));
    NumberList list = NumberList::parse(cpus);
    if (number && !list.empty()) node.numa_nodes.push_back({*number, std::move(list)});
}

// "ACTIVE InfiniBand 200 Gb/sec (4X HDR)", of "mlx5_0/1"
void add_port(NodeFacts& node, const std::string& entry, std::string_view text) {
    const auto word = [&] {
        const std::string_view one = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        return std::string(one);
    };
    const std::size_t slash = entry.rfind('/');
    if (slash == entry.npos) return;
    Port port{entry.substr(0, slash), entry.substr(slash + 1), word(), word(), std::string(text)};
    node.ports.push_back(std::move(port));
}

// What its network is: ports, interfaces, and whose the device files are.
void add_network(NodeFacts& node, const Fact& fact) {
    if (const auto entry = entry_of(fact, format::facts::port)) add_port(node, *entry, fact.value);
    if (const auto entry = entry_of(fact, format::facts::verbs)) node.verbs.emplace_back(*entry, fact.value);
    if (const auto entry = entry_of(fact, format::facts::net_mbit))
        node.interfaces.push_back({*entry, number_of(fact.value).value_or(0)});
}

void describe(NodeFacts& node, const std::vector<Fact>& facts) {
    for (const Fact& fact : facts) {
        add_network(node, fact);
        if (fact.name == format::facts::processor) node.processor = fact.value;
        if (fact.name == format::facts::cpus) node.cpus = NumberList::parse(fact.value);
        if (const auto entry = entry_of(fact, format::facts::numa_cpus)) add_numa_node(node, *entry, fact.value);
        if (const auto entry = entry_of(fact, format::facts::gpu_numa))
            device_of(node.gpus, *entry).numa_node = number_of(fact.value);
        if (const auto entry = entry_of(fact, format::facts::kfd_gpu); entry && number_of(fact.value).value_or(0) != 0)
            device_of(node.gpus, "kfd " + *entry);
        if (const auto entry = entry_of(fact, format::facts::nic_numa))
            device_of(node.adapters, *entry).numa_node = number_of(fact.value);
        if (const auto entry = entry_of(fact, format::facts::gpu_pci))
            add_path(device_of(node.gpus, *entry), fact.value);
        if (const auto entry = entry_of(fact, format::facts::nvlinks))
            add_nvlinks(device_of(node.gpus, *entry), fact.value);
        if (const auto entry = entry_of(fact, format::facts::nic_pci))
            add_path(device_of(node.adapters, *entry), fact.value);
        if (const auto entry = entry_of(fact, format::facts::nic_rate))
            device_of(node.adapters, *entry).rate = fact.value;
    }
    sort_by(node.numa_nodes, &NumaNode::number);
    sort_by(node.gpus, &Device::name);
    sort_by(node.adapters, &Device::name);
    sort_by(node.interfaces, &Interface::name);
    std::sort(node.verbs.begin(), node.verbs.end());
    std::sort(node.ports.begin(), node.ports.end(), [](const Port& a, const Port& b) {
        return std::tie(a.adapter, a.number) < std::tie(b.adapter, b.number);
    });
}

// Over the time in which the usage was measured, which ends at the last update.
void add_usage(RankPlace& place, const Profile& profile) {
    place.span_ns = profile.usage_span_ns;
    if (profile.usage_at_start == Usage{} || profile.usage_span_ns == 0) return;
    const Usage& from = profile.usage_at_start;
    const Usage& to = profile.usage;
    const std::uint64_t cpu = to.user_ns + to.system_ns;
    const std::uint64_t cpu_at_start = from.user_ns + from.system_ns;
    if (cpu < cpu_at_start || to.involuntary_switches < from.involuntary_switches) return;
    const auto span = static_cast<double>(profile.usage_span_ns);
    place.cores_busy = static_cast<double>(cpu - cpu_at_start) / span;
    place.pushed_off_per_s = static_cast<double>(to.involuntary_switches - from.involuntary_switches) / (span / 1e9);
}

constexpr std::uint32_t not_set = 0xffffffff;

// Of each environment, of each variable: the assignment, or the place among the variable's values.
using ValuesOfEnvironments = std::vector<std::vector<std::uint32_t>>;

// Environments in the order of their first ranks, how many ranks have each. The ranks get these numbers.
struct UsedEnvironments {
    std::vector<const std::vector<std::uint32_t>*> environments;
    std::vector<std::uint32_t> ranks;
};

UsedEnvironments used_environments(const std::vector<std::vector<std::uint32_t>>& all, std::vector<RankPlace>& places) {
    UsedEnvironments used;
    std::vector<std::uint32_t> number(all.size(), not_set);
    for (RankPlace& place : places) {
        std::uint32_t& n = number[place.environment];
        if (n == not_set) {
            n = static_cast<std::uint32_t>(used.environments.size());
            used.environments.push_back(&all[place.environment]);
            used.ranks.push_back(0);
        }
        place.environment = n;
        ++used.ranks[n];
    }
    return used;
}

// The value of most ranks.
void put_usual_value_first(std::vector<VariableValue>& values, ValuesOfEnvironments& of, std::size_t variable) {
    const auto most =
        std::max_element(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
    const auto at = static_cast<std::uint32_t>(most - values.begin());
    std::rotate(values.begin(), most, most + 1);
    for (auto& environment : of) {
        std::uint32_t& value = environment[variable];
        value = value == at ? 0 : value < at ? value + 1 : value;
    }
}

void list_ranks_of_other_values(Placement& placement, const ValuesOfEnvironments& values) {
    std::vector<std::vector<std::uint32_t>> differing(values.size());
    for (std::size_t e = 0; e < values.size(); ++e)
        for (std::uint32_t v = 0; v < values[e].size(); ++v)
            if (values[e][v] != 0) differing[e].push_back(v);
    for (const RankPlace& place : placement.ranks)
        for (const std::uint32_t v : differing[place.environment])
            placement.variables[v].values[values[place.environment][v]].ranks.push_back(place.rank);
}

// "libucp.so" as people call it: "libucp"
std::string stem_of(std::string_view file) { return std::string(file.substr(0, file.find('.'))); }

class FactsPart {
  public:
    FactsPart() {  // number 0 of either is "not known"
        lists_.index_of(std::string());
        environments_.index_of(Environment{});
    }
    void add(const RankProfile& from);
    void absorb(FactsPart&& other);
    // After the nodes of the job have their numbers.
    void finish(Finishing& end);

  private:
    using Assignment = std::pair<std::string, std::string>;  // name, value
    using Environment = std::vector<std::uint32_t>;          // of assignments_, sorted
    struct Description {
        std::uint32_t rank = 0;  // that wrote it; the lowest counts
        std::vector<Fact> facts;
        NodeUse use{};

        void operator+=(Description&& more) {
            if (more.rank < rank) *this = std::move(more);
        }
    };

    std::uint32_t environment_of(std::span<const Fact* const> variables);
    std::uint32_t environment_index(Environment environment) {
        std::sort(environment.begin(), environment.end());
        return environments_.index_of(environment);
    }
    void sort_lists(Placement& placement);
    void sort_variables(Placement& placement) const;

    Numbered<std::string> lists_;  // of processors or NUMA nodes
    Numbered<Assignment> assignments_;
    Numbered<Environment> environments_;
    // That of the rank before, which mostly is the next one's, too, as it was written down.
    std::vector<Assignment> recent_;
    std::uint32_t recent_environment_ = 0;
    Keyed<std::string, Description> nodes_;
    Blocks<RankPlace> ranks_;
};

// Of a variable that is there twice the first counts.
std::uint32_t FactsPart::environment_of(std::span<const Fact* const> variables) {
    const auto is_as_before = [](const Fact* fact, const Assignment& assignment) {
        return fact->name == assignment.first && fact->value == assignment.second;
    };
    if (std::equal(variables.begin(), variables.end(), recent_.begin(), recent_.end(), is_as_before))
        return recent_environment_;
    recent_.clear();
    Environment environment;
    std::set<std::string_view> seen;
    for (const Fact* fact : variables) {
        const Assignment& assignment = recent_.emplace_back(fact->name, fact->value);
        if (seen.insert(fact->name).second) environment.push_back(assignments_.index_of(assignment));
    }
    return recent_environment_ = environment_index(std::move(environment));
}

void FactsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.is_text) return;
    RankPlace place{.rank = profile.rank};
    std::vector<const Fact*> variables;
    Description description{
        profile.rank, {}, node_use_of(profile.node_counters, static_cast<double>(profile.usage_span_ns) / 1e9)};
    for (const Fact& fact : profile.facts) {
        if (fact.kind == FactKind::node) description.facts.push_back(fact);
        if (fact.kind == FactKind::environment) variables.push_back(&fact);
        if (fact.kind != FactKind::process) continue;
        if (fact.name == format::facts::cpus_allowed) place.cpus = lists_.index_of(fact.value);
        if (fact.name == format::facts::memory_nodes_allowed) place.memory_nodes = lists_.index_of(fact.value);
        if (fact.name == format::facts::cpu_at_start) place.cpu_at_start = number_of(fact.value);
    }
    place.environment = environment_of(variables);
    place.throttled_ns = profile.throttled_ns;
    place.memory_limit = profile.memory_limit;
    place.max_resident_bytes = profile.usage.max_resident_bytes;
    place.allowed = profile.allowed;
    place.network = profile.network;
    add_usage(place, profile);
    const bool is_known = place.cores_busy || place.memory_limit != 0 || place.throttled_ns != 0;
    if (profile.facts.empty() && !is_known) return;
    ranks_.add(std::move(place));
    if (!description.facts.empty())
        nodes_.add(profile.node.empty() ? profile.host : profile.node, std::move(description));
}

void FactsPart::absorb(FactsPart&& other) {
    const auto list_of = lists_.absorb(other.lists_), assignment_of = assignments_.absorb(other.assignments_);
    std::vector<std::uint32_t> environment_of;
    for (Environment environment : other.environments_.values()) {
        for (std::uint32_t& assignment : environment) assignment = assignment_of[assignment];
        environment_of.push_back(environment_index(std::move(environment)));
    }
    other.ranks_.each([&](RankPlace& place) {
        place.cpus = list_of[place.cpus];
        place.memory_nodes = list_of[place.memory_nodes];
        place.environment = environment_of[place.environment];
    });
    ranks_.absorb(std::move(other.ranks_));
    nodes_.absorb(std::move(other.nodes_));
}

// Numbered in the order of the ranks, so that the result does not depend on who read what.
void FactsPart::sort_lists(Placement& placement) {
    std::vector<std::uint32_t> number(lists_.values().size());
    for (RankPlace& place : placement.ranks)
        for (std::uint32_t* list : {&place.cpus, &place.memory_nodes}) {
            if (*list == 0) continue;
            if (number[*list] == 0) {
                number[*list] = static_cast<std::uint32_t>(placement.cpu_lists.size());
                placement.cpu_lists.push_back(NumberList::parse(lists_[*list]));
            }
            *list = number[*list];
        }
}

void FactsPart::sort_variables(Placement& placement) const {
    std::map<std::string, std::uint32_t> variable_of;
    for (const auto& [name, value] : assignments_.values()) variable_of.emplace(name, 0);
    for (auto& [name, index] : variable_of) {
        index = static_cast<std::uint32_t>(placement.variables.size());
        placement.variables.push_back({.name = name});
    }
    const UsedEnvironments used = used_environments(environments_.values(), placement.ranks);
    ValuesOfEnvironments values(used.environments.size(), std::vector(variable_of.size(), not_set));
    std::vector<std::map<std::uint32_t, std::uint32_t>> index(variable_of.size());  // assignment -> into its values
    for (std::size_t e = 0; e < values.size(); ++e) {
        for (const std::uint32_t assignment : *used.environments[e])
            values[e][variable_of.at(assignments_[assignment].first)] = assignment;
        for (std::size_t v = 0; v < values[e].size(); ++v) {
            std::vector<VariableValue>& known = placement.variables[v].values;
            const std::uint32_t assignment = values[e][v];
            const auto [found, is_new] = index[v].try_emplace(assignment, static_cast<std::uint32_t>(known.size()));
            if (is_new)
                known.push_back(
                    {.value = assignment == not_set ? std::nullopt : std::optional(assignments_[assignment].second)});
            known[found->second].count += used.ranks[e];
            values[e][v] = found->second;
        }
    }
    for (std::size_t v = 0; v < placement.variables.size(); ++v)
        put_usual_value_first(placement.variables[v].values, values, v);
    list_ranks_of_other_values(placement, values);
    if (!values.empty()) placement.environments = std::move(values);
}

void FactsPart::finish(Finishing& end) {
    const Job& job = end.job;
    Placement& placement = end.job.placement;
    placement.ranks = ranks_.take();
    sort_by(placement.ranks, &RankPlace::rank);
    sort_lists(placement);
    sort_variables(placement);
    for (const char* library : format::network_libraries) placement.network_libraries.push_back(stem_of(library));
    for (const std::string& node : job.nodes) {
        const Description* description = nodes_.find(node);
        NodeFacts& facts = placement.nodes.emplace_back();
        if (!description) continue;
        describe(facts, description->facts);
        facts.use = description->use;
    }
}

}  // namespace

std::unique_ptr<MergePart> facts_part() { return std::make_unique<PartOf<FactsPart>>(); }

}  // namespace mpiprof::report
