// Calls that cost time by themselves, whoever comes late: too small, too many, asked too often, files, MPI_Init; and
// what remains where no rule names a cause.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "report/analysis/analysed.h"
#include "report/analysis/budget.h"
#include "report/analysis/causes.h"
#include "report/analysis/findings.h"
#include "report/model/named_calls.h"

namespace mpiprof::report {
namespace {

using Findings = std::vector<Finding>;

constexpr double worth_a_word = 0.1;  // of the run: what costs less has to be there at all

double seconds_of_rank(const Figures& figures) {
    return figures.ranks ? static_cast<double>(figures.wall_ns) / 1e9 / figures.ranks : 0;
}

// What the calls of a row cost by themselves: as the typical one of them, where the mean is clearly above it. What a
// late rank adds to some is no cost of theirs.
double own_cost_ns(const Row& row) {
    constexpr double coarse = 1.1;  // percentiles are within 5 %
    const auto time = static_cast<double>(row.sum.time_ns);
    if (!row.p50_ns) return time;
    const double typical = *row.p50_ns * static_cast<double>(row.sum.timed_calls());
    return typical * coarse < time ? typical : time;
}

// So many calls of few bytes that nobody can be late between two of them: what they take is their own cost.
void small_messages(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double often = 5'000;           // calls a second by each rank
    constexpr double too_short_ns = 100'000;  // a call: longer ones wait
    double calls_of_rank = 0, all_calls = 0, bytes = 0, time = 0;
    double most_ns = 0;
    std::optional<std::uint16_t> most;
    for (const Row& row : job.rows) {
        const Call& call = job.calls[row.sum.call];
        if (row.sum.timed_calls() == 0 || row.ranks == 0 || call.family != Family::mpi) continue;
        const auto calls = static_cast<double>(row.sum.calls);
        const bool is_short = static_cast<double>(row.sum.time_ns) < too_short_ns * calls;
        const bool is_small =
            carries_messages(call.traffic) && static_cast<double>(row.sum.bytes) <= small_message * calls;
        if (!is_small || !is_short) continue;
        calls_of_rank += calls / row.ranks;
        all_calls += calls;
        bytes += static_cast<double>(row.sum.bytes);
        // With its share of the time in the Wait or Test that completed it.
        const double cost = own_cost_ns(row);
        time += cost + static_cast<double>(row.blocked_ns);
        if (cost <= most_ns) continue;
        most_ns = cost;
        most = row.sum.call;
    }
    const double rate = share(calls_of_rank, seconds_of_rank(figures));
    const double cost = share(time, static_cast<double>(figures.wall_ns));
    if (!most || rate < often || cost < worth_a_word) return;
    Finding& finding = add(findings, Rule::small_messages, true,
                           evidence::SmallMessages{.calls_of_rank = calls_of_rank,
                                                   .mean_bytes = share(bytes, all_calls),
                                                   .mean_ns = share(time, all_calls),
                                                   .calls_per_s = rate,
                                                   .run_share = cost});
    finding.calls = {*most};
    finding.run_share = cost;
}

// Queries that are counted and not timed: by what one of them takes on processors of today.
void cheap_calls(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double query_ns = 5;
    const Row* most = nullptr;
    for (const Row& row : job.rows)
        if (job.calls[row.sum.call].treatment == Treatment::counted && (!most || row.sum.calls > most->sum.calls))
            most = &row;
    if (!most || most->ranks == 0) return;
    const double rate = share(static_cast<double>(most->sum.calls) / most->ranks, seconds_of_rank(figures));
    const double of_callers = rate * query_ns / 1e9;
    if (of_callers < worth_a_look) return;
    Finding& finding =
        add(findings, Rule::cheap_calls, true,
            evidence::CheapCalls{.calls_per_s = rate, .ranks = most->ranks, .run_share = std::min(1.0, of_callers)});
    finding.calls = {most->sum.call};
    if (most->ranks == 1) finding.ranks = {most->largest_rank};
    finding.run_share = std::min(1.0, of_callers) * most->ranks / std::max(1u, figures.ranks);
}

// Test and Probe called again and again: their time is the calls' own cost more than waiting.
void polling(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double often = 50'000;  // calls a second by each rank that does so
    const Row* most = nullptr;
    double most_rate = 0;
    for (const Row& row : job.rows) {
        const Traffic traffic = job.calls[row.sum.call].traffic;
        if ((traffic != Traffic::completion && traffic != Traffic::probe) || row.ranks == 0 || row.sum.calls == 0)
            continue;
        const double rate = share(static_cast<double>(row.sum.calls) / row.ranks, seconds_of_rank(figures));
        const double per_call = share(static_cast<double>(row.sum.time_ns), static_cast<double>(row.sum.calls));
        if (rate < often || per_call >= 5'000 || rate <= most_rate) continue;
        most = &row;
        most_rate = rate;
    }
    if (!most) return;
    const double cost = figures.share_of_wall(most->sum.time_ns);
    Finding& finding = add(findings, Rule::polling, false,
                           evidence::Polling{.calls_per_s = most_rate, .ranks = most->ranks, .run_share = cost});
    finding.calls = {most->sum.call};
    if (most->ranks == 1) finding.ranks = {most->largest_rank};
    finding.run_share = cost;
}

// Communicators that the same call made of the same parent, of which some have much more to do than others.
void unequal_comms(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double unequal = 1.5;
    struct Family {
        std::vector<const Comm*> comms;
        double time_ns = 0;
    };
    std::map<std::pair<std::string, std::uint64_t>, Family> families;
    for (const Comm& comm : job.comms)
        if (comm.kind == CommKind::known && !comm.is_world && !comm.made_by.empty() && comm.members > 1) {
            Family& family = families[{comm.made_by, comm.parent}];
            family.comms.push_back(&comm);
            for (const CommSum& sum : comm.sums) family.time_ns += static_cast<double>(sum.time_ns);
        }
    std::optional<evidence::UnequalComms> worst;
    for (const auto& [key, family] : families) {
        if (family.comms.size() < 2) continue;
        evidence::UnequalComms e{.made_by = key.first, .least_calls = 1e300, .least_bytes = 1e300};
        e.least_size = ~0u;
        for (const Comm* comm : family.comms) {
            double calls = 0, bytes = 0;
            for (const CommSum& sum : comm->sums) {
                calls += static_cast<double>(sum.calls) / comm->members;
                bytes += static_cast<double>(sum.bytes) / comm->members;
            }
            e.least_size = std::min(e.least_size, comm->size);
            e.most_size = std::max(e.most_size, comm->size);
            e.least_calls = std::min(e.least_calls, calls);
            e.most_calls = std::max(e.most_calls, calls);
            e.least_bytes = std::min(e.least_bytes, bytes);
            e.most_bytes = std::max(e.most_bytes, bytes);
        }
        const bool is_unequal = e.most_size > unequal * e.least_size || e.most_calls > unequal * e.least_calls ||
                                e.most_bytes > unequal * e.least_bytes;
        e.run_share = share(family.time_ns, static_cast<double>(figures.wall_ns));
        if (is_unequal && e.most_calls >= 10 && (!worst || e.most_calls > worst->most_calls)) worst = std::move(e);
    }
    if (!worst) return;
    // What it costs is seen as ranks that wait for others, or as time on these communicators.
    const bool waits = std::any_of(findings.begin(), findings.end(), [](const Finding& said) {
        return std::holds_alternative<evidence::Imbalance>(said.evidence);
    });
    if (!waits && worst->run_share < worth_a_word) return;
    add(findings, Rule::unequal_comms, false, std::move(*worst));
}

void init(const Job& job, const Figures& figures, Findings& findings) {
    constexpr std::uint64_t long_ns = 1'000'000'000;
    const Rank* longest = nullptr;
    const Rank* shortest = nullptr;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.init_ns == 0) continue;
        if (!longest || rank.init_ns > longest->init_ns) longest = &rank;
        if (!shortest || rank.init_ns < shortest->init_ns) shortest = &rank;
    }
    if (!longest || longest->init_ns < long_ns) return;
    const double of_process =
        share(static_cast<double>(longest->init_ns), static_cast<double>(figures.largest_process_ns));
    if (of_process < worth_a_word) return;
    const std::uint64_t waited = longest->init_ns - shortest->init_ns;
    const bool was_late = waited >= long_ns && waited >= longest->init_ns / 2;
    double lost_ns = 0, process_ns = 0;
    for (const Rank& rank : job.ranks) {
        lost_ns += static_cast<double>(rank.init_ns - (was_late ? std::min(rank.init_ns, shortest->init_ns) : 0));
        process_ns += static_cast<double>(rank.process_ns);
    }
    Finding& finding = add(findings, Rule::init, true,
                           evidence::Init{.longest_ns = longest->init_ns,
                                          .lost_ns = lost_ns,
                                          .process_share = of_process,
                                          .waited_ns = was_late ? waited : 0});
    if (was_late) {
        finding.ranks = {shortest->rank};
        finding.nodes = {shortest->node};
    }
    finding.run_share = share(lost_ns, process_ns);
}

// Whoever comes last to MPI_Finalize is there for the shortest time, and enters it so much later: what a library does
// there by itself, on one rank alone, is no waiting.
void finalize(const Job& job, const Figures& figures, Findings& findings) {
    constexpr std::uint64_t long_ns = 500'000'000;
    const Rank* longest = nullptr;
    const Rank* shortest = nullptr;
    double waited_ns = 0, process_ns = 0;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile || rank.state != State::finalized || rank.finalize_ns == 0) return;
        if (!longest || rank.finalize_ns > longest->finalize_ns) longest = &rank;
        if (!shortest || rank.finalize_ns < shortest->finalize_ns) shortest = &rank;
    }
    if (!longest || longest == shortest) return;
    const std::uint64_t waited = longest->finalize_ns - shortest->finalize_ns;
    const std::uint64_t entered_first = longest->started_at_ns + longest->elapsed_ns;
    const std::uint64_t entered_last = shortest->started_at_ns + shortest->elapsed_ns;
    if (waited < long_ns || waited < longest->finalize_ns / 2 || entered_last < entered_first + waited / 2) return;
    for (const Rank& rank : job.ranks) {
        waited_ns += static_cast<double>(rank.finalize_ns - shortest->finalize_ns);
        process_ns += static_cast<double>(rank.process_ns + rank.finalize_ns);
    }
    const double cost = share(waited_ns, process_ns);
    if (cost < worth_a_look) return;
    Finding& finding =
        add(findings, Rule::finalize, true,
            evidence::Finalize{
                .longest_ns = longest->finalize_ns,
                .lost_ns = waited_ns,
                .waited_ns = waited,
                .process_share = share(static_cast<double>(waited),
                                       static_cast<double>(figures.largest_process_ns + shortest->finalize_ns))});
    std::vector<std::uint32_t> late;
    for (const Rank& rank : job.ranks)
        if (rank.finalize_ns - shortest->finalize_ns < waited / 4) late.push_back(rank.rank);
    name_ranks(finding, job, std::move(late));
    finding.run_share = cost;
}

