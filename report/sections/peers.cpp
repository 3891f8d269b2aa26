// peers: who sends how much to whom: how far apart they are, a map of all ranks, nodes, the largest pairs, messages
// that were sent and not received, and how much better placements would keep inside nodes.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "report/analysis/analysed.h"
#include "report/analysis/doubts.h"
#include "report/analysis/peer_places.h"
#include "report/model/units.h"
#include "report/sections/section.h"

namespace mpiprof::report {
namespace {

constexpr std::size_t pairs_on_screen = 12;
constexpr std::size_t node_pairs_on_screen = 12;
constexpr std::size_t differences_on_screen = 8;
constexpr std::uint64_t blocks_in_map = 40;

// The pairs that are asked for, messages and one-sided operations of the same two ranks apart, and their sums.
struct Sums {
    std::uint64_t pairs = 0, messages = 0, bytes = 0, time_ns = 0;

    void add(const PeerPair& pair) {
        ++pairs;
        messages += pair.messages();
        bytes += pair.bytes();
        time_ns += pair.time_ns();
    }
};
struct Exchange {
    const Job& job;
    RankPlaces places;
    std::vector<const PeerPair*> pairs;
    Sums all;
    std::array<Sums, 5> by_nearness;
    std::uint64_t one_sided_bytes = 0;
    std::uint64_t answered_bytes = 0;  // of those between different ranks: as many came back
    std::uint64_t foreign_bytes = 0;   // between different ranks

