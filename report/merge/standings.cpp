// The part `standings`: where the threads of ranks that are not finalized stand, over some of a job's ranks: inside
// calls, or outside MPI; how often the collectives of each communicator were entered; what they wait for and have made.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/sorted.h"

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
            .is_world = is_world,
            .is_inter = communicator.is_inter};
}

Message message_of(std::optional<std::uint16_t> call, std::uint32_t group, std::int32_t peer, std::int32_t tag,
                   bool is_sent) {
    return {.call = call, .group = group, .peer = peer, .tag = tag, .is_sent = is_sent};
}

// Of requests that such a call posts: for whom they wait. Not of those of files, and of one-sided calls.
bool is_told(const Call& call) { return call.sends != call.receives || call.is_ordered; }

class StandingsPart {
  public:
    void add(const RankProfile& from);
    void absorb(StandingsPart&& other);
    void finish(Finishing& end);

  private:
    struct NumbersOfJob;
    template <class To>
    void renumber(To&& to);
    void add_standings(const RankProfile& from);
    void add_entries(const RankProfile& from);
    void add_memberships(const RankProfile& from);
    void add_made(const RankProfile& from);
    void add_enqueued(const RankProfile& from);
    std::optional<Message> message_for(const RankProfile& from, const OpenRequest& request);
    void say_what_it_waits_for(const RankProfile& from, const Thread& thread, Standing& standing);
    std::uint32_t group_index(const Profile& profile, std::uint16_t communicator);
    std::uint32_t place_index(const std::vector<Module>& modules, const Frame& frame);
    std::uint32_t group_index(const Group& group);

    std::vector<Standing> standings_;
    std::vector<Entries> entries_;
    std::vector<Membership> memberships_;
    std::vector<Made> made_;
    std::vector<EnqueuedWith> enqueued_with_;
    // [0] = not known.
    Numbered<Module, std::pair<std::string, std::string>> modules_{Module{}};   // by path and build-id
    Numbered<Place, std::pair<std::uint32_t, std::uint64_t>> places_{Place{}};  // by module and offset
    Numbered<Group, std::uint64_t> groups_{Group{}};                            // by id
};

std::uint32_t StandingsPart::place_index(const std::vector<Module>& modules, const Frame& frame) {
    if (frame.offset == 0) return 0;
    std::uint32_t module = 0;
    if (frame.module != 0 && frame.module < modules.size()) {
        const Module& from = modules[frame.module];
        module = modules_.index_of({from.path, from.build_id}, from);
        modules_[module].take_run(from);
    }
    return places_.index_of({module, frame.offset}, {.module = module, .offset = frame.offset});
}

std::uint32_t StandingsPart::group_index(const Group& group) {
    return group.id == 0 ? 0 : groups_.index_of(group.id, group);
}

std::uint32_t StandingsPart::group_index(const Profile& profile, std::uint16_t communicator) {
    return communicator < profile.communicators.size() ? group_index(group_of(profile.communicators[communicator])) : 0;
}

// Nothing where it is not told, and where there is nobody to answer.
std::optional<Message> StandingsPart::message_for(const RankProfile& from, const OpenRequest& request) {
    const Profile& profile = from.profile;
    const Call& posted_by = profile.calls[request.call];
    if (!is_told(posted_by) || request.peer == no_rank) return std::nullopt;
    Message message = message_of(from.calls[request.call], group_index(profile, request.communicator), request.peer,
                                 request.tag, posted_by.sends);
    message.place = place_index(profile.modules, request.called_from);
    message.is_collective = posted_by.is_ordered;
    return message;
}

