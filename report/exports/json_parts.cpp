// The parts of the json export that more than one of its forms has. What they mean stands in the published schema.
#include "report/exports/json_parts.h"

#include "report/analysis/finding_fields.h"
#include "report/model/json_value.h"
#include "report/symbols/left_over_lines.h"

namespace mpiprof::report {
namespace {

std::string_view name_of(FactKind kind) {
    return kind == FactKind::process ? "process" : kind == FactKind::node ? "node" : "environment";
}

std::optional<std::uint64_t> known(std::uint64_t value) { return value ? std::optional(value) : std::nullopt; }

std::optional<std::string> known(const NumberList& list) {
    return list.empty() ? std::nullopt : std::optional(list.text());
}

void write_devices(JsonWriter& json, std::string_view key, const std::vector<Device>& devices) {
    json.array(key, devices, [&](const Device& device) {
        json.item([&] {
            json.field("name", device.name);
            json.field("numa_node", device.numa_node);
            json.field("rate", device.rate);
            json.field("pci_path", device.pci_path);
        });
    });
}

void write_node(JsonWriter& json, const NodeFacts& node) {
    json.field("processor", node.processor);
    json.field("cpus", known(node.cpus));
    json.array("numa_nodes", node.numa_nodes, [&](const NumaNode& numa) {
        json.item([&] {
            json.field("number", numa.number);
            json.field("cpus", numa.cpus.text());
        });
    });
    write_devices(json, "gpus", node.gpus);
    write_devices(json, "adapters", node.adapters);
}

void write_rank(JsonWriter& json, const Placement& placement, const RankPlace& place) {
    json.field("rank", place.rank);
    json.field("cpus_allowed", known(placement.cpus_of(place)));
    json.field("memory_nodes_allowed", known(placement.cpu_lists[place.memory_nodes]));
    json.field("cpu_at_start", place.cpu_at_start);
    json.field("cores_busy", place.cores_busy);
    json.field("pushed_off_per_s", place.pushed_off_per_s);
    json.field("throttled_ns", place.throttled_ns);
    json.field("memory_limit_bytes", known(place.memory_limit));
    json.field("max_resident_bytes", place.max_resident_bytes);
}

// `ranks` is empty for the value that all others have.
void write_variable(JsonWriter& json, const Variable& variable) {
    json.field("name", variable.name);
    json.array("values", variable.values, [&](const VariableValue& value) {
        json.item([&] {
            json.field("value", value.value);
            json.field("count", value.count);
            json.array("ranks", value.ranks, [&](std::uint32_t rank) { json.put(rank); });
        });
    });
}

void write_flow(JsonWriter& json, const char* name, const Flow& flow) {
    json.object(name, [&] {
        json.field("messages", flow.messages);
        json.field("bytes", flow.bytes);
        json.field("time_ns", flow.time_ns);
    });
}

void write_finding(JsonWriter& json, const Finding& finding, const Analysed& all) {
    json.field("rule", id_of(finding.rule));
    json.field("is_serious", finding.is_serious);
    for (const auto& [key, value] : fields_of(finding, all).named()) write_value(json, key, value);
    json.object("figures", [&] {
        for (const Figure& figure : figures_of(finding)) write_value(json, figure.name, figure.value);
    });
}

}  // namespace

void write_verdicts(JsonWriter& json, const Analysed& all) {
    json.array("verdicts", all.verdicts(), [&](const Verdict& verdict) {
        json.item([&] {
            write_finding(json, verdict.finding, all);
            json.array("explained", verdict.explained,
                       [&](const Finding& finding) { json.item([&] { write_finding(json, finding, all); }); });
        });
    });
}

void write_comms(JsonWriter& json, const Job& job) {
    json.array("comms", job.comms, [&](const Comm& comm) {
        json.item([&] {
            json.field("kind", name_of(comm.kind));
            json.field("id", fmt::format("{:016x}", comm.id));
            json.field("parent", fmt::format("{:016x}", comm.parent));
            json.field("name", comm.name);
            json.field("made_by", comm.made_by);
            json.field("size", known(comm.size));
            json.field("members", comm.members);
            json.field("communicators", known(comm.communicators));
            json.field("first_rank", comm.first_rank);
            json.field("is_inter", comm.is_inter);
            json.field("largest_ns", comm.largest_ns);
            json.field("largest_rank", comm.largest_rank);
            json.array("sums", comm.sums, [&](const CommSum& sum) {
                json.item([&] {
                    json.field("call", job.calls[sum.call].name);
                    json.field("bin_max_bytes", bin_max_bytes(sum.bin));
                    json.field("calls", sum.calls);
                    json.field("bytes", sum.bytes);
                    json.field("time_ns", sum.time_ns);
                    json.field("errors", sum.errors);
                });
            });
            json.array("collectives", comm.entries, [&](const CommEntries& entries) {
                json.item([&] {
                    json.field("call", job.calls[entries.call].name);
                    json.field("fewest", entries.fewest);
                    json.field("fewest_rank", entries.fewest_rank);
                    json.field("most", entries.most);
                    json.field("most_rank", entries.most_rank);
                });
            });
        });
    });
}

void write_placement(JsonWriter& json, const Job& job) {
    const Placement& placement = job.placement;
    json.object("placement", [&] {
        json.array("nodes", placement.nodes,
                   [&](const NodeFacts& node) { json.item([&] { write_node(json, node); }); });
        json.array("ranks", placement.ranks,
                   [&](const RankPlace& place) { json.item([&] { write_rank(json, placement, place); }); });
        json.array("variables", placement.variables,
                   [&](const Variable& variable) { json.item([&] { write_variable(json, variable); }); });
    });
}

void write_left_over(JsonWriter& json, const Job& job) {
    json.array("left_over", left_over_lines(job), [&](const LeftOverLine& line) {
        json.item([&] {
            json.field("kind", name_of(line.sum.kind));
            json.field("call", job.calls[line.sum.call].name);
            json.field("place", line.place);
            json.field("count", line.sum.count);
            json.field("ranks", line.sum.ranks);
            json.field("first_rank", line.sum.first_rank);
        });
    });
}

void write_labels(JsonWriter& json, const Job& job) {
    json.array("labels", job.labels, [&](const SettingRow& row) {
        json.item([&] {
            json.field("name", row.name);
            json.array("values", row.values, [&](const SettingValue& value) {
                json.item([&] {
                    json.field("value", value.value);
                    json.field("count", value.count);
                    json.array("ranks", value.ranks, [&](std::uint32_t rank) { json.put(rank); });
                });
            });
        });
    });
}

void write_regions(JsonWriter& json, const Job& job) {
    json.array("regions", job.regions, [&](const RegionRow& row) {
        json.item([&] {
            json.field("region", row.path);
            json.field("is_iteration", row.is_iteration);
            json.field("ranks", row.ranks);
            json.field("entered", row.entered);
            json.field("time_ns", row.time_ns);
            json.field("largest_ns", row.largest_ns);
            json.field("largest_rank", row.largest_rank);
            json.field("items", row.items);
            json.field("own_calls", row.calls);
            json.field("own_mpi_ns", row.mpi_ns);
            json.field("own_message_bytes", row.message_bytes);
            json.field("p50_ns", row.p50_ns);
            json.field("p75_ns", row.p75_ns);
            json.field("p90_ns", row.p90_ns);
            json.field("p95_ns", row.p95_ns);
        });
    });
}

void write_nccl_choices(JsonWriter& json, const Job& job) {
    json.array("nccl_choices", job.nccl_choices, [&](const NcclChoice& choice) {
        json.item([&] {
            json.field("call", job.calls[choice.call].name);
            json.field("bin_max_bytes", bin_max_bytes(choice.bin));
            json.field("comm_size", known(choice.comm_size));
            json.field("algorithm", choice.algorithm);
            json.field("protocol", choice.protocol);
            json.field("channels", known(choice.channels));
            json.field("tag", known(choice.tag));
            json.field("operations", choice.operations);
            json.field("bytes", choice.bytes);
            json.field("called_elsewhere", choice.called_elsewhere);
        });
    });
}

void write_facts(JsonWriter& json, const Profile& profile) {
    json.array("facts", profile.facts, [&](const Fact& fact) {
        json.item([&] {
            json.field("kind", name_of(fact.kind));
            json.field("name", fact.name);
            json.field("value", fact.value);
        });
    });
}

void write_peers(JsonWriter& json, const Profile& profile) {
    json.array("peers", profile.peers, [&](const Peer& peer) {
        json.item([&] {
            json.field("rank", peer.rank);
            json.field("kind", peer.kind == PeerKind::one_sided ? "one_sided" : "messages");
            write_flow(json, "sent", peer.sent);
            write_flow(json, "received", peer.received);
        });
    });
    json.object("vague_peers", [&] {
        const VaguePeers& vague = profile.vague_peers;
        write_flow(json, "received_from_any", vague.received_from_any);
        write_flow(json, "sent_unknown", vague.sent_unknown);
        write_flow(json, "received_unknown", vague.received_unknown);
        write_flow(json, "sent_others", vague.sent_others);
        write_flow(json, "received_others", vague.received_others);
    });
}

}  // namespace mpiprof::report