    Exchange(const Job& j, const Question& question) : job(j), places(j) {
        for (const PeerPair& pair : job.peers.pairs) {
            if (!question.is_about(pair.from) && !question.is_about(pair.to)) continue;
            pairs.push_back(&pair);
            all.add(pair);
            by_nearness[static_cast<std::size_t>(places.between(pair.from, pair.to))].add(pair);
            if (pair.kind == PeerKind::one_sided) one_sided_bytes += pair.bytes();
        }
        compare_ways();
    }
    const Sums& at(Nearness nearness) const { return by_nearness[static_cast<std::size_t>(nearness)]; }
    // There and back of the same two ranks stand together when the smaller one comes first.
    void compare_ways() {
        std::vector<const PeerPair*> sorted = pairs;
        std::erase_if(sorted, [](const PeerPair* pair) { return pair->from == pair->to; });
        const auto key = [](const PeerPair* pair) {
            return std::make_pair(std::min(pair->from, pair->to), std::max(pair->from, pair->to));
        };
        std::sort(sorted.begin(), sorted.end(), [&](const PeerPair* a, const PeerPair* b) { return key(a) < key(b); });
        for (std::size_t begin = 0, i = 0; begin < sorted.size(); begin = i) {
            std::uint64_t there = 0, back = 0;
            for (; i < sorted.size() && key(sorted[i]) == key(sorted[begin]); ++i)
                (sorted[i]->from < sorted[i]->to ? there : back) += sorted[i]->bytes();
            answered_bytes += 2 * std::min(there, back);
            foreign_bytes += there + back;
        }
    }
    std::uint64_t inside_nodes() const { return at(Nearness::numa_node).bytes + at(Nearness::node).bytes; }
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return human_share(static_cast<double>(part) / static_cast<double>(whole));
}

Table headline(const Exchange& t) {
    HeadlineTable lines("total");
    const std::uint64_t distinct = t.foreign_bytes;
    const bool is_empty = t.pairs.empty();
    lines.add(1, "bytes", t.all.bytes,
              is_empty ? ""
                       : fmt::format("{} in {} messages", human_bytes(static_cast<double>(t.all.bytes)),
                                     human_count(static_cast<double>(t.all.messages))));
    lines.add("messages", t.all.messages);
    lines.add(1, "pairs", t.all.pairs,
              is_empty ? "" : "between " + plural(t.all.pairs, "pair of ranks", "pairs of ranks"));
    lines.add(2, "inside_nodes_share", ratio(t.inside_nodes(), distinct),
              distinct == 0            ? ""
              : t.job.nodes.size() < 2 ? "all on one node"
                                       : percent(t.inside_nodes(), distinct) + " of the bytes stay inside nodes");
    lines.add(2, "between_nodes_share", ratio(t.at(Nearness::other_node).bytes, distinct),
              distinct != 0 && t.job.nodes.size() > 1
                  ? percent(t.at(Nearness::other_node).bytes, distinct) + " go to other nodes"
                  : "");
    lines.add(2, "symmetric_share", ratio(t.answered_bytes, distinct),
              distinct != 0 ? percent(t.answered_bytes, distinct) + " are symmetric" : "");
    lines.add(2, "one_sided_share", ratio(t.one_sided_bytes, t.all.bytes),
              t.one_sided_bytes != 0 ? percent(t.one_sided_bytes, t.all.bytes) + " are one-sided" : "");
    return lines.take();
}

// ---- how far apart ----

Table distance_table(const Exchange& t) {
    struct Line {
        Nearness nearness;
        const Sums* sums;
    };
    std::vector<Line> lines;
    for (const Nearness n :
         {Nearness::itself, Nearness::numa_node, Nearness::node, Nearness::other_node, Nearness::unknown})
        if (t.at(n).pairs != 0) lines.push_back({n, &t.at(n)});
    using L = const Line&;
    return table_of(
        "distance",
        std::vector<Field<Line>>{
            {{.id = "distance", .title = "TO"},
             [&](L l) {
                 const bool is_other = l.nearness == Nearness::node && t.places.knows_numa_nodes();
                 return std::string(name_of(l.nearness)) + (is_other ? ", other NUMA node" : "");
             }},
            {{.id = "pairs", .title = "PAIRS", .unit = Unit::count}, [](L l) { return l.sums->pairs; }},
            {{.id = "messages", .title = "MESSAGES", .unit = Unit::count}, [](L l) { return l.sums->messages; }},
            {{.id = "avg_bytes", .title = "AVG SIZE", .unit = Unit::bytes, .drop = 1},
             [](L l) { return ratio(l.sums->bytes, l.sums->messages); }},
            {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes}, [](L l) { return l.sums->bytes; }},
            {{.id = "bytes_share", .title = "%", .unit = Unit::share},
             [&](L l) { return ratio(l.sums->bytes, t.all.bytes); }},
            {bar(2), [&](L l) { return ratio(l.sums->bytes, t.all.bytes); }},
            {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .same_unit = true},
             [](L l) { return l.sums->time_ns; }},
        },
        lines);
}

// ---- the map ----