// Its own messages; of a call that completes requests, those of the requests, if it is clear which these are.
void StandingsPart::say_what_it_waits_for(const RankProfile& from, const Thread& thread, Standing& standing) {
    const Profile& profile = from.profile;
    const Call& call = profile.calls[*thread.in_call];
    if (call.family == Family::nccl) return;  // its calls enqueue, and wait for nobody
    const auto add = [&](const Message& message) {
        if (message.is_collective || message.peer != no_rank) standing.waits_for.push_back(message);
    };
    if (call.has_root) standing.root = thread.peer;
    if (call.sends) add(message_of(standing.call, standing.group, thread.peer, thread.tag, true));
    if (call.receives && call.sends)
        add(message_of(standing.call, standing.group, thread.source, thread.source_tag, false));
    else if (call.receives)
        add(message_of(standing.call, standing.group, thread.peer, thread.tag, false));
    std::size_t found = 0;
    const auto look = [&](const OpenRequest& request, bool is_meant) {
        if (!request.is_started) return;
        found += is_meant;
        if (const auto message = message_for(from, request))
            (is_meant ? standing.waits_for : standing.posted).push_back(*message);
        else
            standing.waits_for_more |= is_meant && !is_told(profile.calls[request.call]);
    };
    const bool waits = call.has_requests && thread.requests != 0, for_one = thread.only_request != 0;
    for (const OpenRequest& request : thread.open_requests)
        look(request, waits && (!for_one || request.handle == thread.only_request));
    if (waits && for_one && found == 0)  // another thread has posted it
        for (const Thread& other : profile.threads)
            for (const OpenRequest& request : other.open_requests)
                if (request.handle == thread.only_request) look(request, true);
    standing.waits_for_more |= profile.drops.requests != 0 || (call.has_requests && found == 0);
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
             .place = place_index(profile.modules, thread.called_from),
             .since_ns = since,
             .for_ns = profile.elapsed_ns > since ? profile.elapsed_ns - since : 0});
        standings_.back().is_only_thread = profile.threads.size() == 1;
        if (thread.in_call) say_what_it_waits_for(from, thread, standings_.back());
    }
    // Of threads outside MPI, too: what they have open may be answered at any time.
    if (standings_.empty() || standings_.back().rank != profile.rank) return;
    for (const Thread& thread : profile.threads)
        for (const OpenRequest& request : thread.open_requests)
            if (!is_inside(thread) && request.is_started)
                if (const auto message = message_for(from, request)) standings_.back().posted.push_back(*message);
}

void StandingsPart::add_memberships(const RankProfile& from) {
    for (const Communicator& communicator : from.profile.communicators)
        if (const std::uint32_t group = group_index(group_of(communicator)))
            memberships_.push_back({.group = group,
                                    .rank = from.profile.rank,
                                    .rank_in_group = communicator.rank,
                                    .collectives = communicator.collectives,
                                    .order = communicator.order});
}

// What may explain a hang, as far as a few lines do.
void StandingsPart::add_made(const RankProfile& from) {
    constexpr std::size_t most = 32;
    const Profile& profile = from.profile;
    std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>, std::uint64_t> calls;
    for (const Cell& cell : profile.cells) {
        const Call& call = profile.calls[cell.call];
        if ((!call.is_ordered && !call.sends) || cell.calls + cell.errors == 0 || cell.communicator == 0) continue;
        const Frame* line = profile.line_of(cell.site);
        const std::uint32_t place = line ? place_index(profile.modules, *line) : 0;
        calls[{group_index(profile, cell.communicator), from.calls[cell.call], place}] += cell.calls + cell.errors;
        if (calls.size() > most) return;
    }
    for (const auto& [key, n] : calls)
        made_.push_back({.rank = profile.rank,
                         .group = std::get<0>(key),
                         .call = std::get<1>(key),
                         .place = std::get<2>(key),
                         .calls = n});
    for (const Thread& thread : profile.threads)
        for (const OpenRequest& request : thread.open_requests)
            if (!request.is_started)
                made_.push_back({.rank = profile.rank,
                                 .group = group_index(profile, request.communicator),
                                 .call = from.calls[request.call],
                                 .place = place_index(profile.modules, request.called_from),
                                 .calls = 0,
                                 .peer = request.peer,
                                 .tag = request.tag});
}

void StandingsPart::add_enqueued(const RankProfile& from) {
    const Profile& profile = from.profile;
    const auto flow_of = [&](const EnqueuedFlow& flow) {
        const Frame* line = profile.line_of(flow.site);
        const std::uint32_t place = line ? place_index(profile.modules, *line) : 0;
        return EnqueuedWith::Flow{.messages = flow.messages, .after = flow.after, .place = place};
    };
    for (const EnqueuedPeer& with : profile.enqueued_peers)
        if (const std::uint32_t group = group_index(profile, with.communicator))
            enqueued_with_.push_back({.group = group,
                                      .rank = profile.rank,
                                      .peer = with.peer,
                                      .sent = flow_of(with.sent),
                                      .received = flow_of(with.received)});
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

void StandingsPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    const bool is_over = profile.state == State::finalized;
    const bool has_left = is_over && !profile.is_in_finalize && profile.finalize_ns != 0;  // not killed in there
    const bool used_nccl = !profile.enqueued.empty() || !profile.enqueued_peers.empty();
    if (profile.is_text || (has_left && !used_nccl)) return;
    // Whoever is in MPI_Finalize may be why others wait, or why their GPUs do, once it has left.
    add_memberships(from);
    add_enqueued(from);
    if (has_left) return;
    add_made(from);
    if (is_over) return;
    add_standings(from);
    add_entries(from);
}