// The rows of a kind of calls together: time, bytes, and the call that most time is in.
struct Whole {
    double time_ns = 0, waiting_ns = 0, bytes = 0, calls = 0;
    const Row* most = nullptr;
    double own_ns() const { return time_ns - waiting_ns; }
};
template <class Wanted>
Whole add_up(const Job& job, Wanted wanted) {
    Whole whole;
    for (const Row& row : job.rows) {
        const Call& call = job.calls[row.sum.call];
        if (call.treatment == Treatment::counted || !wanted(call)) continue;
        whole.time_ns += static_cast<double>(row.sum.time_ns);
        whole.waiting_ns += static_cast<double>(row.waiting_ns);
        whole.bytes += static_cast<double>(row.sum.bytes);
        whole.calls += static_cast<double>(row.sum.calls);
        if (!whole.most || row.sum.time_ns > whole.most->sum.time_ns) whole.most = &row;
    }
    return whole;
}

void file_io(const Job& job, const Figures& figures, Findings& findings) {
    const Whole files = add_up(job, [](const Call& call) { return call.traffic == Traffic::file; });
    const double cost = share(files.time_ns, static_cast<double>(figures.wall_ns));
    if (!files.most || cost < worth_a_word) return;
    Finding& finding = add(findings, Rule::file_io, true,
                           evidence::FileIo{.run_share = cost,
                                            .bytes_per_s = share(files.bytes, files.time_ns / 1e9),
                                            .mean_bytes = share(static_cast<double>(files.most->sum.bytes),
                                                                static_cast<double>(files.most->sum.calls))});
    finding.calls = {files.most->sum.call};
    finding.run_share = cost;
}

