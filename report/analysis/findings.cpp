// Rules that look at one figure each, and the call of all that are listed in finders.def.
#include "report/analysis/findings.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "report/analysis/analysed.h"
#include "report/analysis/causes.h"
#include "report/analysis/last_ranks.h"
#include "report/analysis/orders.h"
#include "report/model/ratio.h"

namespace mpiprof::report {

Finding& add(std::vector<Finding>& findings, Rule rule, bool is_serious, Evidence evidence) {
    return findings.emplace_back(Finding{.rule = rule,
                                         .is_serious = is_serious,
                                         .calls = {},
                                         .ranks = {},
                                         .nodes = {},
                                         .evidence = std::move(evidence)});
}

void name_ranks(Finding& finding, const Job& job, std::vector<std::uint32_t> ranks) {
    const std::uint32_t node = job.find(ranks.front())->node;
    if (std::all_of(ranks.begin(), ranks.end(), [&](std::uint32_t rank) { return job.find(rank)->node == node; }))
        finding.nodes = {node};
    finding.ranks = std::move(ranks);
}

namespace {

using Findings = std::vector<Finding>;

// The calls that some time is in, the largest first.
using ByCall = std::vector<std::pair<std::uint64_t, std::uint16_t>>;

template <class Figure>
ByCall add_up_by_call(const Job& job, Figure figure) {
    ByCall by_call;
    for (const Row& row : job.rows) {  // sorted by call
        if (by_call.empty() || by_call.back().second != row.sum.call) by_call.emplace_back(0, row.sum.call);
        by_call.back().first += figure(row);
    }
    std::sort(by_call.rbegin(), by_call.rend());
    return by_call;
}

}  // namespace

// How each unfinished rank ended, ranks that ended alike together.
void find_unfinished(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    struct Alike {
        evidence::Unfinished how;
        std::optional<std::uint16_t> call;
        std::vector<std::uint32_t> ranks;
        auto key() const { return std::tie(how.state, how.life, how.exit_code, call); }
    };
    std::vector<Alike> groups;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.state == State::finalized) continue;
        const Alike like{.how = {.state = rank.state,
                                 .life = rank.state == State::running ? rank.life : Life::ended,
                                 .exit_code = rank.state == State::aborted ? rank.exit_code : 0},
                         .call = rank.in_call,
                         .ranks = {}};
        const auto same =
            std::find_if(groups.begin(), groups.end(), [&](const Alike& g) { return g.key() == like.key(); });
        Alike& group = same != groups.end() ? *same : groups.emplace_back(like);
        group.ranks.push_back(rank.rank);
        if (rank.in_call) group.how.longest_ns = std::max(group.how.longest_ns, rank.in_call_ns);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Alike& a, const Alike& b) { return a.ranks.size() < b.ranks.size(); });
    if (!groups.empty())
        groups.back().how.points_to_hang = std::any_of(
            job.ranks.begin(), job.ranks.end(), [](const Rank& rank) { return rank.has_profile && rank.in_call; });
    for (Alike& group : groups)
        findings.push_back({.rule = Rule::unfinished,
                            .is_serious = true,
                            .calls = group.call ? std::vector{*group.call} : std::vector<std::uint16_t>{},
                            .ranks = std::move(group.ranks),
                            .nodes = {},
                            .evidence = group.how});
}

void find_drops(const Analysed& all, Findings& findings) {
    for (const DropRow& row : drop_rows)
        if (const std::uint64_t count = all.job.drops.*row.count)
            add(findings, Rule::dropped, row.is_serious, evidence::Dropped{.what = row.key, .count = count});
}

void find_errors(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    constexpr std::size_t most_calls = 3;
    ByCall by_call = add_up_by_call(job, [](const Row& row) { return row.sum.errors; });
    std::erase_if(by_call, [](const auto& of_call) { return of_call.first == 0; });
    if (by_call.empty()) return;
    by_call.resize(std::min(by_call.size(), most_calls));
    Finding& finding = add(findings, Rule::errors, true, evidence::Errors{});
    for (const auto& [times, call] : by_call) {
        finding.calls.push_back(call);
        std::get<evidence::Errors>(finding.evidence).times.push_back(times);
    }
    for (const Rank& rank : job.ranks)
        if (rank.errors) finding.ranks.push_back(rank.rank);
}

