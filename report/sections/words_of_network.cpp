// The way between nodes, in words: which rule of the network says what, and what to do about it by the MPI library.
#include <fmt/format.h>

#include "report/model/units.h"
#include "report/sections/network.h"
#include "report/sections/rule_words.h"
#include "report/sections/section.h"

namespace mpiprof::report {

using rule_words::of;
namespace {

std::string by_interface(const std::string& interface, std::uint64_t mbit = 0) {
    if (interface.empty()) return "";
    return " over " + interface + (mbit ? fmt::format(" ({})", link_speed(mbit)) : "");
}

std::string says(const evidence::SlowTransport& e, const Spoken& s) {
    std::string text = fmt::format(
        "{} on {} {} connected by TCP{}, which carried {}; {} ({}, {}) is up on their nodes, and no rank has it open.",
        s.ranks(), plural(s.finding.nodes.size(), "node", "nodes"), s.verb("is", "are"),
        by_interface(e.interface, e.mbit), human_bytes(static_cast<double>(e.bytes)), e.adapter, e.kind, e.rate);
    if (!e.variable.empty()) text += fmt::format(" {}={} asks for that.", e.variable, e.value);
    return text;
}

std::string advises(const evidence::SlowTransport& e, const Spoken& s) {
    if (!e.variable.empty()) return fmt::format("Run once without {} and compare.", e.variable);
    const bool is_for_ofi = e.kind == "Slingshot";
    if (s.job.mpi_family == "Open MPI")
        return is_for_ofi ? "Try mpirun --mca pml cm --mca mtl ofi; if that does not start, this Open MPI was built "
                            "without libfabric: ompi_info | grep ofi."
                          : "Try mpirun --mca pml ucx; if that does not start, this Open MPI was built without UCX: "
                            "ompi_info | grep ucx.";
    return "Use an MPI library that was built for this network, such as the one of the site's modules.";
}

}  // namespace

const RuleWords rule_words::slow_transport{
    .means = "MPI uses TCP between nodes while a fast fabric is there and unused.",
    .evidence =
        "The end of a run, and some moments before: two ranks on different nodes hold the two ends of a TCP connection, "
        "the connections have carried at least 1 MiB, a port of InfiniBand, Omni-Path or Slingshot is up on each of "
        "these nodes, and no profiled rank has a device file of an adapter open. RoCE counts if it is at least twice "
        "as fast as the interface that the connections leave by. Silent where NCCL or a library that is not profiled "
        "may have made the connections.",
    .check =
        "mpiprof-report placement has the transport of each rank. On a node: ucx_info -d, fi_info, ibstat; whether "
        "/dev/infiniband is in the container.",
    .says = of<evidence::SlowTransport, says>,
    .advises = of<evidence::SlowTransport, advises>,
};

namespace {

std::string says(const evidence::Retransmits& e, const Spoken& s) {
    return fmt::format("{} of the TCP segments that {} sent to other nodes{} had to be sent again ({} of {}).",
                       human_share(e.share()), s.ranks(At::middle), by_interface(e.interface),
                       human_count(static_cast<double>(e.retransmitted)), human_count(static_cast<double>(e.segments)));
}

std::string advises(const evidence::Retransmits&, const Spoken&) {
    return "Segments are lost on the way, or are so late that they count as lost: look at the counters of the interfaces "
           "and switch ports between these nodes.";
}

}  // namespace

const RuleWords rule_words::retransmits{
    .means = "TCP had to send much of MPI's data again.",
    .evidence =
        "What the kernel counts of each connection that ranks have to other hosts (TCP_INFO), of ranks that are "
        "connected to ranks on other nodes: retransmitted segments above 1 % of those with data, at least 20. "
        "Of connections that were open at the end of the run, or at the last look before.",
    .check =
        "mpiprof-report placement has the share of each rank and the errors that interfaces count. On a node: ss "
        "-ti, ethtool -S.",
    .says = of<evidence::Retransmits, says>,
    .advises = of<evidence::Retransmits, advises>,
};

}  // namespace mpiprof::report
