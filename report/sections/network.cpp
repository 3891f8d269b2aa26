// Two tables: transports by ranks that are alike, and counters that moved with what they may mean.
#include "report/sections/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analysis/transports.h"
#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t lines_on_screen = 8;

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string libraries_text(const Job& job, std::uint64_t libraries) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < job.placement.network_libraries.size(); ++i)
        if (libraries >> i & 1) names.push_back(job.placement.network_libraries[i]);
    return joined(names);
}

// "wire1 (10 Gb/s)", of the node of the first rank.
std::string interfaces_text(const Job& job, const Transport& transport) {
    const NodeFacts& node = job.placement.nodes[job.find(transport.ranks.front())->node];
    std::vector<std::string> names;
    for (const std::string& name : transport.interfaces) {
        const std::uint64_t mbit = mbit_of(node, name);
        names.push_back(mbit ? fmt::format("{} ({})", name, link_speed(mbit)) : name);
    }
    return joined(names);
}

// Adapters of the node that are up and that the ranks had not open.
std::string unused_text(const Job& job, const Transport& transport) {
    const NodeFacts& node = job.placement.nodes[job.find(transport.ranks.front())->node];
    std::vector<std::string> names;
    for (const Port& port : node.ports)
        if (port.is_up() && std::ranges::find(transport.devices, port.adapter) == transport.devices.end())
            names.push_back(fmt::format("{} ({})", port.adapter, port.kind));
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return joined(names);
}

std::string sentence(const Job& job, const Transport& transport) {
    std::string text = ranks_text(transport.ranks, 4, At::begin) + ": ";
    if (transport.devices.empty())
        text += "no fabric adapter open";
    else
        text += fmt::format("{} open", joined(transport.devices));
    if (const std::string unused = unused_text(job, transport); !unused.empty())
        text += fmt::format(", {} up but not open", unused);
    if (transport.connections != 0) {
        const std::string interfaces = interfaces_text(job, transport);
        text += fmt::format("; {}{} to {}, {} sent", plural(transport.connections, "TCP connection", "TCP connections"),
                            interfaces.empty() ? "" : " over " + interfaces,
                            transport.reaches_ranks ? "ranks on other nodes" : "other hosts",
                            human_bytes(static_cast<double>(transport.bytes)));
        if (transport.retransmitted != 0)
            text += fmt::format(", {} of the segments again", human_share(transport.retransmitted_share()));
    }
    if (const std::string loaded = libraries_text(job, transport.libraries); !loaded.empty())
        text += fmt::format("; loaded: {}", loaded);
    return text;
}

// ---- ports ----

// What a counter that moved may mean; nothing is said of one that is not here.
struct Meaning {
    std::string_view counter;  // or how it begins
    std::string_view text;
};
constexpr Meaning meanings[] = {
    {"port_xmit_wait", "data waited for credits: congestion, or a slow receiver"},
    {"port_xmit_discards", "packets dropped before they were sent: the link was down or congested"},
    {"symbol_error", "bits were wrong: a cable or transceiver may be bad"},
    {"link_error_recovery", "the link trained again: a cable may be bad"},
    {"link_downed", "the link went down"},
    {"port_rcv_errors", "packets arrived damaged: a cable may be bad"},
    {"local_ack_timeout_err", "no acknowledgement in time: packets were lost"},
    {"out_of_sequence", "packets were missing or in another order: loss, or adaptive routing"},
    {"packet_seq_err", "the receiver missed packets: loss"},
    {"implied_nak_seq_err", "the receiver missed packets: loss"},
    {"rnr_nak_retry_err", "the receiver was not ready: it is slow"},
    {"out_of_buffer", "no receive buffer was posted: the receiver is slow"},
    {"np_cnp_sent", "ECN marks arrived: congestion on the way here"},
    {"rp_cnp_handled", "told to send more slowly: congestion"},
    {"rx_icrc_encapsulated", "packets arrived damaged"},
    {"roce_adp_retrans", "packets were sent again: loss"},
    {"pct_spt_timeouts", "no response in time: packets were lost, or a link flapped"},
    {"pct_sct_timeouts", "no response in time: packets were lost, or a link flapped"},
    {"pct_tct_timeouts", "a connection of the other side was given up"},
    {"pct_retry_srb_requests", "requests were sent again"},
    {"pct_no_", "the target had no room for a connection: many to one"},
    {"pct_bad_seq_nacks", "packets came in another order: loss"},
    {"pct_trs_rsp_nack_drops", "responses were lost"},
    {"hni_llr_", "the link repeated frames: a cable may be bad"},
    {"hni_pcs_uncorrected_cw", "bits were wrong beyond repair: a cable may be bad"},
    {"hni_rx_paused", "told to pause: congestion in the network"},
    {"hni_tx_paused", "asked others to pause: this node receives too slowly"},
    {"rx_errors", "frames arrived damaged"},
    {"tx_errors", "frames could not be sent"},
    {"tx_dropped", "frames dropped before they were sent"},
    {"rx_crc_errors", "frames arrived damaged: a cable may be bad"},
    {"rx_missed_errors", "frames dropped: the node was too slow to take them"},
    {"rx_fifo_errors", "frames dropped: the node was too slow to take them"},
};

