// The only questions are ncclCommCount and ncclCommUserRank, of handles that the library has just accepted.
#include "libmpiprof/nccl/communicators.h"

#include "libmpiprof/base/text.h"

namespace mpiprof::nccl {

std::uint64_t hash_of_bytes(const void* bytes, std::size_t n) {
    const auto* byte = static_cast<const unsigned char*>(bytes);
    std::uint64_t result = hash_of_id(5, n);
    for (; n >= 8; byte += 8, n -= 8) {
        std::uint64_t word;
        __builtin_memcpy(&word, byte, sizeof word);
        result = hash_of_id(result, word);
    }
    return result;
}

// Nonblocking communicators answer "in progress" until they are ready: then they are asked again.
void Communicators::ask(Known& k) const {
    int size = 0, rank = 0;
    if (!questions.count || !questions.user_rank) return;
    if (questions.count(k.info.handle, &size) != 0 || questions.user_rank(k.info.handle, &rank) != 0) return;
    k.info.size = size;
    k.info.rank = rank;
    if (!k.record) return;
    k.record->size = static_cast<std::uint32_t>(size);
    k.record->rank = static_cast<std::uint32_t>(rank);
}

void Communicators::publish(Records& records, Known& k) {
    const CommunicatorTable::Slot slot = records.communicators.take(records.image);
    if (!slot.record) return;
    format::Communicator& record = *slot.record;
    record.id = k.id;
    record.parent = k.parent;
    record.size = static_cast<std::uint32_t>(k.info.size);
    record.rank = static_cast<std::uint32_t>(k.info.rank);
    record.handle = static_cast<std::uint64_t>(k.info.handle);
    record.fortran_handle = record.handle;
    record.made_by = k.made_by;
    record.how = k.made_by ? format::origin_made : format::origin_unknown;
    copy(record.name, k.name);
    record.next_arrival = format::no_arrival;  // the host's times say nothing of who came last
    k.record = slot.record;
    k.info.index = slot.index;
    // The dictionary has to know who made it.
    if (k.made_by) records.publish_call(k.made_by);
}

CommInfo Communicators::find(Records& records, Word handle) {
    if (handle == 0) return {};  // as ncclCommGrow has it from those who join
    const Guard guard(lock_);
    Known* k = known_.find(handle);
    if (!k) k = &known_.add(handle);  // it was not seen being made
    if (k->info.size == 0) ask(*k);
    if (k->info.index == 0) publish(records, *k);
    if (k->info.index == 0) count_drop(records.image.header().drops.communicators);
    return k->info;
}

std::uint16_t Communicators::published(Records& records, Known& k) {
    if (k.info.index == 0) publish(records, k);
    return k.info.index;
}

std::uint16_t Communicators::known_index(Records& records, Word handle) {
    const Guard guard(lock_);
    Known* k = known_.find(handle);
    return k ? published(records, *k) : std::uint16_t{0};
}

std::uint16_t Communicators::only_index(Records& records, int rank, int size) {
    const Guard guard(lock_);
    Known* only = nullptr;
    for (Known& k : known_) {
        if (k.info.size == 0) return 0;  // it may be that one
        if (k.info.rank != rank || k.info.size != size) continue;
        if (only) return 0;
        only = &k;
    }
    return only ? published(records, *only) : std::uint16_t{0};
}

CommInfo Communicators::at(std::uint16_t index) {
    const Guard guard(lock_);
    for (const Known& k : known_)
        if (k.info.index == index) return k.info;
    return {};
}

bool Communicators::made(const Made& made) {
    const Guard guard(lock_);
    const bool was_stale = known_.forget(made.handle);
    Known& k = known_.add(made.handle);
    k.info.rank = made.rank;
    k.info.size = made.size;
    k.info.is_nonblocking = made.is_nonblocking;
    k.id = made.id;
    k.parent = made.parent;
    k.made_by = made.call;
    if (made.name) copy(k.name, made.name);
    return was_stale;
}

std::uint64_t Communicators::id_of_child(Word parent, std::uint64_t salt) {
    const Guard guard(lock_);
    Known* k = known_.find(parent);
    if (!k) k = &known_.add(parent);
    const std::uint64_t before = k->children++;
    return k->id == 0 ? 0 : hash_of_id(hash_of_id(k->id, before), salt);
}

std::uint64_t Communicators::id_of_part(Word parent, std::uint64_t salt) {
    const std::uint64_t id = id_of(parent);
    return id == 0 ? 0 : hash_of_id(hash_of_id(id, 9), salt);
}

std::uint64_t Communicators::id_of(Word handle) {
    const Guard guard(lock_);
    const Known* k = known_.find(handle);
    return k ? k->id : 0;
}

bool Communicators::is_nonblocking(Word handle) {
    const Guard guard(lock_);
    const Known* k = known_.find(handle);
    return k && k->info.is_nonblocking;
}

void Communicators::forget(Word handle) {
    const Guard guard(lock_);
    known_.forget(handle);
}

Communicators::Here Communicators::members_here(std::uint64_t id) {
    const Guard guard(lock_);
    Here here{0, 0};
    for (const Known& k : known_) {
        if (k.id != id) continue;
        if (here.members++ == 0 || k.info.rank < here.lowest_rank) here.lowest_rank = k.info.rank;
    }
    return here;
}

}  // namespace mpiprof::nccl
