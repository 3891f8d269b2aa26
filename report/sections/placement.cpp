// placement: which node each rank was on, the cores it was allowed and how busy it kept them, its devices and its
// memory; what is wrong with it; and the settings of others. On a screen many ranks that were placed alike are one
// line.
#include <algorithm>
#include <map>
#include <tuple>

#include "report/analysis/analysed.h"
#include "report/analysis/finding_fields.h"
#include "report/analysis/placed_nodes.h"
#include "report/model/units.h"
#include "report/sections/network.h"
#include "report/sections/node_use.h"
#include "report/sections/rule_words.h"
#include "report/sections/section.h"
#include "report/sections/topology.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t ranks_on_screen = 32;
constexpr std::size_t lines_on_screen = 40;
constexpr std::size_t kinds_on_screen = 6;
constexpr std::size_t most_ranges = 3;
constexpr std::size_t most_variables = 40;

// ---- nodes ----

std::string devices_text(const std::vector<Device>& devices, bool by_name) {
    std::map<std::optional<std::uint32_t>, std::vector<const Device*>> by_numa;
    for (const Device& device : devices) by_numa[device.numa_node].push_back(&device);
    std::string text;
    for (const auto& [numa, some] : by_numa) {
        const std::string where = numa ? fmt::format(" on NUMA node {}", *numa) : std::string();
        if (!text.empty()) text += ", ";
        if (!by_name || some.size() > 2) {
            text += fmt::format("{}{}", some.size(), where);
            continue;
        }
        for (std::size_t i = 0; i < some.size(); ++i) text += (i ? ", " : "") + some[i]->name;
        text += where;
    }
    return text;
}

// "2 NUMA nodes of 32 cores"
std::string numa_text(const NodeFacts& node) {
    if (node.numa_nodes.empty()) return "";
    const std::uint64_t first = node.numa_nodes.front().cpus.count();
    const bool are_equal =
        std::ranges::all_of(node.numa_nodes, [&](const NumaNode& numa) { return numa.cpus.count() == first; });
    if (are_equal)
        return fmt::format("{} of {}", plural(node.numa_nodes.size(), "NUMA node", "NUMA nodes"),
                           plural(first, "core", "cores"));
    std::string text;
    for (const NumaNode& numa : node.numa_nodes)
        text += fmt::format("{}{} on NUMA node {}", text.empty() ? "" : ", ",
                            plural(numa.cpus.count(), "core", "cores"), numa.number);
    return text;
}

// Nodes that are alike and have as many ranks.
struct NodeLine {
    std::vector<const PlacedNode*> nodes;
};

std::vector<NodeLine> node_lines(const std::vector<PlacedNode>& nodes) {
    std::vector<NodeLine> lines;
    for (const PlacedNode& node : nodes) {
        const auto alike = [&](const NodeLine& line) {
            return *line.nodes[0]->facts == *node.facts && line.nodes[0]->ranks.size() == node.ranks.size();
        };
        const auto found = std::find_if(lines.begin(), lines.end(), alike);
        if (found != lines.end())
            found->nodes.push_back(&node);
        else
            lines.push_back({{&node}});
    }
    return lines;
}

// "4 nodes (nid1 .. nid4) with 64 ranks each: 2 NUMA nodes of 32 cores; 4 GPUs: 2 on NUMA node 0 ..."
std::string sentence(const NodeLine& line) {
    const PlacedNode& node = *line.nodes[0];
    const NodeFacts& facts = *node.facts;
    const std::string ranks = plural(node.ranks.size(), "rank", "ranks");
    std::string text = line.nodes.size() == 1 ? fmt::format("Node {} with {}", node.host, ranks)
                                              : fmt::format("{} nodes ({} .. {}) with {} each", line.nodes.size(),
                                                            node.host, line.nodes.back()->host, ranks);
    std::vector<std::string> parts;
    if (!facts.numa_nodes.empty())
        parts.push_back(numa_text(facts));
    else if (!facts.cpus.empty())
        parts.push_back(plural(facts.cpus.count(), "core", "cores"));
    if (!facts.gpus.empty())
        parts.push_back(
            fmt::format("{}: {}", facts.gpus.size() == 1 ? "GPU" : "GPUs", devices_text(facts.gpus, false)));
    if (!facts.adapters.empty()) parts.push_back(devices_text(facts.adapters, true));
    if (!facts.processor.empty()) parts.push_back(facts.processor);
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : "; ") + parts[i];
    return text;
}

