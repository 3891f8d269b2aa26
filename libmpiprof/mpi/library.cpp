// Questions about the library and its types, asked once and remembered until the handle's life ends.
#include "libmpiprof/mpi/library.h"

#include <string.h>

namespace mpiprof::mpi {

constinit Library library;

bool Library::adopt(const void* init_function) {
    const void* canonical = wrap::find_beside("PMPI_Init", init_function);
    if (!canonical) canonical = init_function;
    if (!first_) first_ = canonical;
    return first_ == canonical;
}

bool Library::is_ours(const void* function) const { return wrap::find_beside("PMPI_Init", function) == first_; }

void Library::identify(const void* init_function) {
    profiled = mpi::identify(init_function);
    is_identified = true;
}

Word Library::comm_from_fortran(Word comm) const {
    return profiled.ask.comm_f2c ? profiled.ask.comm_f2c(static_cast<int>(comm)) : comm;
}
Word Library::type_from_fortran(Word type) const {
    return profiled.ask.type_f2c ? profiled.ask.type_f2c(static_cast<int>(type)) : type;
}

Word Library::win_from_fortran(Word win) const {
    return profiled.ask.win_f2c ? profiled.ask.win_f2c(static_cast<int>(win)) : win;
}

format::Peer& Library::peer(Ledger& ledger, Word key, Word c_comm, int peer) {
    if (format::Peer* known = ledger.peers.known(key, peer)) return *known;
    if (peer == profiled.facts.proc_null) return ledger.peers.learn_nobody(key, peer);
    if (peer == profiled.facts.any_source) return ledger.peers.of_rank(format::peer_any, format::PeerKind::messages);
    if (communicators.is_like_world(c_comm)) ledger.peers.learn_like_world(key);
    const int rank = communicators.world_rank(c_comm, peer);
    return ledger.peers.learn(key, peer, rank >= 0 ? static_cast<std::uint32_t>(rank) : format::peer_unknown,
                              format::PeerKind::messages);
}

format::Peer& Library::peer_of_window(Ledger& ledger, Word key, Word c_win, int peer) {
    if (format::Peer* known = ledger.peers.known(key, peer)) return *known;
    if (peer == profiled.facts.proc_null) return ledger.peers.learn_nobody(key, peer);
    const int rank = communicators.world_rank_in_window(c_win, peer);
    return ledger.peers.learn(key, peer, rank >= 0 ? static_cast<std::uint32_t>(rank) : format::peer_unknown,
                              format::PeerKind::one_sided);
}

std::uint64_t Library::type_size(Ledger& ledger, Word type) {
    Meaning meaning{0, 0};
    ask_type(ledger, type, meaning);
    return meaning.type_size;
}

void Library::ask_type(Ledger& ledger, Word type, Meaning& meaning) {
    // MPICH's predefined types carry their size in the handle: 0x4c00SSxx. They never end.
    if (profiled.facts.family == MpiFamily::mpich && (static_cast<std::uint32_t>(type) & 0xffff0000u) == 0x4c000000u) {
        meaning.type_size = static_cast<std::uint64_t>(type) >> 8 & 0xff;
        return;
    }
    const Memos::Types::Known* known = ledger.memos.known_type(type);
    if (known) {
        meaning.type_size = known->meaning;
        meaning.is_lasting &= known->lasts();
        meaning.type_at = ledger.memos.slot_of_type(type);
        return;
    }
    if (type == profiled.facts.type_null) {  // MPI never takes it for a type, but lets it pass where nobody looks
        meaning.type_size = 0;
        meaning.is_lasting = false;
        return;
    }
    ledger.will_learn_type(type);
    std::int64_t bytes = 0;
    if (!profiled.ask.type_size_x || profiled.ask.type_size_x(type, &bytes) != 0 || bytes < 0) bytes = 0;
    meaning.type_size = static_cast<std::uint64_t>(bytes);
    meaning.is_lasting = false;
    ledger.memos.learn_type(type, meaning.type_size);
}

void Library::ask_communicator(Ledger& ledger, Word comm, Meaning& meaning) {
    const Memos::Comms::Known* known = ledger.memos.known_comm(comm);
    if (!known) return learn_communicator(ledger, comm, meaning);
    meaning.communicator = static_cast<std::uint16_t>(known->meaning);
    meaning.is_lasting &= known->lasts();
    meaning.comm_at = ledger.memos.slot_of_comm(comm);
    if (ledger.records().communicators.at(meaning.communicator).flags & format::is_intercommunicator) [[unlikely]]
        look_who_stands_by(ledger, meaning);
}

// A function of its own, so that what it saves and restores is not on the way of what is known.
[[gnu::noinline]] void Library::learn_communicator(Ledger& ledger, Word comm, Meaning& meaning) {
    const CommInfo info = communicator(comm);
    meaning.communicator = info.index;
    meaning.is_lasting = false;
    ledger.memos.learn_comm(comm, info.index);
    if (info.inter) look_who_stands_by(ledger, meaning);
}

// Between two groups the ranks beside the root name MPI_PROC_NULL as the root and move nothing, whatever they pass
// besides. No memo may hold the handles of such a call, so that each one is looked at.
void Library::look_who_stands_by(Ledger& ledger, Meaning& meaning) {
    const std::uint16_t call = call_of(ledger.hand.key());
    if (!(ledger.records().catalogue.info(call).arguments & format::has_root)) return;
    meaning.is_lasting = false;
    if (ledger.hand.peer() == profiled.facts.proc_null) meaning.type_size = 0;
}

// Fortran's calls remember it by a key of their own: FortranBinding::group_key().
void Library::end_of_communicator(Word comm) {
    const Word fortran = profiled.ask.comm_c2f ? profiled.ask.comm_c2f(comm) : comm;
    runtime.end_of({HandleKind::communicator, comm, FortranBinding<false, false>::group_key(fortran)});
}

void Library::end_of_window(Word win) {
    const Word fortran = profiled.ask.win_c2f ? profiled.ask.win_c2f(win) : win;
    runtime.end_of({HandleKind::window, win ^ of_window, FortranBinding<false, false>::group_key(fortran) ^ of_window});
}

// The only communication of ours, and only because the user asked for it. Booked as a call of its own; without a ledger
// it is made all the same, since the other ranks are in it.
void Mpi::put_barrier(Ledger* ledger, const Word* frame, std::uint64_t key, Word comm) {
    if (!profiled.ask.barrier || comm == profiled.facts.comm_null) return;  // an error, which is MPI's to report
    if (!ledger) {
        profiled.ask.barrier(comm);
        return;
    }
    runtime.knows_call(call_of(key));
    thread_state.token = frame;
    wrap::begin<Mpi>(*ledger, call_of(key), address_of(key), false);
    ledger->hand.set_comm(comm);
    const int result = profiled.ask.barrier(comm);
    const Ticks end = ledger->read_clock();
    ledger->hand.leave();
    wrap::leave_plainly<Mpi, CBinding<false>, wrap::Sizeless>(result, *ledger, end);
}

// One wrapper serves both manglings of a Fortran name, and so must find whichever the library exports.
wrap::Real Mpi::find_mangled(const char* name, Word return_address) {
    wrap::Real real = find_real(name, return_address);  // mpi_x_
    const std::size_t length = strlen(name);
    char other[80];
    if (real.function || length + 2 > sizeof other) return real;
    memcpy(other, name, length);
    other[length] = '_';
    other[length + 1] = 0;
    return find_real(other, return_address);  // mpi_x__
}

}  // namespace mpiprof::mpi