std::string_view meaning_of(std::string_view counter) {
    for (const Meaning& meaning : meanings)
        if (counter.starts_with(meaning.counter)) return meaning.text;
    return "";
}

struct Line {
    std::string node;
    PortEvents events;
};

// Below the table, of each counter that it shows: what it may mean, once.
void add_meanings(Table& table, const std::vector<Line>& lines) {
    std::vector<std::string_view> said;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const std::string_view meaning = meaning_of(lines[i].events.counter);
        if (meaning.empty() || std::ranges::find(said, meaning) != said.end()) continue;
        said.push_back(meaning);
        table.notes.push_back(fmt::format("{}: {}", lines[i].events.counter, meaning));
    }
}

std::string count_text(const PortEvents& events) {
    switch (events.kind) {
        case PortEvents::Kind::unreadable:
            return "not readable";
        case PortEvents::Kind::stopped:
            return "saturated";
        case PortEvents::Kind::counted:
            break;
    }
    return human_count(static_cast<double>(events.count));
}

}  // namespace

std::string link_speed(std::uint64_t mbit) {
    return mbit < 1000 ? fmt::format("{} Mb/s", mbit)
                       : fmt::format("{} Gb/s", human_number(static_cast<double>(mbit) / 1000));
}

Table transports_table(const Job& job, bool is_for_screen) {
    const std::vector<Transport> all = transports_of(job);
    if (is_for_screen) {
        Table table = bare_table("transports", "TRANSPORT BETWEEN NODES");
        for (const Transport& transport : all)
            if (job.nodes.size() > 1 || !transport.devices.empty()) table.notes.push_back(sentence(job, transport));
        if (table.notes.size() > lines_on_screen) {
            const std::size_t more = table.notes.size() - lines_on_screen;
            table.notes.erase(table.notes.begin() + std::ptrdiff_t{lines_on_screen}, table.notes.end());
            table.notes.push_back(fmt::format("{} more groups of ranks: placement --format csv", more));
        }
        return table;
    }
    using T = const Transport&;
    const std::vector<Field<Transport>> fields{
        {in_data("ranks", Unit::count), [](T t) { return std::uint64_t{t.ranks.size()}; }},
        {in_data("which"), [](T t) { return rank_list(t.ranks, t.ranks.size()); }},
        {in_data("devices_open"), [](T t) { return joined(t.devices); }},
        {in_data("interfaces"), [](T t) { return joined(t.interfaces); }},
        {in_data("connects_ranks"), [](T t) { return Yes{t.reaches_ranks}; }},
        {in_data("tcp_connections", Unit::count), [](T t) { return t.connections; }},
        {in_data("tcp_sent_bytes", Unit::bytes), [](T t) { return t.bytes; }},
        {in_data("tcp_segments", Unit::count), [](T t) { return t.segments; }},
        {in_data("tcp_retransmitted", Unit::count), [](T t) { return t.retransmitted; }},
        {in_data("libraries"), [&](T t) { return libraries_text(job, t.libraries); }},
    };
    return table_of("transports", fields, all);
}

Table port_events_table(std::span<const PlacedNode> nodes, bool is_for_screen) {
    std::vector<Line> lines;
    for (const PlacedNode& node : nodes)
        for (const PortEvents& events : node.facts->use.events)
            if (events.count != 0 || events.kind != PortEvents::Kind::counted) lines.push_back({node.host, events});
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.events.count > b.events.count; });
    using L = const Line&;
    const std::vector<Field<Line>> fields{
        {{.id = "node", .title = "NODE"}, [](L l) { return l.node; }},
        {{.id = "port", .title = "PORT"}, [](L l) { return l.events.port; }},
        {{.id = "counter", .title = "COUNTER"}, [](L l) { return l.events.counter; }},
        {{.id = "events", .title = "EVENTS", .only_screen = true}, [](L l) { return count_text(l.events); }},
        {in_data("count", Unit::count),
         [](L l) { return l.events.kind == PortEvents::Kind::counted ? Value(l.events.count) : Value(); }},
        {in_data("is_saturated"), [](L l) { return Yes{l.events.kind == PortEvents::Kind::stopped}; }},
        {in_data("meaning"), [](L l) { return std::string(meaning_of(l.events.counter)); }},
    };
    Table table = table_of("port_events", fields, lines);
    table.title = "NETWORK PORTS";
    if (is_for_screen) {
        const std::size_t all = table.rows.size();
        if (keep_top(table, lines_on_screen) != 0)
            table.notes.push_back(fmt::format("{} more: placement --format csv", all - lines_on_screen));
    }
    if (is_for_screen) add_meanings(table, lines);
    table.notes.push_back("all traffic of the node during the run, not only this job's");
    return table;
}

}  // namespace mpiprof::report