// Sentences on a screen, a row per node as data.
Table nodes_on_screen(const std::vector<PlacedNode>& nodes) {
    Table table = bare_table("nodes");
    const std::vector<NodeLine> lines = node_lines(nodes);
    for (std::size_t i = 0; i < std::min(lines.size(), kinds_on_screen); ++i) table.notes.push_back(sentence(lines[i]));
    if (lines.size() > kinds_on_screen)
        table.notes.push_back(
            fmt::format("{} more kinds of nodes: placement --format csv", lines.size() - kinds_on_screen));
    return table;
}

Table nodes_as_data(const Job& job, const std::vector<PlacedNode>& nodes) {
    using N = const PlacedNode&;
    const std::vector<Field<PlacedNode>> fields{
        {{.id = "host", .title = {}}, [](N n) { return n.host; }},
        {{.id = "ranks", .title = {}, .unit = Unit::count}, [](N n) { return std::uint64_t{n.ranks.size()}; }},
        {{.id = "cpus", .title = {}}, [](N n) { return n.facts->cpus.text(); }},
        {{.id = "cores", .title = {}, .unit = Unit::count}, [](N n) { return known(n.facts->cpus.count()); }},
        {{.id = "numa_nodes", .title = {}}, [](N n) { return numa_text(*n.facts); }},
        {{.id = "gpus", .title = {}}, [](N n) { return devices_text(n.facts->gpus, false); }},
        {{.id = "adapters", .title = {}}, [](N n) { return devices_text(n.facts->adapters, true); }},
        {{.id = "processor", .title = {}}, [](N n) { return n.facts->processor; }},
        {{.id = "node", .title = {}}, [&](N n) { return job.nodes[n.node]; }},
    };
    return table_of("nodes", fields, nodes);
}

// ---- ranks ----

enum class Sharing { unknown, own, shared, overlapping };

std::string_view name_of(Sharing sharing) {
    switch (sharing) {
        case Sharing::own:
            return "own";
        case Sharing::shared:
            return "shared";
        case Sharing::overlapping:
            return "overlap";
        case Sharing::unknown:
            break;
    }
    return "";
}

std::string_view name_of(Distance distance) {
    return distance == Distance::near ? "near" : distance == Distance::far ? "far" : "";
}

// One rank, or many that were placed alike.
struct Line {
    std::vector<std::uint32_t> ranks;
    std::vector<const PlacedNode*> nodes;
    const RankPlace* first = nullptr;
    const NumberList* cpus = nullptr;
    std::vector<std::uint32_t> numa_nodes;
    Sharing sharing = Sharing::unknown;
    Distance gpu_distance = Distance::unknown;
    Distance adapter_distance = Distance::unknown;
    std::optional<GivenGpu> gpu;
    double busy = 0;  // added up over `busy_ranks`
    std::size_t busy_ranks = 0;
    double most_busy = 0;
    std::uint64_t throttled_ns = 0;  // the largest, like all below
    std::uint64_t max_resident_bytes = 0;
    double memory_share = 0;
    std::uint64_t memory_limit = 0;

    bool is_one() const { return ranks.size() == 1; }
    // What makes ranks alike.
    auto kind() const {
        return std::make_tuple(cpus->count(), numa_nodes.size(), sharing, gpu_distance, adapter_distance);
    }
    Value busy_mean() const { return busy_ranks ? Value(busy / static_cast<double>(busy_ranks)) : Value(); }
};