// Pauses of the program, or a window that the user set.
void find_pauses(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    if (!figures.was_paused()) return;
    evidence::Paused paused{.share = figures.paused_share, .window = {}};
    for (const SettingRow& row : job.settings)
        if ((row.name == "BEGIN_TIME" || row.name == "END_TIME") &&
            row.values.front().source != SettingSource::fallback)
            paused.window.push_back({row.name, row.values.front().value});
    add(findings, Rule::paused, false, std::move(paused));
}

// For how much of the run the main thread was blocked, where that is known of all ranks.
static double main_blocked_share(const Job& job) {
    double unblocked_ns = 0, run_ns = 0;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        if (rank.usage.ran_ns == 0 || rank.is_begun_by_another) return 0;
        unblocked_ns += static_cast<double>(rank.usage.ran_ns + rank.usage.waited_ns);
        run_ns += static_cast<double>(rank.elapsed_ns);
    }
    return run_ns > 0 ? std::max(0.0, 1 - unblocked_ns / run_ns) : 0;
}

// MPI on other threads than the main one: whether its time is lost, and whether that is known.
void find_overlap(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    if (figures.share_of_wall(figures.mpi_ns) < worth_a_look) return;
    evidence::Overlap overlap{.background_share = {}, .cores_busy = figures.cores_busy};
    if (figures.background_share >= 0.1) {
        overlap.background_share = figures.background_share;
        overlap.beside_share = figures.beside_share / figures.background_share;
        overlap.not_known_share = figures.not_known_share / figures.background_share;
        overlap.main_blocked_share = main_blocked_share(job);
    } else if (!job.is_text || figures.cores_busy < 1.5) {
        return;
    }
    // That one thread acts for the program is no fault of it.
    constexpr double above_fair = 1.5;
    const ComparedCall* waited_in = most_waited_in(job);
    if (waited_in && !waited_in->last_ranks.empty()) {
        const std::uint32_t rank = waited_in->last_ranks.front().rank;
        const auto last = came_last(job, {rank});
        if (last && last->share * figures.ranks >= above_fair) {
            overlap.last_rank = rank;
            overlap.last = *last;
        }
    }
    const bool is_serious = job.is_text || figures.may_be_beside();
    const ByCall by_call = add_up_by_call(job, [](const Row& row) { return row.sum.time_ns; });
    Finding& finding = add(findings, Rule::overlap, is_serious, overlap);
    finding.run_share = figures.inside_share;
    if (!by_call.empty()) finding.calls = {by_call.front().second};
}

// Small collectives that take many times what the fastest took: waiting for others, not moving data. The 5th
// percentile stands for the undisturbed call, the single fastest where no histogram was kept.
void find_waiting(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    struct Case {
        double lost_ns;
        const Row* row;
        double mean_ns;
        double best_ns;
    };
    std::vector<Case> cases;
    for (const Row& row : job.rows) {
        const Traffic traffic = job.calls[row.sum.call].traffic;
        const bool is_small =
            (traffic == Traffic::collective && bin_max_bytes(row.sum.bin) <= small_message) || traffic == Traffic::sync;
        const double best = row.p05_ns.value_or(static_cast<double>(row.sum.min_ns.value_or(0)));
        if (!is_small || row.sum.calls < 20 || best <= 0) continue;
        const double mean = static_cast<double>(row.sum.time_ns) / static_cast<double>(row.sum.calls);
        const double lost = (mean - best) * static_cast<double>(row.sum.calls);
        if (mean >= 5 * best && lost >= worth_a_look * static_cast<double>(figures.wall_ns))
            cases.push_back({lost, &row, mean, best});
    }
    std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.lost_ns > b.lost_ns; });
    for (std::size_t i = 0; i < std::min<std::size_t>(cases.size(), 2); ++i) {
        const Row& row = *cases[i].row;
        evidence::Waiting waiting{.mean_bytes = {},
                                  .mean_ns = cases[i].mean_ns,
                                  .undisturbed_ns = cases[i].best_ns,
                                  .run_share = figures.share_of_wall(whole_ns(cases[i].lost_ns))};
        if (row.sum.bytes) waiting.mean_bytes = static_cast<double>(row.sum.bytes) / static_cast<double>(row.sum.calls);
        add(findings, Rule::waiting, !figures.may_be_beside(), waiting).calls = {row.sum.call};
    }
}