// Tells `to` of each number that records have of a call, a group or a place, so that it is given another one; messages
// behind the standings that have them.
template <class To>
void StandingsPart::renumber(To&& to) {
    const auto each = [&](auto& records) {
        for (auto& record : records) {
            to.call(record.call);
            to.group(record.group);
            to.place(record.place);
        }
    };
    each(standings_);
    for (Standing& standing : standings_) {
        each(standing.waits_for);
        each(standing.posted);
    }
    each(made_);
    for (EnqueuedWith& with : enqueued_with_) {
        to.group(with.group);
        to.place(with.sent.place);
        to.place(with.received.place);
    }
    for (Entries& entries : entries_) {
        if (entries.call != Entries::none) to.call(entries.call);
        to.group(entries.group);
    }
    for (Membership& membership : memberships_) to.group(membership.group);
}

// The numbers that groups, places and calls have in a job: in the order in which the ranks use them, so that the result
// does not depend on who read what. 0 stays 0: not known.
struct StandingsPart::NumbersOfJob {
    const StandingsPart& part;
    Finishing& end;
    std::vector<std::uint32_t> groups = std::vector<std::uint32_t>(part.groups_.values().size()),
                               places = std::vector<std::uint32_t>(part.places_.values().size()),
                               modules = std::vector<std::uint32_t>(part.modules_.values().size());

    // Whether it is met for the first time.
    template <class Thing>
    static bool take(std::uint32_t& index, std::vector<std::uint32_t>& numbers, const std::vector<Thing>& from,
                     std::vector<Thing>& to) {
        const bool is_new = index != 0 && numbers[index] == 0;
        if (is_new) {
            to.push_back(from[index]);
            numbers[index] = static_cast<std::uint32_t>(to.size() - 1);
        }
        if (index != 0) index = numbers[index];
        return is_new;
    }
    void call(std::uint16_t& number) const { number = end.order[number]; }
    void call(std::optional<std::uint16_t>& number) const {
        if (number) call(*number);
    }
    void group(std::uint32_t& index) { take(index, groups, part.groups_.values(), end.job.groups); }
    void place(std::uint32_t& index) {
        if (take(index, places, part.places_.values(), end.job.places))
            take(end.job.places.back().module, modules, part.modules_.values(), end.job.modules);
    }
};

void StandingsPart::finish(Finishing& end) {
    Job& job = end.job;
    std::stable_sort(standings_.begin(), standings_.end(), ordered_by(&Standing::rank));
    std::stable_sort(made_.begin(), made_.end(), ordered_by(&Made::rank));
    sort_by(entries_, &Entries::rank);
    job.places = {Place{}};
    job.modules = {Module{}};
    job.groups = {Group{}};
    renumber(NumbersOfJob{*this, end});
    sort_by(enqueued_with_, &EnqueuedWith::group, &EnqueuedWith::rank, &EnqueuedWith::peer);
    sort_by(entries_, &Entries::group, &Entries::call, &Entries::rank);
    sort_by(memberships_, &Membership::group, &Membership::rank);
    job.memberships = std::move(memberships_);
    job.made = std::move(made_);
    job.enqueued_with = std::move(enqueued_with_);
    job.standings = std::move(standings_);
    job.entries = std::move(entries_);
}

// The numbers here of the other's groups and places; calls have one number in all parts.
void StandingsPart::absorb(StandingsPart&& other) {
    struct {
        std::vector<std::uint32_t> groups, places;
        void call(const std::uint16_t&) const {}
        void call(const std::optional<std::uint16_t>&) const {}
        void group(std::uint32_t& index) const { index = groups[index]; }
        void place(std::uint32_t& index) const { index = places[index]; }
    } here{groups_.absorb(other.groups_), {}};
    for (const Place& place : other.places_.values())
        here.places.push_back(place_index(other.modules_.values(), {.offset = place.offset, .module = place.module}));
    other.renumber(here);
    append(standings_, std::move(other.standings_));
    append(entries_, std::move(other.entries_));
    append(memberships_, std::move(other.memberships_));
    append(made_, std::move(other.made_));
    append(enqueued_with_, std::move(other.enqueued_with_));
}

}  // namespace

std::unique_ptr<MergePart> standings_part() { return std::make_unique<PartOf<StandingsPart>>(); }

}  // namespace mpiprof::report