// Even the fastest of its calls took long, and hardly less than all: who came last to it waited for nobody. NCCL's
// communicators are made once and take as long as they take.
bool is_slow_by_itself(const Job& job, const Whole& calls, std::uint16_t call) {
    constexpr double long_ns = 20'000'000, like_the_mean = 0.75;
    double fastest = job.calls[call].family == Family::mpi ? calls.time_ns / calls.calls : 0;
    for (const Row& row : job.rows)
        if (row.sum.call == call) fastest = std::min(fastest, static_cast<double>(row.sum.min_ns.value_or(0)));
    return fastest >= long_ns && fastest >= like_the_mean * calls.time_ns / calls.calls;
}

// Communicators, windows and persistent requests that are made again and again, or of which one takes long by itself:
// MPI_Comm_spawn. What ranks wait there for each other is another cause's.
void setup(const Job& job, const Figures& figures, Findings& findings) {
    constexpr double again_and_again = 100;  // by each rank
    const Whole made = add_up(job, [](const Call& call) { return call.traffic == Traffic::setup; });
    const auto wall_ns = static_cast<double>(figures.wall_ns);
    const double cost = share(made.own_ns(), wall_ns);
    if (!made.most || cost < worth_a_word) return;
    const Call* call = &job.calls[made.most->sum.call];
    const Whole most = add_up(job, [call](const Call& other) { return &other == call; });
    const bool is_costly =
        share(most.calls, figures.ranks) >= again_and_again || is_slow_by_itself(job, most, made.most->sum.call);
    constexpr double much = 0.25, shows = 0.01;
    if (!is_costly && (call->family != Family::nccl || cost < much)) return;
    Finding& finding = add(findings, is_costly ? Rule::setup : Rule::nccl_setup, true,
                           evidence::Setup{.run_share = cost,
                                           .call_run_share = share(most.own_ns(), wall_ns),
                                           .calls = share(most.calls, figures.ranks),
                                           .mean_ns = share(most.own_ns(), most.calls),
                                           .have_waited = most.waiting_ns > shows * most.time_ns,
                                           .starts_processes = starts_processes(*call)});
    finding.calls = {made.most->sum.call};
    finding.run_share = cost;
}

}  // namespace

