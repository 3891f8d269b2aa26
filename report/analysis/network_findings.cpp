// What is wrong with the way between nodes: TCP where a fabric is there and nobody uses it, and segments that had to be
// sent again. Silent wherever something of it is not known: whose connections these are, who had which device open.
#include <algorithm>
#include <charconv>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/analysis/transports.h"

namespace mpiprof::report {
namespace {

using Findings = std::vector<Finding>;

constexpr std::uint64_t bytes_that_count = 1 << 20;  // through connections of all ranks
constexpr double retransmitted_enough = 0.01;
constexpr std::uint64_t retransmits_that_count = 20;

// "200 Gb/sec (4X HDR)", "BS_200G": in Mb/s; 0: not known.
std::uint64_t mbit_of_rate(const std::string& rate) {
    const std::size_t at = rate.find_first_of("0123456789");
    std::uint64_t gbit = 0;
    if (at != rate.npos) (void)std::from_chars(rate.data() + at, rate.data() + rate.size(), gbit);
    return gbit * 1000;
}

// A port that MPI can use and that is faster than the connections. Those of Ethernet speak RDMA as well, but whether
// the network between them is set up for it nobody knows here: only one of at least twice the rate is worth a word.
const Port* unused_port(const NodeFacts& node, std::uint64_t mbit) {
    for (const Port& port : node.ports) {
        const auto adapter = std::find_if(node.adapters.begin(), node.adapters.end(),
                                          [&](const Device& device) { return device.name == port.adapter; });
        const bool is_hardware = adapter != node.adapters.end() && !adapter->pci_path.empty();
        const bool is_fabric = port.kind == "InfiniBand" || port.kind == "Slingshot";
        const bool is_faster = port.kind == "Ethernet" && mbit != 0 && mbit_of_rate(port.rate) >= 2 * mbit;
        if (port.is_up() && is_hardware && (is_fabric || is_faster)) return &port;
    }
    return nullptr;
}

// Other libraries make connections between ranks, too, and theirs tell nothing of MPI's.
bool are_connections_of_mpi(const Job& job) {
    return !job.is_without_mpi() && !job.has(Family::nccl) &&
           std::none_of(job.notes.begin(), job.notes.end(), [](const JobNote& note) {
               return note.kind == JobNote::Kind::library_not_profiled || note.kind == JobNote::Kind::moves_unseen;
           });
}

void name_nodes(Finding& finding, const Job& job, std::vector<std::uint32_t> ranks) {
    std::vector<bool> is_named(job.nodes.size());
    for (const std::uint32_t rank : ranks) is_named[job.find(rank)->node] = true;
    for (std::uint32_t node = 0; node < is_named.size(); ++node)
        if (is_named[node]) finding.nodes.push_back(node);
    finding.ranks = std::move(ranks);
}

// What the user or the site has set that asks for TCP.
void add_variable(const Job& job, const RankPlace& place, evidence::SlowTransport& e) {
    for (const char* name : {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "UCX_TLS", "FI_PROVIDER", "I_MPI_FABRICS",
                             "I_MPI_OFI_PROVIDER", "MPIR_CVAR_OFI_USE_PROVIDER"}) {
        const std::string* value = job.placement.variable_of(place, name);
        const bool asks = value && (value->find("tcp") != value->npos || value->find("sockets") != value->npos ||
                                    value->find("ob1") != value->npos);
        if (!asks || value->starts_with("^")) continue;
        e.variable = name;
        e.value = *value;
        return;
    }
}

void find_slow_transport(const Job& job, const std::vector<std::uint32_t>& reached, Findings& findings) {
    std::vector<std::uint32_t> slow;
    evidence::SlowTransport e;
    for (const RankPlace& place : job.placement.ranks) {
        const Rank* rank = job.find(place.rank);
        if (!rank) continue;
        if (!place.network || place.network->has_fabric_open()) return;
        if (!std::binary_search(reached.begin(), reached.end(), place.rank)) continue;
        const NodeFacts& node = job.placement.nodes[rank->node];
        const std::string interface = place.network->interfaces.empty() ? "" : place.network->interfaces.front();
        const Port* port = unused_port(node, mbit_of(node, interface));
        if (!port) return;
        if (slow.empty()) {
            e = {.adapter = port->adapter,
                 .kind = port->kind,
                 .rate = port->rate,
                 .interface = interface,
                 .mbit = mbit_of(node, interface)};
            add_variable(job, place, e);
        }
        e.bytes += place.network->bytes;
        slow.push_back(place.rank);
    }
    if (slow.empty() || e.bytes < bytes_that_count) return;
    const bool is_serious = e.kind != "Ethernet";
    name_nodes(add(findings, Rule::slow_transport, is_serious, std::move(e)), job, std::move(slow));
}

void find_retransmits(const Job& job, const std::vector<std::uint32_t>& reached, Findings& findings) {
    evidence::Retransmits e;
    std::vector<std::uint32_t> affected;
    for (const std::uint32_t rank : reached) {
        const RankNetwork& network = *job.placement.find(rank)->network;
        const double part = share(static_cast<double>(network.retransmitted), static_cast<double>(network.segments));
        if (network.retransmitted < retransmits_that_count || part <= retransmitted_enough) continue;
        if (affected.empty() && !network.interfaces.empty()) e.interface = network.interfaces.front();
        e.retransmitted += network.retransmitted;
        e.segments += network.segments;
        e.bytes += network.bytes;
        affected.push_back(rank);
    }
    if (affected.empty()) return;
    name_nodes(add(findings, Rule::retransmits, true, std::move(e)), job, std::move(affected));
}

}  // namespace

void find_network_trouble(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    if (job.nodes.size() < 2 || !are_connections_of_mpi(job)) return;
    const std::vector<std::uint32_t> reached = reached_by_tcp(job);
    find_slow_transport(job, reached, findings);
    find_retransmits(job, reached, findings);
}

}  // namespace mpiprof::report
