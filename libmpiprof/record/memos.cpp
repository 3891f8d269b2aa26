// The slow half: memos that are taken, and what happens to them when a handle ends. Called after the real call that
// uses a handle, and before the one that frees it.
#include "libmpiprof/record/memos.h"

namespace mpiprof {

Memo* Memos::known(std::uint64_t key, Word type, Word comm, const Word* frame, const Meaning& meaning, Bytes bytes) {
    Memo& first = this->first(key);
    if (is_of(first, key, frame, meaning, bytes)) {
        if (meaning.is_lasting && !hit(first, key, type, comm)) hold(first, type, comm, meaning);
        return &first;
    }
    Memo* m = seconds_.slots(second_hash(key, first, frame, meaning.communicator, hot_bin(bytes)));
    for (unsigned i = 0; i < 2; ++i, ++m) {
        if (!is_of(*m, key, frame, meaning, bytes)) continue;
        if (first.key != no_key) return m;
        forget_peer(first);
        first = *m;  // its first slot was left to it
        m->key = no_key;
        hold(first, type, comm, meaning);
        return &first;
    }
    return nullptr;
}

void Memos::hold(Memo& first, Word type, Word comm, const Meaning& meaning) {
    const bool is_held = meaning.is_lasting && meaning.type_size <= Memo::largest_type;
    const auto number = static_cast<std::uint8_t>(&first - memos_);
    static_assert(first_memos <= 256);
    if (first.comm != comm || !is_held) peers_[number] = {MemoPeer::no_rank, nullptr};
    if (!is_held) {
        first.type = first.comm = no_such_handle;
        held_at_[number] = {Types::none, Comms::none};
        return;
    }
    first.type = type;
    first.type_size = meaning.type_size & Memo::largest_type;
    first.comm = comm;
    held_at_[number] = {meaning.type_at, meaning.comm_at};
    if (meaning.type_at != Types::none) types_.hold(meaning.type_at, number);
    if (meaning.comm_at != Comms::none) comms_.hold(meaning.comm_at, number);
}

void Memos::forget() {
    for (Memo& m : memos_)
        if (m.key != no_key) m.key = no_key;
    seconds_.forget();
    types_.forget();
    comms_.forget();
}

// ---- handles ----

Memos::Types::Known* Memos::learn_type(Word type, std::uint64_t bytes) {
    if (bytes > ~std::uint32_t{0} || !types_.gives_way(type)) return nullptr;
    const std::uint8_t slot = types_.slot(type);
    release_type(slot);
    return &types_.put(type, static_cast<std::uint32_t>(bytes));
}

Memos::Comms::Known* Memos::learn_comm(Word comm, std::uint16_t index) {
    if (!comms_.gives_way(comm)) return nullptr;
    const std::uint8_t slot = comms_.slot(comm);
    release_comm(slot);
    return &comms_.put(comm, index);
}

void Memos::release_type(std::uint8_t slot) {
    if (types_.at(slot).handle == 0) return;
    types_.end(slot, first_memos, [&](unsigned number) {
        Memo& m = memos_[number];
        if (m.key == no_key || held_at_[number].type != slot) return;
        m.type = no_such_handle;
        held_at_[number].type = Types::none;
    });
}

void Memos::release_comm(std::uint8_t slot) {
    if (comms_.at(slot).handle == 0) return;
    comms_.end(slot, first_memos, [&](unsigned number) {
        Memo& m = memos_[number];
        if (m.key == no_key || held_at_[number].comm != slot) return;
        m.comm = no_such_handle;
        held_at_[number].comm = Comms::none;
        forget_peer(m);
    });
}

}  // namespace mpiprof