std::string range_of(std::uint64_t first, std::uint64_t last) {
    return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

// One line for each sender, or block of neighbouring ranks; the Series runs over the receivers in the same blocks.
Table map_table(const Exchange& t) {
    std::uint64_t ranks = 0;
    for (const PeerPair* pair : t.pairs)
        ranks = std::max({ranks, std::uint64_t{pair->from} + 1, std::uint64_t{pair->to} + 1});
    const std::uint64_t width = std::max<std::uint64_t>((ranks + blocks_in_map - 1) / blocks_in_map, 1);
    const std::uint64_t blocks = (ranks + width - 1) / width;
    std::vector<Series> map(blocks, Series(blocks, 0.0));
    std::vector<std::uint64_t> sent(blocks);
    for (const PeerPair* pair : t.pairs) {
        map[pair->from / width][pair->to / width] += static_cast<double>(pair->bytes());
        sent[pair->from / width] += pair->bytes();
    }
    std::vector<std::size_t> lines(blocks);
    std::iota(lines.begin(), lines.end(), std::size_t{0});
    using L = const std::size_t&;
    Table table = table_of("map",
                           std::vector<Field<std::size_t>>{
                               {{.id = "from", .title = "FROM"},
                                [&](L l) { return range_of(l * width, std::min((l + 1) * width, ranks) - 1); }},
                               {{.id = "to_bytes",
                                 .title = fmt::format("TO RANKS {}", range_of(0, ranks - 1)),
                                 .unit = Unit::bytes,
                                 .draw = Draw::log_heat},
                                [&](L l) { return map[l]; }},
                               {{.id = "bytes", .title = "SENT", .unit = Unit::bytes}, [&](L l) { return sent[l]; }},
                           },
                           lines);
    table.notes.push_back(width == 1 ? "one cell per receiver, logarithmic shading"
                                     : fmt::format("one cell per {} receivers, logarithmic shading", width));
    return table;
}

// ---- nodes ----

struct NodePair {
    std::uint32_t from = 0, to = 0;
    Sums sums;
};

Table node_table(const Exchange& t, const Question& question) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Sums> sums;
    for (const PeerPair* pair : t.pairs) {
        const auto from = t.places.node_of(pair->from), to = t.places.node_of(pair->to);
        if (from && to && pair->from != pair->to) sums[{*from, *to}].add(*pair);
    }
    std::vector<NodePair> lines;
    for (const auto& [ends, sum] : sums) lines.push_back({ends.first, ends.second, sum});
    std::stable_sort(lines.begin(), lines.end(),
                     [](const NodePair& a, const NodePair& b) { return a.sums.bytes > b.sums.bytes; });
    std::vector<std::string> hosts(t.job.nodes.size());
    for (const Rank& rank : t.job.ranks)
        if (rank.node < hosts.size()) hosts[rank.node] = t.job.hosts[rank.host];
    using L = const NodePair&;
    Table table = table_of(
        "nodes",
        std::vector<Field<NodePair>>{
            {{.id = "from_node", .title = "FROM NODE"}, [&](L l) { return hosts[l.from]; }},
            {{.id = "to_node", .title = "TO NODE"},
             [&](L l) { return l.from == l.to ? std::string("(itself)") : hosts[l.to]; }},
            {{.id = "pairs", .title = "PAIRS", .unit = Unit::count, .drop = 2}, [](L l) { return l.sums.pairs; }},
            {{.id = "messages", .title = "MESSAGES", .unit = Unit::count}, [](L l) { return l.sums.messages; }},
            {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes}, [](L l) { return l.sums.bytes; }},
            {{.id = "bytes_share", .title = "%", .unit = Unit::share},
             [&](L l) { return ratio(l.sums.bytes, t.all.bytes); }},
            {bar(3), [&](L l) { return ratio(l.sums.bytes, t.all.bytes); }},
            {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .drop = 1, .same_unit = true},
             [](L l) { return l.sums.time_ns; }},
        },
        lines);
    if (question.is_for_screen) cut(table, node_pairs_on_screen, " pairs of nodes: peers --format csv");
    return table;
}

// ---- pairs ----

// Of millions of pairs a screen has a few: only these become lines.
std::vector<const PeerPair*> pairs_to_show(const Exchange& t, const Question& question, std::size_t most) {
    std::vector<const PeerPair*> pairs = t.pairs;
    if ((!question.sort.empty() && question.sort != "bytes") || most >= pairs.size()) return pairs;
    const auto key = [](const PeerPair* p) { return std::make_tuple(~p->bytes(), p->from, p->to, p->kind); };
    std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(most), pairs.end(),
                      [&](const PeerPair* a, const PeerPair* b) { return key(a) < key(b); });
    pairs.resize(most);
    return pairs;
}