// Time in MPI that is mostly waiting, where no rule has said so of the calls in question.
void find_waits(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    constexpr double mostly = 0.5;
    const auto waiting = static_cast<double>(figures.waiting_ns);
    if (figures.ranks < 2 || figures.may_be_beside() || 2 * figures.judged_ns < figures.inside_ns()) return;
    if (waiting < mostly * static_cast<double>(figures.inside_ns()) ||
        figures.share_of_wall(figures.waiting_ns) < worth_a_look)
        return;
    const ByCall by_call = add_up_by_call(job, [](const Row& row) { return row.waiting_ns; });
    const auto [most_ns, call] = by_call.front();
    for (const Finding& said : findings)
        if (said.rule == Rule::waiting && said.calls.front() == call) return;
    add(findings, Rule::waits, false,
        evidence::Waits{.mpi_share = waiting / static_cast<double>(figures.inside_ns()),
                        .call_run_share = figures.share_of_wall(most_ns),
                        .is_known = figures.is_waiting_known()})
        .calls = {call};
}

// What Wait and Test wait for: the requests of one call and size, where that is a good part of the run.
void find_waited_for(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    const auto less = [](const Row& a, const Row& b) { return a.blocked_ns < b.blocked_ns; };
    const auto row = std::max_element(job.rows.begin(), job.rows.end(), less);
    if (row == job.rows.end() || figures.share_of_wall(row->blocked_ns) < worth_a_look || row->sum.calls == 0) return;
    std::uint64_t all_ns = 0;
    for (const Row& other : job.rows) all_ns += other.blocked_ns;
    add(findings, Rule::requests, false,
        evidence::Requests{.is_most = 2 * row->blocked_ns > all_ns,
                           .is_divided = row->inside_ns != row->blocked_ns,
                           .mean_bytes = static_cast<double>(row->sum.bytes) / static_cast<double>(row->sum.calls),
                           .run_share = figures.share_of_wall(row->blocked_ns),
                           .overlapped = row->overlapped()})
        .calls = {row->sum.call};
}

// Of the run ranks were runnable without a processor outside the library; empty: not known.
std::optional<double> waited_share(const Budget& budget) {
    if (!budget[Part::processor] || budget.run() <= 0) return std::nullopt;
    return budget.of(Part::processor) / budget.run();
}

// The first of what is seriously wrong with the placement and not said yet; its section has the rest, and what to do.
namespace {

const evidence::Crowded* crowd_among(const Findings& findings) {
    for (const Finding& said : findings)
        if (const auto* crowd = std::get_if<evidence::Crowded>(&said.evidence)) return crowd;
    return nullptr;
}

// Of the time of these ranks they were runnable without a processor, inside MPI or outside.
double waited_share_of(const Job& job, const std::vector<std::uint32_t>& ranks) {
    double waited = 0, run = 0;
    for (const std::uint32_t number : ranks)
        if (const Rank* rank = job.find(number)) {
            waited += static_cast<double>(rank->usage.waited_ns);
            run += static_cast<double>(rank->elapsed_ns);
        }
    return share(waited, run);
}

}  // namespace

// The first that is serious; and who else was on the cores.
void find_misplaced(const Analysed& all, Findings& findings) {
    const evidence::Crowded* crowd = crowd_among(findings);
    const bool is_too_many_said = crowd && crowd->too_many;
    const auto first = [&](auto is_it) {
        const auto found =
            std::ranges::find_if(all.placement(), [&](const Finding& f) { return f.is_serious && is_it(f.rule); });
        return found != all.placement().end() ? &*found : nullptr;
    };
    if (const Finding* wrong = first(
            [&](Rule rule) { return rule != Rule::foreign_load && !(rule == Rule::too_many && is_too_many_said); })) {
        Finding said = *wrong;
        said.of = std::exchange(said.rule, Rule::placement);
        constexpr double little = 0.01;
        const auto waited = waited_share(all.budget());
        if (auto* too_many = std::get_if<evidence::TooMany>(&said.evidence); too_many && waited && *waited < little) {
            too_many->waited_share = waited;
            said.is_serious = false;
        }
        findings.push_back(std::move(said));
    }
    if (const Finding* foreign = first([](Rule rule) { return rule == Rule::foreign_load; })) {
        findings.push_back(*foreign);
        const double waited = crowd ? crowd->waited_share : waited_share_of(all.job, foreign->ranks);
        if (waited >= worth_a_look) std::get<evidence::ForeignLoad>(findings.back().evidence).waited_share = waited;
    }
}