void find_costly_calls(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    for (const auto rule : {small_messages, cheap_calls, polling, unequal_comms, init, finalize, setup, file_io})
        rule(job, figures, findings);
}

// Outside MPI: sleep, files, locks, GPUs. Where a slow rank is said to be off the CPU it is said already.
void find_off_cpu(const Analysed& all, Findings& findings) {
    const Figures& figures = all.figures();
    const Budget& budget = all.budget();
    if (!budget[Part::processor] || figures.may_be_beside()) return;
    const double blocked = share(budget.of(Part::blocked), seconds_of_rank(figures) * 1e9);
    const bool is_said = std::any_of(findings.begin(), findings.end(), [](const Finding& said) {
        const auto* slow = std::get_if<evidence::Imbalance>(&said.evidence);
        return slow && slow->cpu_share && *slow->cpu_share < 0.7;
    });
    if (blocked >= worth_a_word && !is_said)
        add(findings, Rule::off_cpu, false, evidence::OffCpu{.run_share = std::min(1.0, blocked)});
}

// What a bar of the summary shows, and no rule about waiting explains. Calls of fewer bytes are slow for other reasons.
void find_moving_data(const Analysed& all, Findings& findings) {
    constexpr double much = 0.25, fewest_bytes = 4096;
    const Job& job = all.job;
    const Figures& figures = all.figures();
    const Row* most = nullptr;
    double all_moved_ns = 0;
    const auto moved_ns = [](const Row& row) {
        return static_cast<double>(row.sum.time_ns - std::min(row.sum.time_ns, row.waiting_ns));
    };
    for (const Row& row : job.rows) {
        const Sum& sum = row.sum;
        if (!carries_messages(job.calls[sum.call].traffic) || row.judged_ns == 0 ||
            static_cast<double>(sum.bytes) < fewest_bytes * static_cast<double>(sum.calls))
            continue;
        all_moved_ns += moved_ns(row);
        if (!most || moved_ns(row) > moved_ns(*most)) most = &row;
    }
    const double of_run = std::min(share(all.budget().of(Part::moving), seconds_of_rank(figures) * 1e9),
                                   share(all_moved_ns, static_cast<double>(figures.wall_ns)));
    if (!most || of_run < much || figures.may_be_beside()) return;
    const auto bytes = static_cast<double>(most->sum.bytes);
    Finding& finding = add(findings, Rule::moving_data, false,
                           evidence::MovingData{.run_share = std::min(1.0, of_run),
                                                .mean_bytes = share(bytes, static_cast<double>(most->sum.calls)),
                                                .bytes_per_s = share(bytes, moved_ns(*most) / 1e9)});
    finding.calls = {most->sum.call};
    finding.run_share = std::min(1.0, of_run);
}

