// Time shares come from the cells of the calls, efficiency and spread from the times of the ranks.
#include "report/analysis/figures.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/analysis/beside.h"
#include "report/analysis/budget.h"
#include "report/model/sums.h"

namespace mpiprof::report {
namespace {

// Several threads inside MPI at once can add up to more than the wall time.
double inside_share(const Figures& figures) {
    const auto inside = static_cast<double>(figures.inside_ns());
    const double whole = std::max(static_cast<double>(figures.wall_ns), inside);
    return whole > 0 ? inside / whole : 0;
}

// More of the communication that is not told apart would leave the efficiencies below it to chance.
constexpr double most_undivided = 0.1;

// Of the run if nothing took time to move; empty: how long it moves is not known.
std::optional<double> ideal_ns(const Job& job) {
    double longest = 0, divided = 0, undivided = 0;
    for (const Rank& rank : job.ranks) {
        if (!rank.has_profile) continue;
        const Budget budget = budget_of(rank);
        longest = std::max(longest, static_cast<double>(rank.recorded_ns()) - budget.of(Part::moving));
        divided += budget.of(Part::waiting) + budget.of(Part::moving);
        undivided += budget.of(Part::waiting_or_moving);
    }
    const bool is_known = longest > 0 && divided > 0 && undivided <= most_undivided * (divided + undivided);
    return is_known ? std::optional(longest) : std::nullopt;
}

std::optional<Efficiency> efficiency_of(const Figures& figures, const Job& job) {
    const auto most = static_cast<double>(figures.outside.most.ns);
    const auto elapsed = static_cast<double>(figures.largest_recorded_ns);
    if (job.is_without_mpi() || job.ranks.size() < 2 || !job.knows_all_ranks() || most <= 0 || elapsed <= 0 ||
        figures.may_be_beside())
        return std::nullopt;
    Efficiency result{.load_balance = figures.outside.mean_ns / most, .communication = most / elapsed};
    result.parallel = result.load_balance * result.communication;
    if (const auto ideal = ideal_ns(job)) {
        result.serialisation = most / *ideal;
        result.transfer = *ideal / elapsed;
    }
    return result;
}

}  // namespace

Spread spread_of(std::span<const Rank> ranks, std::uint64_t (*figure)(const Rank&)) {
    Spread spread;
    if (ranks.empty()) return spread;
    struct Entry : Spread::At {
        std::uint32_t place = 0;
    };
    std::vector<Entry> sorted;
    for (const Rank& rank : ranks) {
        sorted.push_back({{figure(rank), rank.rank}, rank.place});
        spread.by_rank.push_back(static_cast<double>(sorted.back().ns));
        spread.mean_ns += spread.by_rank.back();
    }
    spread.mean_ns /= static_cast<double>(ranks.size());
    std::sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.ns, a.place, a.rank) < std::tie(b.ns, b.place, b.rank);
    });
    spread.least = sorted.front();
    spread.median = sorted[(sorted.size() - 1) / 2];
    spread.median_ns = static_cast<double>(spread.median.ns + sorted[sorted.size() / 2].ns) / 2;
    spread.most = sorted.back();
    return spread;
}

Figures figures_of(const Job& job) {
    Figures figures;
    std::uint64_t background_ns = 0, elapsed_ns = 0, not_known_ns = 0;
    double cores = 0, beside_ns = 0;
    for (const Rank& rank : job.ranks) {
        figures.largest_elapsed_ns = std::max(figures.largest_elapsed_ns, rank.elapsed_ns);
        figures.largest_recorded_ns = std::max(figures.largest_recorded_ns, rank.recorded_ns());
        figures.largest_process_ns = std::max(figures.largest_process_ns, rank.process_ns);
        const std::uint64_t lifetime = rank.process_ns ? rank.process_ns : rank.elapsed_ns;
        if (lifetime)
            cores += static_cast<double>(rank.usage.user_ns + rank.usage.system_ns) / static_cast<double>(lifetime);
        if (!rank.has_profile) continue;
        ++figures.ranks;
        figures.wall_ns += rank.recorded_ns();
        elapsed_ns += rank.elapsed_ns;
        figures.mpi_ns += rank.mpi_ns;
        figures.unfinished_ns += rank.in_call_ns;
        if (rank.elapsed_ns == figures.largest_elapsed_ns) figures.is_elapsed_estimated = rank.is_end_estimated;
        background_ns += rank.mpi_other_thread_ns;
        const WhoseMpi whose = whose_mpi(rank);
        if (whose == WhoseMpi::beside) beside_ns += unblocked_beside_ns(rank);
        if (whose == WhoseMpi::any) not_known_ns += rank.mpi_other_thread_ns;
    }
    for (const Row& row : job.rows) {
        figures.waiting_ns += row.waiting_ns;
        figures.judged_ns += row.judged_ns;
        figures.compared_ns += row.compared_ns;
    }
    if (elapsed_ns)
        figures.paused_share = static_cast<double>(elapsed_ns - figures.wall_ns) / static_cast<double>(elapsed_ns);
    if (figures.mpi_ns) {
        const auto of_mpi = [&](double ns) { return ns / static_cast<double>(figures.mpi_ns); };
        figures.background_share = of_mpi(static_cast<double>(background_ns));
        figures.beside_share = of_mpi(beside_ns);
        figures.not_known_share = of_mpi(static_cast<double>(not_known_ns));
    }
    if (!job.ranks.empty()) figures.cores_busy = cores / static_cast<double>(job.ranks.size());
    figures.inside_share = inside_share(figures);
    figures.in_mpi = spread_of(job.ranks, [](const Rank& rank) { return rank.inside_ns(); });
    figures.outside = spread_of(job.ranks, [](const Rank& rank) { return rank.outside_ns(); });
    figures.efficiency = efficiency_of(figures, job);
    return figures;
}

std::vector<Row> rows_of(const Job& job, std::span<const std::uint32_t> ranks) {
    if (ranks.empty()) return job.rows;
    std::map<std::tuple<std::uint16_t, std::uint8_t, Buffer>, Row> rows;
    for (const std::uint32_t rank : ranks) {
        for (const Sum& sum : job.cells(rank)) {
            Row& row = rows.try_emplace({sum.call, sum.bin, sum.buffer}).first->second;
            if (row.ranks == 0) row.sum = {.call = sum.call, .bin = sum.bin, .buffer = sum.buffer};
            add_sum(row.sum, sum);
            if (row.ranks++ == 0 || sum.time_ns > row.largest_ns) {
                row.largest_ns = sum.time_ns;
                row.largest_rank = rank;
            }
        }
    }
    std::vector<Row> result;
    for (auto& [key, row] : rows) result.push_back(std::move(row));
    return result;
}

std::vector<Row> unfinished_rows(const Job& job, std::span<const std::uint32_t> ranks) {
    std::map<std::uint16_t, Row> rows;
    for (const Rank& rank : job.ranks) {
        const bool is_asked_for = ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), rank.rank);
        if (!rank.has_profile || !rank.in_call || rank.in_call_ns == 0 || !is_asked_for) continue;
        Row& row = rows[*rank.in_call];
        row.is_unfinished = true;
        row.sum.call = *rank.in_call;
        ++row.sum.calls;
        row.sum.time_ns += rank.in_call_ns;
        if (row.ranks++ == 0 || rank.in_call_ns > row.largest_ns) {
            row.largest_ns = rank.in_call_ns;
            row.largest_rank = rank.rank;
        }
    }
    std::vector<Row> result;
    for (auto& [call, row] : rows) result.push_back(std::move(row));
    return result;
}

}  // namespace mpiprof::report
