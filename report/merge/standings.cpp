// Threads inside calls, and how often the collectives of each communicator were entered.
#include "report/merge/standings.h"

#include <algorithm>
#include <tuple>

namespace mpiprof::report {
namespace {

// What the rank knows of one of its communicators; two that cannot be told apart are none.
Group group_of(const Communicator& communicator) {
    constexpr std::uint64_t world = 1;  // of a library that knows no ids
    const bool is_world = communicator.origin == Origin::world;
    return {.id = communicator.is_id_ambiguous       ? 0
                  : communicator.id == 0 && is_world ? world
                                                     : communicator.id,
            .size = communicator.size,
            .name = communicator.name,
            .is_world = is_world};
}

}  // namespace

std::uint32_t StandingsPart::place_index(const Profile& profile, const Frame& frame) {
    if (frame.offset == 0) return 0;
    std::uint32_t module = 0;
    if (frame.module != 0 && frame.module < profile.modules.size()) {
        const Module& from = profile.modules[frame.module];
        const auto [found, is_new] =
            module_index_.try_emplace({from.path, from.build_id}, static_cast<std::uint32_t>(modules_.size()));
        if (is_new) modules_.push_back(from);
        module = found->second;
    }
    const auto [found, is_new] =
        place_index_.try_emplace({module, frame.offset}, static_cast<std::uint32_t>(places_.size()));
    if (is_new) places_.push_back({.module = module, .offset = frame.offset});
    return found->second;
}

std::uint32_t StandingsPart::group_index(const Group& group) {
    if (group.id == 0) return 0;
    const auto [found, is_new] = group_index_.try_emplace(group.id, static_cast<std::uint32_t>(groups_.size()));
    if (is_new) groups_.push_back(group);
    return found->second;
}

void StandingsPart::add_standings(const RankProfile& from) {
    const Profile& profile = from.profile;
    const auto is_inside = [](const Thread& thread) { return thread.in_call.has_value(); };
    const bool any_inside = std::any_of(profile.threads.begin(), profile.threads.end(), is_inside);
    for (const Thread& thread : profile.threads) {
        if (!is_inside(thread) && (any_inside || thread.kind != ThreadKind::main)) continue;
        const auto& call = is_inside(thread) ? thread.in_call : thread.last_call;
        const std::uint64_t since = thread.in_call_since_ns;
        const bool has_group = thread.in_communicator < profile.communicators.size();
        standings_.push_back(
            {.rank = profile.rank,
             .thread = thread.kind,
             .is_inside = is_inside(thread),
             .os_thread = thread.os_thread,
             .call = call ? std::optional(from.calls[*call]) : std::nullopt,
             .group = has_group ? group_index(group_of(profile.communicators[thread.in_communicator])) : 0,
             .place = place_index(profile, thread.called_from),
             .since_ns = since,
             .for_ns = profile.elapsed_ns > since ? profile.elapsed_ns - since : 0});
    }
}

void StandingsPart::add_entries(const RankProfile& from) {
    const Profile& profile = from.profile;
    std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint64_t> entered;
    std::vector<std::uint32_t> group_of_index;
    for (const Communicator& communicator : profile.communicators) {
        group_of_index.push_back(group_index(group_of(communicator)));
        if (group_of_index.back() != 0) entered[{group_of_index.back(), Entries::none}] = 0;
    }
    const auto count = [&](std::uint16_t call, std::uint16_t communicator, std::uint64_t n) {
        if (!is_collective(profile.calls[call].traffic) || communicator >= group_of_index.size()) return;
        if (const std::uint32_t group = group_of_index[communicator]) entered[{group, from.calls[call]}] += n;
    };
    for (const Cell& cell : profile.cells) count(cell.call, cell.communicator, cell.calls + cell.errors);
    for (const Thread& thread : profile.threads)
        if (thread.in_call) count(*thread.in_call, thread.in_communicator, 1);
    for (const auto& [key, n] : entered)
        entries_.push_back({.group = key.first, .rank = profile.rank, .call = key.second, .entered = n});
}

// Numbered in the order of the ranks, so that the result does not depend on who read what.
void StandingsPart::finish(Finishing& end) {
    Job& job = end.job;
    std::stable_sort(standings_.begin(), standings_.end(),
                     [](const Standing& a, const Standing& b) { return a.rank < b.rank; });
    std::sort(entries_.begin(), entries_.end(), [](const Entries& a, const Entries& b) { return a.rank < b.rank; });
    job.places = {Place{}};
    job.modules = {Module{}};
    job.groups = {Group{}};
    std::vector<std::uint32_t> place_of(places_.size()), module_of(modules_.size()), group_of(groups_.size());
    const auto renumber = [](std::uint32_t index, std::vector<std::uint32_t>& numbers, const auto& from, auto& to) {
        if (index == 0 || numbers[index] != 0) return numbers[index];
        to.push_back(from[index]);
        return numbers[index] = static_cast<std::uint32_t>(to.size() - 1);
    };
    for (Standing& standing : standings_) {
        if (standing.call) standing.call = end.order[*standing.call];
        standing.group = renumber(standing.group, group_of, groups_, job.groups);
        const bool is_new = standing.place != 0 && place_of[standing.place] == 0;
        standing.place = renumber(standing.place, place_of, places_, job.places);
        if (!is_new) continue;
        std::uint32_t& module = job.places.back().module;
        module = renumber(module, module_of, modules_, job.modules);
    }
    for (Entries& entries : entries_) {
        if (entries.call != Entries::none) entries.call = end.order[entries.call];
        entries.group = renumber(entries.group, group_of, groups_, job.groups);
    }
    std::sort(entries_.begin(), entries_.end(), [](const Entries& a, const Entries& b) {
        return std::tie(a.group, a.call, a.rank) < std::tie(b.group, b.call, b.rank);
    });
    job.standings = std::move(standings_);
    job.entries = std::move(entries_);
}

void StandingsPart::add(const RankProfile& from) {
    if (from.profile.state == State::finalized || from.profile.is_text) return;
    add_standings(from);
    add_entries(from);
}

void StandingsPart::absorb(StandingsPart&& other) {
    Profile named{};  // the other's modules, as place_index() wants them
    named.modules = std::move(other.modules_);
    for (Standing& standing : other.standings_) {
        standing.group = group_index(other.groups_[standing.group]);
        const Place& place = other.places_[standing.place];
        standing.place = place_index(named, {.offset = place.offset, .module = place.module});
    }
    standings_.insert(standings_.end(), other.standings_.begin(), other.standings_.end());
    for (Entries& entries : other.entries_) {
        entries.group = group_index(other.groups_[entries.group]);
    }
    entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
}

}  // namespace mpiprof::report