// What remains of the time in MPI where no rule above names a cause.
void find_remainder(const Analysed& all, Findings& findings) {
    const Job& job = all.job;
    const Figures& figures = all.figures();
    const Whole mpi =
        add_up(job, [](const Call& call) { return call.traffic != Traffic::file && call.family != Family::nccl; });
    const double cost = share(mpi.time_ns, static_cast<double>(figures.wall_ns));
    if (!mpi.most || cost < worth_a_word || figures.may_be_beside()) {
        // Else it may have waited for a processor.
        const Budget budget = mean_budget(job);
        const bool is_known = budget[Part::processor] && !figures.may_be_beside();
        const double blocked_ns = is_known ? budget.of(Part::blocked) : 0;
        evidence::Healthy healthy{
            .mpi_share = figures.inside_share,
            .load_balance = {},
            .blocked_share = share(blocked_ns, share(static_cast<double>(figures.wall_ns), figures.ranks)),
            .is_gpu_unseen = job.has(Family::nccl) && job.gpu.rows.empty(),
            .is_something_else =
                std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.is_serious; })};
        const Whole setup =
            add_up(job, [](const Call& call) { return call.traffic == Traffic::setup && call.family == Family::nccl; });
        healthy.setup_share = share(setup.time_ns, static_cast<double>(figures.wall_ns));
        healthy.is_length_unknown = job.is_text && figures.wall_ns == 0;
        if (figures.may_be_beside()) healthy.off_main_share = figures.background_share;
        std::erase_if(findings, [](const Finding& f) { return f.rule == Rule::off_cpu; });  // its sentence says it
        if (figures.efficiency) healthy.load_balance = figures.efficiency->load_balance;
        const bool is_unseen = healthy.is_gpu_unseen || job.communicates_unseen();
        add(findings, is_unseen ? Rule::unseen : Rule::healthy, false, healthy);
        return;
    }
    std::erase_if(findings, [](const Finding& f) { return f.rule == Rule::moving_data; });  // so does this one's
    const Row& most = *mpi.most;
    evidence::Transfers e{
        .run_share = cost,
        .mean_bytes = share(static_cast<double>(most.sum.bytes), static_cast<double>(most.sum.calls)),
        .bytes_per_s = share(static_cast<double>(most.sum.bytes), static_cast<double>(most.sum.time_ns) / 1e9),
        .waiting_share = {}};
    if (figures.ranks > 1 && 2 * figures.judged_ns >= figures.inside_ns())
        e.waiting_share = share(mpi.waiting_ns, mpi.time_ns);
    e.is_waiting_known = figures.is_waiting_known();
    Finding& finding = add(findings, Rule::transfers, false, e);
    finding.calls = {most.sum.call};
    finding.run_share = cost;
}

}  // namespace mpiprof::report