Line line_of(const Placement& placement, const PlacedNode& node, const RankPlace& rank) {
    Line line{.ranks = {rank.rank}, .nodes = {&node}, .numa_nodes = {}, .gpu = {}};
    line.first = &rank;
    line.cpus = &placement.cpus_of(rank);
    line.numa_nodes = numa_nodes_of(*node.facts, *line.cpus);
    if (const Mask* mask = node.mask_of(rank); mask && !line.cpus->empty())
        line.sharing = mask->overlaps ? Sharing::overlapping : mask->ranks.size() > 1 ? Sharing::shared : Sharing::own;
    line.gpu = gpu_of(placement, rank, *node.facts);
    if (line.gpu) line.gpu_distance = line.gpu->distance;
    line.adapter_distance = adapter_distance(*node.facts, *line.cpus);
    line.busy = line.most_busy = rank.cores_busy.value_or(0);
    line.busy_ranks = rank.cores_busy.has_value();
    line.throttled_ns = rank.throttled_ns;
    line.max_resident_bytes = rank.max_resident_bytes;
    line.memory_limit = rank.memory_limit;
    if (rank.memory_limit)
        line.memory_share = static_cast<double>(rank.max_resident_bytes) / static_cast<double>(rank.memory_limit);
    return line;
}

void add_line(Line& to, const Line& from) {
    to.ranks.push_back(from.ranks[0]);
    if (to.nodes.back() != from.nodes[0]) to.nodes.push_back(from.nodes[0]);
    to.busy += from.busy;
    to.busy_ranks += from.busy_ranks;
    to.most_busy = std::max(to.most_busy, from.most_busy);
    to.throttled_ns = std::max(to.throttled_ns, from.throttled_ns);
    to.max_resident_bytes = std::max(to.max_resident_bytes, from.max_resident_bytes);
    if (from.memory_share > to.memory_share) {
        to.memory_share = from.memory_share;
        to.memory_limit = from.memory_limit;
    }
}

std::vector<Line> lines_of(const Job& job, const std::vector<PlacedNode>& nodes, const Question& question,
                           bool grouped) {
    std::vector<Line> lines;
    std::map<decltype(Line().kind()), std::size_t> line_of_kind;
    for (const PlacedNode& node : nodes)
        for (const RankPlace* rank : node.ranks) {
            if (!question.is_about(rank->rank)) continue;
            Line line = line_of(job.placement, node, *rank);
            const auto [found, is_new] = grouped ? line_of_kind.try_emplace(line.kind(), lines.size())
                                                 : std::make_pair(line_of_kind.end(), true);
            if (is_new)
                lines.push_back(std::move(line));
            else
                add_line(lines[found->second], line);
        }
    for (Line& line : lines) std::sort(line.ranks.begin(), line.ranks.end());
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.ranks[0] < b.ranks[0]; });
    return lines;
}

std::string gpu_text(const Line& line) {
    if (!line.gpu) return "";
    const std::string distance =
        line.gpu_distance == Distance::unknown ? "" : " " + std::string(name_of(line.gpu_distance));
    return line.is_one() ? fmt::format("{}{}", line.gpu->number, distance) : std::string(name_of(line.gpu_distance));
}

