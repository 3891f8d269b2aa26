// Each question goes to the real library, about handles that it has just given out or accepted.
#include "libmpiprof/mpi/communicators.h"

#include "libmpiprof/base/text.h"
#include "libmpiprof/process/runtime.h"
#include "libmpiprof/record/call_in_hand.h"

namespace mpiprof::mpi {
namespace {

constexpr std::uint64_t id_of_world = 1;
constexpr std::uint64_t id_of_self = 2;

bool is_null(Word handle) { return handle == profiled.facts.comm_null || handle == 0; }
bool is_predefined(Word handle) { return handle == profiled.facts.world || handle == profiled.facts.self; }

// Whether both may be the same one; wholly: also as far as the program's arrays go by it.
bool is_alike(const CommInfo& a, const CommInfo& b, bool wholly) {
    return a.inter == b.inter && a.size == b.size && a.members == b.members &&
           (!wholly || (a.rank == b.rank && a.in_degree == b.in_degree && a.out_degree == b.out_degree));
}

}  // namespace

CommInfo Communicators::describe(Word handle, bool is_whole) const {
    CommInfo info{handle, 0, false, 0, 0, 0, -1, -1, false, false};
    int flag = 0;
    if (profiled.ask.comm_rank && is_whole) profiled.ask.comm_rank(handle, &info.rank);
    if (profiled.ask.comm_test_inter && profiled.ask.comm_test_inter(handle, &flag) == 0) info.inter = flag != 0;
    if (profiled.ask.comm_size) profiled.ask.comm_size(handle, &info.members);
    info.size = info.members;
    if (info.inter && profiled.ask.comm_remote_size) profiled.ask.comm_remote_size(handle, &info.size);
    int topology = 0, n = 0, weighted = 0;
    if (info.inter || !is_whole || !profiled.ask.topo_test || profiled.ask.topo_test(handle, &topology) != 0)
        return info;
    if (topology == profiled.facts.topo_cart && profiled.ask.cartdim_get && profiled.ask.cartdim_get(handle, &n) == 0)
        info.in_degree = info.out_degree = 2 * n;
    if (topology == profiled.facts.topo_graph && profiled.ask.graph_neighbors_count &&
        profiled.ask.graph_neighbors_count(handle, info.rank, &n) == 0)
        info.in_degree = info.out_degree = n;
    if (topology == profiled.facts.topo_dist_graph && profiled.ask.dist_graph_neighbors_count)
        profiled.ask.dist_graph_neighbors_count(handle, &info.in_degree, &info.out_degree, &weighted);
    return info;
}

// -1 where it is of another world, or of none.
int Communicators::world_rank_in_group(Word group, int rank) const {
    Word world = 0;
    int translated = -1;
    if (profiled.ask.comm_group(profiled.facts.world, &world) != 0) return -1;
    if (profiled.ask.group_translate_ranks(group, 1, &rank, world, &translated) != 0 || translated < 0) translated = -1;
    profiled.ask.group_free(&world);
    return translated;
}

bool Communicators::can_translate() const {
    return has_world && profiled.ask.comm_group && profiled.ask.group_translate_ranks && profiled.ask.group_free;
}

// Once: some libraries keep a group of all its members from then on, for as long as the communicator lives.
int Communicators::world_rank_of_first(Known& k) const {
    if (k.first != not_asked) return k.first;
    k.first = -1;
    if (!can_translate()) return -1;
    const auto first_of = [&](int (*group_of)(Word, Word*)) {
        Word group = 0;
        if (!group_of || group_of(k.info.handle, &group) != 0) return -1;
        const int first = world_rank_in_group(group, 0);
        profiled.ask.group_free(&group);
        return first;
    };
    k.first = first_of(profiled.ask.comm_group);
    if (k.info.inter) {  // both sides have to find the same
        const int theirs = first_of(profiled.ask.comm_remote_group);
        k.first = theirs < k.first ? theirs : k.first;
    }
    return k.first;
}

Communicators::WorldRank Communicators::world_rank(Word handle, int rank, bool is_in_hand) {
    const Entered entered(*this);
    const Known* k = known_.find(handle);
    if (!k || !can_translate() || !(is_in_hand || k->info.is_told)) return {-1, false, false};
    WorldRank found{rank, k->info.is_told, k->like_world};
    if (k->like_world) return found;
    Word group = 0;
    found.rank = -1;
    const auto group_of = k->info.inter ? profiled.ask.comm_remote_group : profiled.ask.comm_group;
    // A rank that is none would be an error, which some libraries end the program for.
    if (rank < 0 || rank >= k->info.size || !group_of || group_of(handle, &group) != 0) return found;
    found.rank = world_rank_in_group(group, rank);
    profiled.ask.group_free(&group);
    return found;
}

int Communicators::world_rank_in_window(Word window, int rank) const {
    Word group = 0;
    if (!can_translate() || !profiled.ask.win_get_group || profiled.ask.win_get_group(window, &group) != 0) return -1;
    const int translated = world_rank_in_group(group, rank);
    profiled.ask.group_free(&group);
    return translated;
}

// A hash of the members' world ranks in their order; 0 if one is of another world.
std::uint64_t Communicators::hash_of_group(Word group) const {
    constexpr int at_once = 256;
    int size = 0, mine[at_once], theirs[at_once];
    Word world = 0;
    if (profiled.ask.group_size(group, &size) != 0 || profiled.ask.comm_group(profiled.facts.world, &world) != 0)
        return 0;
    std::uint64_t result = hash_of_id(3, static_cast<std::uint64_t>(size));
    for (int done = 0; done < size && result != 0; done += at_once) {
        const int n = size - done < at_once ? size - done : at_once;
        for (int i = 0; i < n; ++i) mine[i] = done + i;
        bool known = profiled.ask.group_translate_ranks(group, n, mine, world, theirs) == 0;
        for (int i = 0; i < n && known; ++i) {
            known = theirs[i] >= 0;
            result = hash_of_id(result, static_cast<std::uint64_t>(theirs[i]));
        }
        if (!known) result = 0;
    }
    profiled.ask.group_free(&world);
    return result;
}

// Both groups of an intercommunicator, the same whichever side asks.
std::uint64_t Communicators::hash_of_members(Word handle, bool inter, std::uint64_t salt) const {
    Word group = 0;
    if (!has_world || !profiled.ask.comm_group || !profiled.ask.group_size || !profiled.ask.group_translate_ranks ||
        !profiled.ask.group_free)
        return 0;
    if (profiled.ask.comm_group(handle, &group) != 0) return 0;
    std::uint64_t members = hash_of_group(group);
    profiled.ask.group_free(&group);
    if (inter && members != 0) {
        if (!profiled.ask.comm_remote_group || profiled.ask.comm_remote_group(handle, &group) != 0) return 0;
        const std::uint64_t others = hash_of_group(group);
        profiled.ask.group_free(&group);
        members = others == 0 ? 0 : members ^ others;
    }
    return members == 0 ? 0 : hash_of_id(members, salt);
}

// A communicator that was not seen being made: one of MPI's own, or made where we did not see it (before the profile
// began, by a tool in front of us). The latter are told apart by their members alone.
Communicators::Known& Communicators::learn(Word handle) {
    Known& k = known_.add(handle);
    k.info = describe(handle);
    k.info.is_told = is_predefined(handle);  // these never end
    k.first = not_asked;
    Word& ended_lately = ended_lately_[short_hash<6>(static_cast<std::uint64_t>(handle))];
    k.uses = ended_lately == handle ? has_just_ended : used_once;
    ended_lately = 0;
    if (handle == profiled.facts.world) {
        k.id = id_of_world;
        k.like_world = true;
        k.first = 0;
    } else if (handle == profiled.facts.self) {
        k.id = hash_of_id(id_of_self, static_cast<std::uint64_t>(world_rank_of_first(k)));
    } else {
        k.id = hash_of_members(handle, k.info.inter, 0);
        k.by_members = true;
    }
    return k;
}

void Communicators::name(const Known& k) const {
    char text[512];  // MPI_MAX_OBJECT_NAME of every known library fits
    text[0] = 0;
    int length = 0;
    if (k.record && profiled.ask.comm_get_name && profiled.ask.comm_get_name(k.info.handle, text, &length) == 0)
        copy(k.record->name, text);
}

void Communicators::publish(Records& records, Known& k) {
    const CommunicatorTable::Slot slot = records.communicators.take(records.image);
    if (!slot.record) return;
    k.record = slot.record;
    k.info.index = slot.index;
    format::Communicator& record = *k.record;
    record.id = k.id;
    record.parent = k.parent;
    record.size = static_cast<std::uint32_t>(k.info.size);
    record.rank = static_cast<std::uint32_t>(k.info.rank);
    record.handle = static_cast<std::uint64_t>(k.info.handle);
    record.fortran_handle =
        profiled.ask.comm_c2f ? static_cast<std::uint64_t>(profiled.ask.comm_c2f(k.info.handle)) : record.handle;
    record.flags = static_cast<std::uint16_t>((k.info.inter ? format::is_intercommunicator : 0) |
                                              (k.by_members ? format::id_by_members : 0) | format::is_not_used);
    record.made_by = call_of(k.made_from);
    record.made_from = k.made_from;
    record.how = k.info.handle == profiled.facts.world  ? format::origin_world
                 : k.info.handle == profiled.facts.self ? format::origin_self
                 : k.made_from != 0                     ? format::origin_made
                                                        : format::origin_unknown;
    if (record.size < 2) record.next_arrival = format::no_arrival;  // alone on it nobody waits
    name(k);
}

// Of one that would not tell of its end, and may have ended since it was looked at last.
Communicators::Known& Communicators::known_now(Word handle, bool& was_stale, bool is_whole) {
    Known* k = known_.find(handle);
    if (!k) return learn(handle);
    if (k->info.is_told) return *k;
    is_whole |= k->uses + 1 >= used_again;  // all that is known of it is to last
    if (is_alike(describe(handle, is_whole), k->info, is_whole)) return *k;
    was_stale = true;
    forget_known(runtime.records(), handle);
    return learn(handle);
}

Communicators::Known& Communicators::known_to_profile(Records& records, Word handle, bool& was_stale, bool is_whole) {
    Known& k = known_now(handle, was_stale, is_whole);
    if (k.info.index == 0) publish(records, k);
    return k;
}

CommInfo Communicators::find(Records& records, Word handle) { return find(records, handle, 1, true); }
CommInfo Communicators::find_index(Records& records, Word handle) { return find(records, handle, 1, false); }
CommInfo Communicators::find_for_later(Records& records, Word handle) {
    return find(records, handle, used_again, true);
}

CommInfo Communicators::find(Records& records, Word handle, std::int8_t uses, bool is_whole) {
    if (is_null(handle)) return {};
    CommInfo info;
    std::uint32_t slot;
    bool was_stale = false;
    {
        const Entered entered(*this);
        Known& k = known_to_profile(records, handle, was_stale, is_whole);
        if (k.info.index == 0)
            count_drop(records.image.header().drops.communicators);
        else
            k.record->flags = static_cast<std::uint16_t>(k.record->flags & ~format::is_not_used);
        if (!k.info.is_told && k.uses != cannot_tell && k.uses < used_again)
            k.uses = static_cast<std::int8_t>(k.uses + uses);
        slot = slot_to_tell(k);
        info = k.info;
    }
    info.was_stale = was_stale;
    if (slot != ToldEnds::none) info.is_told = let_it_tell(handle, slot);
    return info;
}

void Communicators::know(Records& records, Word handle) {
    bool was_stale = false;
    const Entered entered(*this);
    known_to_profile(records, handle, was_stale);
}

bool Communicators::count(Records& records, Word handle, std::uint64_t word) {
    bool was_stale = false;
    const Entered entered(*this);
    const Known& k = known_to_profile(records, handle, was_stale);
    if (k.record) static_cast<CommunicatorTable::Counted*>(k.record)->count_untimed(word);
    return was_stale;
}

std::uint16_t Communicators::index_of_known(Word handle) {
    const Entered entered(*this);
    const Known* k = known_.find(handle);
    return k ? k->info.index : std::uint16_t{0};
}

void Communicators::count_known(Word handle, std::uint64_t word) {
    const Entered entered(*this);
    if (const Known* k = known_.find(handle); k && k->record)
        static_cast<CommunicatorTable::Counted*>(k->record)->count_untimed(word);
}

// ---- communicators that are made ----

Communicators::WereStale Communicators::made(Records& records, Making making, std::uint64_t made_from, Word parent,
                                             Word handle, std::uint64_t salt) {
    const Entered entered(*this);
    std::uint64_t parent_id = 0, before = 0;
    bool like_world = false;
    int first = not_asked;
    CommInfo info{};
    WereStale stale{};
    if (!is_null(parent)) {
        Known& from = known_now(parent, stale.parent);
        parent_id = from.id;
        if (making != Making::by_members) before = from.children++;
        if (making == Making::alike || making == Making::copied || making == Making::later) {
            like_world = from.like_world;
            first = world_rank_of_first(from);
            info = from.info;
        }
    }
    if (is_null(handle)) return stale;
    stale.handle = forget_known(records, handle) || known_.has_lost_some();
    if (making == Making::unknown) return stale;
    Known& k = known_.add(handle);
    if (making == Making::copied || making == Making::later) {
        k.info = info;
        k.info.handle = handle;
        k.info.index = 0;
        k.info.is_told = k.info.was_stale = false;
    } else {
        k.info = describe(handle);
    }
    k.parent = parent_id;
    k.made_from = made_from;
    k.by_members = making == Making::by_members;
    k.like_world = like_world;
    k.first = first;
    if (k.by_members)
        k.id = hash_of_members(handle, k.info.inter, hash_of_id(salt, 4));
    else if (parent_id != 0)
        k.id = hash_of_id(hash_of_id(parent_id, before), static_cast<std::uint64_t>(world_rank_of_first(k)));
    if (making != Making::later) publish(records, k);
    return stale;
}

// Its record stays, unless nothing is in it; its handle may be another's soon.
bool Communicators::forget_known(Records& records, Word handle) {
    Known* k = known_.find(handle);
    if (!k) return false;
    told_.pass(k->slot);
    if (k->record) {
        k->record->handle = k->record->fortran_handle = 0;
        if ((k->record->flags & format::is_not_used) != 0 && k->record->collectives == 0)
            records.communicators.give_back({k->record, k->info.index});
    }
    return known_.forget(handle);
}

void Communicators::forget(Records& records, Word handle) {
    const Entered entered(*this);
    forget_known(records, handle);
}

void Communicators::may_have_ended(Word handle) {
    if (!lock_.try_lock()) {
        has_missed_an_end_ = true;
        return;
    }
    if (Known* k = known_.find(handle)) {
        k->made_from = call_key(call_of(k->made_from), 0);
        if (k->record) k->record->made_from = 0;
    }
    lock_.unlock();
}

void Communicators::renamed(Word handle) {
    const Entered entered(*this);
    if (const Known* k = known_.find(handle)) name(*k);
}

}  // namespace mpiprof::mpi
