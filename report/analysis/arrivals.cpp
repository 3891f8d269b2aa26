// Counting is enough: collective calls on one communicator are entered in one order by all its members.
#include "report/analysis/arrivals.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace mpiprof::report {
namespace {

using Key = std::pair<std::uint32_t, std::uint16_t>;  // group, call

std::span<const Entries> entries_of(const Job& job, Key key) {
    const auto less = [](const Entries& a, const Entries& b) {
        return std::tie(a.group, a.call) < std::tie(b.group, b.call);
    };
    const Entries wanted{.group = key.first, .call = key.second};
    const auto [begin, end] = std::equal_range(job.entries.begin(), job.entries.end(), wanted, less);
    return {begin, end};
}

// Of MPI_COMM_WORLD all ranks, of others those that are known to have it.
std::vector<std::uint32_t> members_of(const Job& job, std::uint32_t group) {
    std::vector<std::uint32_t> members;
    if (job.groups[group].is_world)
        for (std::uint32_t rank = 0; rank < job.size && members.size() < job.ranks.size() + 1000; ++rank)
            members.push_back(rank);
    else
        for (const Entries& entry : entries_of(job, {group, Entries::none})) members.push_back(entry.rank);
    return members;
}

Arrival arrival_at(const Job& job, Key key, std::span<const Standing* const> inside) {
    Arrival arrival{.call = key.second, .group = key.first, .inside = {}, .missing = {}};
    for (const Standing* standing : inside) {
        arrival.entered = std::max(arrival.entered, entered_by(job, key.first, key.second, standing->rank));
        arrival.for_ns = std::max(arrival.for_ns, standing->for_ns);
    }
    std::map<std::uint32_t, bool> is_inside;
    for (const Standing* standing : inside) is_inside[standing->rank] = true;
    const auto entries = entries_of(job, key);
    auto entry = entries.begin();
    arrival.least_entered = arrival.entered;
    for (const std::uint32_t rank : members_of(job, key.first)) {
        while (entry != entries.end() && entry->rank < rank) ++entry;
        const std::uint64_t entered = entry != entries.end() && entry->rank == rank ? entry->entered : 0;
        if (entered < arrival.entered) {
            arrival.missing.push_back(rank);
            arrival.least_entered = std::min(arrival.least_entered, entered);
        } else if (entered == arrival.entered && is_inside.contains(rank)) {
            arrival.inside.push_back(rank);
        } else {
            ++arrival.passed;
        }
    }
    return arrival;
}

// MPI_Finalize is no call in a profile's dictionary, but all ranks have to enter it.
void add_finalize(const Job& job, std::vector<Arrival>& arrivals) {
    Arrival arrival{.call = {}, .entered = 1, .inside = {}, .missing = {}};
    for (const Rank& rank : job.ranks) {
        if (rank.is_in_finalize) {
            arrival.inside.push_back(rank.rank);
            arrival.for_ns = std::max(arrival.for_ns, rank.finalize_ns);
        } else if (rank.has_profile && rank.state != State::finalized) {
            arrival.missing.push_back(rank.rank);
        } else {
            ++arrival.passed;
        }
    }
    if (!arrival.inside.empty()) arrivals.push_back(std::move(arrival));
}

}  // namespace

std::string name_of(const Arrival& arrival, const Job& job) {
    return arrival.call ? job.calls[*arrival.call].name : "MPI_Finalize";
}

std::uint64_t entered_by(const Job& job, std::uint32_t group, std::uint16_t call, std::uint32_t rank) {
    const auto entries = entries_of(job, {group, call});
    const auto found = std::lower_bound(entries.begin(), entries.end(), rank,
                                        [](const Entries& entry, std::uint32_t wanted) { return entry.rank < wanted; });
    return found != entries.end() && found->rank == rank ? found->entered : 0;
}

std::vector<Arrival> arrivals_of(const Job& job) {
    std::map<Key, std::vector<const Standing*>> inside;
    for (const Standing& standing : job.standings)
        if (standing.is_inside && standing.group != 0 && is_collective(job.calls[*standing.call].traffic))
            inside[{standing.group, *standing.call}].push_back(&standing);
    std::vector<Arrival> arrivals;
    for (const auto& [key, standings] : inside) arrivals.push_back(arrival_at(job, key, standings));
    add_finalize(job, arrivals);
    // Where members are missing there is somebody to look at.
    const auto weight = [](const Arrival& of) {
        return std::make_tuple(!of.missing.empty(), of.inside.size(), of.for_ns);
    };
    std::ranges::stable_sort(arrivals, std::greater(), weight);
    return arrivals;
}

std::uint64_t quiet_for(const Job& job, std::uint32_t rank) {
    std::uint64_t ns = 0;
    for (const Standing& standing : job.standings)
        if (standing.rank == rank) ns = ns == 0 ? standing.for_ns : std::min(ns, standing.for_ns);
    return ns;
}

namespace {

// Entries are of ranks that are not finalized.
Arrival lag_of(const Job& job, Key key) {
    Arrival lag{.call = key.second, .group = key.first, .inside = {}, .missing = {}};
    std::map<std::uint32_t, std::uint64_t> entered;
    for (const Entries& entry : entries_of(job, {key.first, Entries::none})) entered[entry.rank];
    for (const Entries& entry : entries_of(job, key)) entered[entry.rank] = entry.entered;
    for (const auto& [rank, times] : entered) lag.entered = std::max(lag.entered, times);
    lag.least_entered = lag.entered;
    for (const auto& [rank, times] : entered) {
        (times == lag.entered ? lag.inside : lag.missing).push_back(rank);
        lag.least_entered = std::min(lag.least_entered, times);
        if (times != lag.entered) continue;
        const std::uint64_t quiet = quiet_for(job, rank);
        lag.for_ns = lag.for_ns == 0 ? quiet : std::min(lag.for_ns, quiet);
    }
    return lag;
}

}  // namespace

std::vector<Arrival> not_enqueued_by_all(const Job& job) {
    std::vector<Arrival> lags;
    Key last{0, Entries::none};
    for (const Entries& entry : job.entries) {
        const Key key{entry.group, entry.call};
        if (entry.call == Entries::none || entry.group == 0 || key == last) continue;
        last = key;
        const Call& call = job.calls[entry.call];
        if (call.family != Family::nccl || call.traffic != Traffic::collective) continue;
        if (Arrival lag = lag_of(job, key); !lag.missing.empty()) lags.push_back(std::move(lag));
    }
    std::stable_sort(lags.begin(), lags.end(),
                     [](const Arrival& a, const Arrival& b) { return a.inside.size() > b.inside.size(); });
    return lags;
}

}  // namespace mpiprof::report