// Columns for single ranks and for lines of many: what differs within a line is left out there.
std::vector<Field<Line>> rank_fields(const Job& job, bool grouped) {
    using L = const Line&;
    const auto text = [](std::string_view t) { return Value(std::string(t)); };
    return {
        {{.id = "rank", .title = "RANK", .unit = grouped ? Unit::text : Unit::rank},
         [=](L l) { return grouped ? Value(rank_list(l.ranks, most_ranges)) : Value(std::uint64_t{l.ranks[0]}); }},
        {{.id = "ranks", .title = "RANKS", .unit = Unit::count, .only_data = !grouped, .only_screen = !grouped},
         [](L l) { return std::uint64_t{l.ranks.size()}; }},
        {{.id = "host", .title = grouped ? "NODES" : "NODE", .drop = 6, .only_data = job.nodes.size() < 2},
         [=](L l) {
             return grouped && l.nodes.size() > 1 ? plural(l.nodes.size(), "node", "nodes") : l.nodes[0]->host;
         }},
        {{.id = "cpus", .title = "CORES", .only_data = grouped}, [](L l) { return l.cpus->text(); }},
        {{.id = "cores", .title = grouped ? "CORES EACH" : "", .unit = Unit::count, .only_data = !grouped},
         [](L l) { return l.cpus->empty() ? Value() : Value(l.cpus->count()); }},
        {{.id = "sharing", .title = {}, .drop = 5}, [=](L l) { return text(name_of(l.sharing)); }},
        {{.id = "numa_nodes", .title = "NUMA", .drop = 4},
         [](L l) {
             if (l.numa_nodes.empty()) return std::string();
             return l.is_one() ? rank_list(l.numa_nodes, most_ranges) : fmt::format("{} each", l.numa_nodes.size());
         }},
        {{.id = "cores_busy", .title = "BUSY", .unit = Unit::number}, [](L l) { return l.busy_mean(); }},
        {{.id = "most_busy", .title = "MOST", .unit = Unit::number, .drop = 7, .only_data = !grouped},
         [](L l) { return l.busy_ranks ? Value(l.most_busy) : Value(); }},
        {{.id = "throttled_ns", .title = "THROTTLED", .unit = Unit::time, .drop = 1},
         [](L l) { return known(l.throttled_ns); }},
        {{.id = "max_resident_bytes", .title = "MAX RSS", .unit = Unit::bytes, .drop = 2},
         [](L l) { return known(l.max_resident_bytes); }},
        {{.id = "memory_share", .title = "OF LIMIT", .unit = Unit::share, .drop = 3},
         [](L l) { return l.memory_limit ? Value(l.memory_share) : Value(); }},
        {in_data("memory_limit_bytes", Unit::bytes), [](L l) { return known(l.memory_limit); }},
        {{.id = "gpu", .title = "GPU", .drop = 2}, [](L l) { return gpu_text(l); }},
        {{.id = "adapter", .title = "ADAPTER", .drop = 3}, [=](L l) { return text(name_of(l.adapter_distance)); }},
        {in_data("cpu_at_start", Unit::rank),
         [](L l) { return l.first->cpu_at_start ? Value(std::uint64_t{*l.first->cpu_at_start}) : Value(); }},
        {in_data("pushed_off_per_s", Unit::number), [](L l) { return known(l.first->pushed_off_per_s); }},
        {in_data("memory_nodes"), [&](L l) { return job.placement.cpu_lists[l.first->memory_nodes].text(); }},
        {in_data("node"), [&](L l) { return job.nodes[l.nodes[0]->node]; }},
    };
}

// ---- what is wrong, and the settings of others ----

Table findings(const Analysed& all) {
    const Job& job = all.job;
    Remarks remarks;
    for (const Finding& finding : all.placement())
        remarks.remarks.push_back({finding.is_serious, words_of(finding, job) + " " + advice_of(finding, job),
                                   std::string(id_of(finding.rule)), "", fields_of(finding, all).named()});
    return remark_table("PLACEMENT ISSUES", std::move(remarks));
}

std::string value_text(const VariableValue& value) { return value.value.value_or("not set"); }

std::string differing_text(const Variable& variable) {
    constexpr std::size_t most_values = 3;
    std::string text;
    for (std::size_t i = 1; i < variable.values.size(); ++i) {
        if (i > most_values) return text + fmt::format("; {} more values", variable.values.size() - i);
        const VariableValue& value = variable.values[i];
        text += fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", value.ranks.size() == 1 ? "rank" : "ranks",
                            rank_list(value.ranks, most_ranges), value_text(value));
    }
    return text;
}