namespace {

// Two members of a communicator of which it is proven that they have made other collectives.
struct Apart {
    const Orders* orders;
    const OrderOfMembers *one, *other;
};
std::optional<Apart> apart(const Orders& orders) {
    if (orders.is_broken) return Apart{&orders, &orders.members[0], &orders.members[1]};
    for (const OrderOfMembers& one : orders.members)
        for (const OrderOfMembers& other : orders.members)
            if (one.first_rank < other.first_rank && first_difference(one.steps, other.steps))
                return Apart{&orders, &one, &other};
    return std::nullopt;
}

// Where they parted: from the calls that both have kept, else from what their sums differ by.
void find_parting(const Job& job, const Apart& members, Finding& finding, evidence::Order& e) {
    const OrderOfMembers &one = *members.one, &other = *members.other;
    const auto say = [&](std::uint64_t at, std::uint64_t since, const OrderedCall& a, const OrderedCall& b) {
        e.at = at, e.since = since;
        e.root_of_one = a.root, e.root_of_other = b.root;
        finding.calls = {a.call, b.call};
    };
    const auto difference = first_difference(one.steps, other.steps);
    if (difference) {
        say(difference->at(), difference->first + 1, {difference->one.call, difference->one.root},
            {difference->other.call, difference->other.root});
        e.place_of_one = difference->one.place;
        e.place_of_other = difference->other.place;
        e.given_of_one = difference->one.given;
        e.given_of_other = difference->other.given;
        e.are_swapped = difference->are_swapped;
    }
    if (difference && difference->is_exact()) return;
    if (one.collectives != other.collectives) {
        const OrderedStep* lacking = difference ? nullptr : first_lacking(one, other);
        if (!lacking) return;
        e.at = lacking->number + 1;
        e.place_of_one = lacking->place;
        finding.calls = {lacking->call};
        return;
    }
    const auto parting = OrderedCalls(job, members.orders->size).parting(one.collectives, one.order, other.order);
    if (!parting) return;
    say(parting->at, parting->at, parting->one, parting->other);
    e.place_of_one = e.place_of_other = 0;
    e.are_swapped = parting->are_swapped;
}

}  // namespace

// What all members have to make in one order, and have not: of the first communicator.
void find_broken_orders(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    std::optional<Apart> first;
    std::uint64_t communicators = 0;
    for (const Orders& orders : job.orders)
        if (const auto members = apart(orders)) {
            if (!first) first = members;
            ++communicators;
        }
    if (!first) return;
    const Orders& orders = *first->orders;
    evidence::Order e{.communicator = orders.is_world && orders.name.empty() ? "MPI_COMM_WORLD" : orders.name,
                      .size = orders.size,
                      .one = first->one->collectives,
                      .other = first->other->collectives,
                      .is_enqueued = orders.is_enqueued,
                      .has_ended_well = orders.is_broken,
                      .communicators = communicators};
    Finding& finding = add(findings, Rule::order, true, evidence::Order{});
    finding.ranks = {first->one->first_rank, first->other->first_rank};
    find_parting(job, *first, finding, e);
    finding.evidence = std::move(e);
}

void find_left_overs(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    if (!job.left_over.empty()) add(findings, Rule::left_over, false, evidence::LeftOvers{});
}

std::vector<Finding> findings_of(const Analysed& all) {
    Findings findings;
#define FINDER(find) find(all, findings);
#include "report/analysis/finders.def"
#undef FINDER
    std::stable_partition(findings.begin(), findings.end(), [](const Finding& f) { return f.is_serious; });
    return findings;
}

}  // namespace mpiprof::report
