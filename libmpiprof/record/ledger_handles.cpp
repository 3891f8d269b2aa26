// The ledger's side of handles: what is remembered of them, and what is forgotten when one ends. Called after the real
// call that uses a handle, and before the one that frees it; by the ledger's thread alone.
#include "libmpiprof/record/ledger.h"

namespace mpiprof {

Ledger::Types::Known* Ledger::learn_type(Word type, std::uint64_t bytes) {
    if (bytes > ~std::uint32_t{0} || !types_.gives_way(type)) return nullptr;
    const std::uint8_t place = types_.place(type);
    release_type(place);
    return &types_.put(type, static_cast<std::uint32_t>(bytes));
}

Ledger::Comms::Known* Ledger::learn_comm(Word comm, std::uint16_t index) {
    if (!comms_.gives_way(comm)) return nullptr;
    const std::uint8_t place = comms_.place(comm);
    release_comm(place);
    return &comms_.put(comm, index);
}

void Ledger::hold(Memo& first, Word type, Word comm, const Meaning& meaning) {
    const bool is_held = meaning.is_lasting && meaning.type_size <= ~std::uint32_t{0};
    if (first.comm != comm || !is_held) forget_peer(first);
    first.type = is_held ? type : no_such_handle;
    first.comm = is_held ? comm : no_such_handle;
    first.type_size = static_cast<std::uint32_t>(meaning.type_size);
    first.type_at = is_held ? meaning.type_at : Types::none;
    first.comm_at = is_held ? meaning.comm_at : Comms::none;
    const auto number = static_cast<std::uint8_t>(&first - memos_);
    static_assert(first_memos <= 256);
    if (first.type_at != Types::none) types_.hold(first.type_at, number);
    if (first.comm_at != Comms::none) comms_.hold(first.comm_at, number);
}

void Ledger::release_type(std::uint8_t place) {
    if (types_.at(place).handle == 0) return;
    types_.end(place, first_memos, [&](unsigned number) {
        Memo& m = memos_[number];
        if (m.key == no_key || m.type_at != place) return;
        m.type = no_such_handle;
        m.type_at = Types::none;
    });
}

void Ledger::release_comm(std::uint8_t place) {
    if (comms_.at(place).handle == 0) return;
    comms_.end(place, first_memos, [&](unsigned number) {
        Memo& m = memos_[number];
        if (m.key == no_key || m.comm_at != place) return;
        m.comm = no_such_handle;
        m.comm_at = Comms::none;
        forget_peer(m);
    });
}

// A communicator or window: its ranks stood for others, too.
void Ledger::end_of_group(const EndedHandle& ended) {
    if (ended.kind == HandleKind::communicator) {
        if (comms_.at(comms_.place(ended.c)).handle == ended.c) release_comm(comms_.place(ended.c));
        for (const Word key : {ended.c, ended.fortran})
            if (Group& g = const_cast<Group&>(group_place(key)); may_be_same_handle(g.handle, key)) g.handle = 0;
    }
    forget_peers_of(ended.c);
    if (!may_be_same_handle(ended.fortran, ended.c)) forget_peers_of(ended.fortran);
}

void Ledger::forget_peers_of(Word key) {
    if (key == 0) return;
    peers_.forget(key);
    if (has_messages_)
        for (Message& message : messages_)
            if (may_be_same_handle(message.key, key)) message.handle = 0;
    if (has_open_sources_) requests_.forget_communicator(key);
}

void Ledger::forget_memos() {
    for (Memo& m : memos_)
        if (m.key != no_key) m.key = no_key;
    seconds_.forget();
}

void Ledger::forget_handles() {
    types_.forget();
    comms_.forget();
    for (Group& g : groups_) g.handle = 0;
}

void Ledger::enter_epoch(std::uint64_t epoch) {
    if (epoch_ == epoch) return;
    epoch_ = epoch;
    const std::uint64_t forgets = __atomic_load_n(&records_->forgets, __ATOMIC_ACQUIRE);
    bool is_all_gone = forgets != forgets_seen_;
    forgets_seen_ = forgets;
    if (!records_->ended.since(ended_seen_, [&](const EndedHandle& ended) { end_of(ended); })) {
        is_all_gone = true;
        peers_.forget();
        for (Message& message : messages_) message.handle = 0;
        if (has_open_sources_) requests_.forget_communicators();
    }
    if (!is_all_gone) return;
    forget_memos();
    forget_handles();
}

}  // namespace mpiprof