Result<Table> pair_table(const Exchange& t, const Question& question) {
    const std::size_t most = question.top.value_or(question.is_for_screen ? pairs_on_screen : t.pairs.size());
    using P = const PeerPair* const&;
    Table table =
        table_of("pairs",
                 std::vector<Field<const PeerPair*>>{
                     {{.id = "from", .title = "FROM", .unit = Unit::rank}, [](P p) { return std::uint64_t{p->from}; }},
                     {{.id = "to", .title = "TO", .unit = Unit::rank}, [](P p) { return std::uint64_t{p->to}; }},
                     {{.id = "distance", .title = "WHERE", .drop = 2},
                      [&](P p) { return std::string(name_of(t.places.between(p->from, p->to))); }},
                     {{.id = "kind", .title = "KIND", .drop = 3, .only_data = t.one_sided_bytes == 0},
                      [](P p) { return std::string(p->kind == PeerKind::one_sided ? "one-sided" : "messages"); }},
                     {{.id = "messages", .title = "MESSAGES", .unit = Unit::count}, [](P p) { return p->messages(); }},
                     {{.id = "avg_bytes", .title = "AVG SIZE", .unit = Unit::bytes},
                      [](P p) { return ratio(p->bytes(), p->messages()); }},
                     {{.id = "bytes", .title = "BYTES", .unit = Unit::bytes}, [](P p) { return p->bytes(); }},
                     {{.id = "bytes_share", .title = "%", .unit = Unit::share},
                      [&](P p) { return ratio(p->bytes(), t.all.bytes); }},
                     {{.id = "time_ns", .title = "TIME", .unit = Unit::time, .drop = 1, .same_unit = true},
                      [](P p) { return p->time_ns(); }},
                     {{.id = "time_share", .title = "%TIME", .unit = Unit::share, .drop = 1},
                      [&](P p) { return ratio(p->time_ns(), t.all.time_ns); }},
                     {in_data("sent", Unit::count), [](P p) { return p->sent.messages; }},
                     {in_data("sent_bytes", Unit::bytes), [](P p) { return p->sent.bytes; }},
                     {in_data("sent_time_ns", Unit::time), [](P p) { return p->sent.time_ns; }},
                     {in_data("received", Unit::count), [](P p) { return p->received.messages; }},
                     {in_data("received_bytes", Unit::bytes), [](P p) { return p->received.bytes; }},
                     {in_data("received_time_ns", Unit::time), [](P p) { return p->received.time_ns; }},
                 },
                 pairs_to_show(t, question, most));
    if (auto ok = sort_rows(table, question, "bytes"); !ok) return tl::make_unexpected(ok.error());
    keep_top(table, most);
    if (const std::size_t left_out = t.pairs.size() - table.rows.size())
        table.notes.push_back(
            fmt::format("{} more: --top {}", human_count(static_cast<double>(left_out)), t.pairs.size()));
    table.notes.push_back(
        Note::on("time_ns", "inside the calls that sent, received or posted them, on both ranks; MPI_Wait excluded"));
    return table;
}

// ---- sent and not received ----

// Both ranks have finished, and each has told all that it knows by pair: then what was sent and what was received are
// alike.
Table difference_table(const Exchange& t, const Question& question) {
    std::set<std::uint32_t> hides_sent, hides_received;
    for (const VagueRank& rank : t.job.peers.vague_ranks) {
        if (rank.hides_sent) hides_sent.insert(rank.rank);
        if (rank.hides_received) hides_received.insert(rank.rank);
    }
    const auto has_told_all = [&](std::uint32_t number) {
        const Rank* rank = t.job.find(number);
        return rank && rank->has_profile && rank->state == State::finalized && !rank->is_in_finalize &&
               rank->paused_ns == 0;
    };
    const bool is_part = leaves_out_functions(t.job);
    std::vector<const PeerPair*> lines;
    for (const PeerPair* pair : t.pairs)
        if (!is_part && pair->kind == PeerKind::messages && pair->sent.messages != pair->received.messages &&
            t.job.drops.threads == 0 && has_told_all(pair->from) && has_told_all(pair->to) &&
            !hides_sent.contains(pair->from) && !hides_received.contains(pair->to))
            lines.push_back(pair);
    using P = const PeerPair* const&;
    Table table = table_of(
        "differences",
        std::vector<Field<const PeerPair*>>{
            {{.id = "from", .title = "FROM", .unit = Unit::rank}, [](P p) { return std::uint64_t{p->from}; }},
            {{.id = "to", .title = "TO", .unit = Unit::rank}, [](P p) { return std::uint64_t{p->to}; }},
            {{.id = "sent", .title = "SENT", .unit = Unit::count}, [](P p) { return p->sent.messages; }},
            {{.id = "received", .title = "RECEIVED", .unit = Unit::count}, [](P p) { return p->received.messages; }},
        },
        lines);
    table.title = "MESSAGES SENT AND RECEIVED DIFFER";
    if (question.is_for_screen) cut(table, differences_on_screen, ": peers --format csv");
    if (!lines.empty())
        table.notes.push_back("more sent: never received; more received: receives posted and never matched");
    return table;
}