Table variables_on_screen(const Placement& placement) {
    Table table = bare_table("settings", "ENVIRONMENT OF MPI, NCCL AND LAUNCHER",
                             {{.id = "name", .title = "VARIABLE"},
                              {.id = "value", .title = "VALUE"},
                              {.id = "differs", .title = "DIFFERS"}});
    for (const Variable& variable : placement.variables)
        table.rows.push_back({variable.name, value_text(variable.values[0]), differing_text(variable)});
    std::stable_partition(table.rows.begin(), table.rows.end(),
                          [](const auto& row) { return !std::get<std::string>(row[2]).empty(); });
    cut(table, most_variables, ": placement --format csv");
    return table;
}

// One row per value; of the value of most ranks the ranks are all others.
Table variables_as_data(const Placement& placement) {
    Table table = bare_table("settings", "",
                             {{.id = "name", .title = {}},
                              {.id = "value", .title = {}},
                              {.id = "is_set", .title = {}},
                              {.id = "ranks", .title = {}, .unit = Unit::count},
                              {.id = "which", .title = {}}});
    for (const Variable& variable : placement.variables)
        for (const VariableValue& value : variable.values)
            table.rows.push_back({variable.name, value.value.value_or(""), Yes{value.value.has_value()},
                                  std::uint64_t{value.count},
                                  value.ranks.empty() ? std::string(variable.values.size() == 1 ? "all" : "all others")
                                                      : rank_list(value.ranks, value.ranks.size())});
    return table;
}

}  // namespace

Result<std::vector<Table>> placement(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const std::vector<PlacedNode> nodes = placed_nodes(job);
    const bool is_crowded = question.is_for_screen && !question.top && question.ranks.empty() &&
                            job.placement.ranks.size() > ranks_on_screen;
    const bool grouped = question.by == "group" || (question.by.empty() && is_crowded);
    Table table = table_of("placement", rank_fields(job, grouped), lines_of(job, nodes, question, grouped));
    if (auto ok = sort_rows(table, question); !ok) return tl::make_unexpected(ok.error());
    cut(table, question, lines_on_screen, ": placement");
    if (job.placement.ranks.empty()) {
        table.notes.push_back("these profiles do not record where their ranks ran");
        if (question.is_for_screen) table.columns.clear();
    } else {
        table.notes.push_back(Note{{fmt::format("allowed in {}", vocabulary_of(job).init), grouped ? "cores" : "cpus"},
                                   {"CPU time / elapsed since then", "cores_busy"}});
    }
    if (grouped && !table.rows.empty())
        table.notes.push_back(
            "one row per group of identically placed ranks; MAX RSS, OF LIMIT and THROTTLED are their maximum. "
            "Every rank: placement --by rank --top N, --rank LIST, --format csv");

    std::vector<Table> topology = topology_tables(nodes, question.is_for_screen);
    if (question.devices) {
        if (question.is_for_screen) topology.clear();  // the tool sees more
        topology.push_back(told_topology_table(*question.devices, question.is_for_screen));
    }
    if (grouped && question.is_for_screen && !topology.empty() && !question.devices) {
        table.notes.push_back("how their devices are connected: placement --rank LIST");
        topology.clear();
    }

    std::vector<Table> tables;
    tables.push_back(question.is_for_screen ? nodes_on_screen(nodes) : nodes_as_data(job, nodes));
    tables.push_back(std::move(table));
    for (Table& of_devices : topology) tables.push_back(std::move(of_devices));
    if (Table transports = transports_table(job, question.is_for_screen);
        !transports.rows.empty() || !transports.notes.empty())
        tables.push_back(std::move(transports));
    if (Table events = port_events_table(nodes, question.is_for_screen); !events.rows.empty())
        tables.push_back(std::move(events));
    if (Table use = node_use_table(nodes, question.is_for_screen); !use.rows.empty()) tables.push_back(std::move(use));
    tables.push_back(findings(all));
    tables.push_back(question.is_for_screen ? variables_on_screen(job.placement) : variables_as_data(job.placement));
    return tables;
}

}  // namespace mpiprof::report
