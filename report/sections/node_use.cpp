// One line for each node that tells anything, and on a screen their sum.
#include "report/sections/node_use.h"

#include <algorithm>
#include <vector>

#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t nodes_on_screen = 8;

struct Line {
    std::string node;
    std::size_t nodes = 1;
    std::optional<double> joules, accelerator_joules;
    double seconds = 0;
    std::uint64_t sent = 0, received = 0;
    bool has_links = false;

    Value rate(std::uint64_t bytes) const {
        return has_links && seconds > 0 ? Value(static_cast<double>(bytes) / seconds) : Value();
    }
};

Line line_of(const PlacedNode& node) {
    const NodeUse& use = node.facts->use;
    Line line{
        .node = node.host, .joules = use.joules, .accelerator_joules = use.accelerator_joules, .seconds = use.seconds};
    for (const auto& [device, bytes] : use.sent) line.sent += bytes;
    for (const auto& [device, bytes] : use.received) line.received += bytes;
    // Bridges and virtual interfaces have a speed, too: what moved nothing is no link of this job's.
    line.has_links = line.sent != 0 || line.received != 0;
    return line;
}

void add(std::optional<double>& to, const std::optional<double>& from) {
    if (from) to = to.value_or(0) + *from;
}

Line total_of(const std::vector<Line>& lines) {
    Line total{
        .node = fmt::format("{} nodes", lines.size()), .nodes = lines.size(), .joules = {}, .accelerator_joules = {}};
    for (const Line& line : lines) {
        add(total.joules, line.joules);
        add(total.accelerator_joules, line.accelerator_joules);
        total.seconds = std::max(total.seconds, line.seconds);
        total.sent += line.sent;
        total.received += line.received;
        total.has_links |= line.has_links;
    }
    return total;
}

Value number(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

std::vector<Field<Line>> energy_fields(const std::vector<Line>& lines) {
    const bool has_energy = std::ranges::any_of(lines, [](const Line& l) { return l.joules.has_value(); });
    const bool has_accelerators =
        std::ranges::any_of(lines, [](const Line& l) { return l.accelerator_joules.has_value(); });
    using L = const Line&;
    return {
        {{.id = "node", .title = "NODE"}, [](L l) { return l.node; }},
        {{.id = "joules", .title = "ENERGY kJ", .unit = Unit::number, .only_data = true},
         [](L l) { return number(l.joules); }},
        {{.id = "kilojoules",
          .title = "ENERGY kJ",
          .unit = Unit::number,
          .only_data = !has_energy,
          .only_screen = true},
         [](L l) { return l.joules ? Value(*l.joules / 1000) : Value(); }},
        {{.id = "watts", .title = "MEAN W", .unit = Unit::number, .only_data = !has_energy},
         [](L l) { return l.joules && l.seconds > 0 ? Value(*l.joules / l.seconds) : Value(); }},
        {{.id = "accelerator_joules", .title = "GPUS kJ", .unit = Unit::number, .only_data = true},
         [](L l) { return number(l.accelerator_joules); }},
        {{.id = "accelerator_kilojoules",
          .title = "GPUS kJ",
          .unit = Unit::number,
          .only_data = !has_accelerators,
          .only_screen = true},
         [](L l) { return l.accelerator_joules ? Value(*l.accelerator_joules / 1000) : Value(); }},
    };
}

std::vector<Field<Line>> link_fields(const std::vector<Line>& lines) {
    const bool has_links = std::ranges::any_of(lines, [](const Line& l) { return l.has_links; });
    using L = const Line&;
    return {
        {{.id = "sent_bytes", .title = "SENT", .unit = Unit::bytes, .only_data = !has_links},
         [](L l) { return l.has_links ? Value(l.sent) : Value(); }},
        {{.id = "received_bytes", .title = "RECEIVED", .unit = Unit::bytes, .only_data = !has_links},
         [](L l) { return l.has_links ? Value(l.received) : Value(); }},
        {{.id = "sent_bytes_per_s", .title = "SENT AT", .unit = Unit::rate, .drop = 1, .only_data = !has_links},
         [](L l) { return l.rate(l.sent); }},
        {{.id = "received_bytes_per_s", .title = "RECEIVED AT", .unit = Unit::rate, .drop = 1, .only_data = !has_links},
         [](L l) { return l.rate(l.received); }},
        {in_data("seconds", Unit::number), [](L l) { return l.seconds; }},
    };
}

}  // namespace

Table node_use_table(std::span<const PlacedNode> nodes, bool is_for_screen) {
    std::vector<Line> lines;
    for (const PlacedNode& node : nodes) {
        Line line = line_of(node);
        if (line.joules || line.has_links) lines.push_back(std::move(line));
    }
    const std::size_t telling = lines.size();
    const auto fields = side_by_side<Line>({energy_fields(lines), link_fields(lines)});
    if (is_for_screen && telling > 1) {
        lines.insert(lines.begin(), total_of(lines));
        if (lines.size() > nodes_on_screen) lines.resize(nodes_on_screen);
    }
    Table table = table_of("node_use", fields, lines);
    table.title = "NODE COUNTERS";
    if (lines.size() < telling)
        table.notes.push_back(fmt::format("{} more nodes: placement --format csv", telling - lines.size() + 1));
    table.notes.push_back(
        "everything that ran on the node, not only this job; energy of processors and memory, or of the whole node where it reports that");
    return table;
}

}  // namespace mpiprof::report