// ---- placements ----

Table placement_table(const Job& job) {
    const std::vector<Arrangement> found = arrangements(job);
    using A = const Arrangement&;
    Table table = table_of("placements",
                           std::vector<Field<Arrangement>>{
                               {{.id = "placement", .title = "PLACEMENT"}, [](A a) { return a.name; }},
                               {{.id = "inside_nodes_share", .title = "INSIDE NODES", .unit = Unit::share},
                                [](A a) { return a.share_inside; }},
                               {bar(0, Draw::full_bar), [](A a) { return a.share_inside; }},
                               {{.id = "between_nodes_bytes", .title = "BETWEEN NODES", .unit = Unit::bytes},
                                [](A a) { return a.bytes_between; }},
                           },
                           found);
    if (!found.empty())
        table.notes.push_back(
            "grouped: an estimate (heavy-edge matching, then Kernighan-Lin swaps), on the same nodes with as many ranks each");
    return table;
}

void explain(Table& table, const Peers& peers) {
    const auto say = [&](const Flow& flow, const char* what) {
        if (flow.messages != 0)
            table.notes.push_back(fmt::format("{} messages of {} {}", human_count(static_cast<double>(flow.messages)),
                                              human_bytes(static_cast<double>(flow.bytes)), what));
    };
    say(peers.vague.received_from_any, "were received from MPI_ANY_SOURCE, with the source unknown");
    say(peers.vague.sent_unknown, "went to ranks of other worlds, or of unknown rank");
    say(peers.vague.received_unknown, "came from ranks of other worlds, or of unknown rank");
    say(peers.vague.sent_others, "went to peers beyond those tracked");
    say(peers.vague.received_others, "came from peers beyond those tracked");
    if (peers.most_of_rank != 0)
        table.notes.push_back(
            fmt::format("in a job of this size the {} largest peers of each rank are tracked", peers.most_of_rank));
}

}  // namespace

Result<std::vector<Table>> peers(const Analysed& all, const Question& question) {
    const Job& job = all.job;
    const Exchange exchange(job, question);
    auto pairs = pair_table(exchange, question);
    if (!pairs) return tl::make_unexpected(pairs.error());
    Table first = headline(exchange);
    if (exchange.pairs.empty())
        first.notes.push_back(job.is_text ? "mpitrace's text has no peers"
                                          : "no messages between two ranks were recorded");
    std::vector<Table> tables{std::move(first)};
    if (!exchange.pairs.empty()) {
        tables.push_back(distance_table(exchange));
        explain(tables.back(), job.peers);
        tables.push_back(map_table(exchange));
        if (job.nodes.size() > 1) tables.push_back(node_table(exchange, question));
        tables.push_back(std::move(*pairs));
        if (Table differences = difference_table(exchange, question);
            !differences.rows.empty() || !question.is_for_screen)
            tables.push_back(std::move(differences));
        if (job.nodes.size() > 1 && question.ranks.empty()) tables.push_back(placement_table(job));
    } else {
        explain(tables.back(), job.peers);
    }
    return tables;
}

}  // namespace mpiprof::report
