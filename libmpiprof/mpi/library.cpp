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

// Nothing is remembered of the ranks of a communicator that would not tell of its end.
format::Peer& Library::peer(Ledger& ledger, Word key, Word c_comm, int peer, bool is_in_hand) {
    if (format::Peer* known = ledger.peers.known(key, peer)) return *known;
    if (peer == profiled.facts.proc_null) return ledger.peers.learn_nobody(key, peer);
    if (peer == profiled.facts.any_source) return ledger.peers.of_rank(format::peer_any, format::PeerKind::messages);
    const Communicators::WorldRank found = communicators.world_rank(c_comm, peer, is_in_hand);
    const std::uint32_t rank = found.rank >= 0 ? static_cast<std::uint32_t>(found.rank) : format::peer_unknown;
    if (!found.is_told) return ledger.peers.of_rank(rank, format::PeerKind::messages);
    if (found.like_world) ledger.peers.learn_like_world(key);
    return ledger.peers.learn(key, peer, rank, format::PeerKind::messages);
}

format::Peer& Library::peer_of_window(Ledger& ledger, Word key, Word c_win, int peer) {
    if (format::Peer* known = ledger.peers.known(key, peer)) return *known;
    if (peer == profiled.facts.proc_null) return ledger.peers.learn_nobody(key, peer);
    const int found = communicators.world_rank_in_window(c_win, peer);
    const std::uint32_t rank = found >= 0 ? static_cast<std::uint32_t>(found) : format::peer_unknown;
    if (!communicators.tells_of_window(c_win)) return ledger.peers.of_rank(rank, format::PeerKind::one_sided);
    return ledger.peers.learn(key, peer, rank, format::PeerKind::one_sided);
}

// What Handles know of a type that is met for the first few times; and of a communicator beside its index.
constexpr std::uint32_t asked_each_time = ~std::uint32_t{0};
constexpr std::uint32_t is_inter = 1u << 16;

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
    Memos::Types::Known* const known = ledger.memos.known_type(type);
    if (!known || known->meaning == asked_each_time) return learn_type(ledger, type, known, meaning);
    meaning.type_size = known->meaning;  // remembered since it lasts
    meaning.type_at = ledger.memos.slot_of_type(type);
}

// A function of its own, so that what it saves and restores is not on the way of what is known. The size is remembered
// once the type lasts: then it is to tell of its end, which costs an MPI more than the questions before.
[[gnu::noinline]] void Library::learn_type(Ledger& ledger, Word type, Memos::Types::Known* known, Meaning& meaning) {
    meaning.type_size = 0;
    meaning.is_lasting = false;
    if (type == profiled.facts.type_null) return;  // MPI never takes it for a type, but lets it pass where nobody looks
    ledger.will_learn_type(type);
    std::int64_t bytes = 0;
    if (!profiled.ask.type_size_x || profiled.ask.type_size_x(type, &bytes) != 0 || bytes < 0) return;
    meaning.type_size = static_cast<std::uint64_t>(bytes);
    if (!known) {
        ledger.memos.learn_type(type, asked_each_time);
    } else if (known->lasts()) {
        if (meaning.type_size < asked_each_time && communicators.tells_of_type(type))
            known->meaning = static_cast<std::uint32_t>(bytes);
        else
            known->uses = 1;
    }
}

void Library::ask_communicator(Ledger& ledger, Word comm, Meaning& meaning) {
    const Memos::Comms::Known* known = ledger.memos.known_comm(comm);
    if (!known) return learn_communicator(ledger, comm, meaning);
    meaning.communicator = static_cast<std::uint16_t>(known->meaning);
    meaning.comm_at = ledger.memos.slot_of_comm(comm);
    if ((known->meaning & is_inter) != 0) [[unlikely]]
        look_who_stands_by(ledger, meaning);
}

[[gnu::noinline]] void Library::learn_communicator(Ledger& ledger, Word comm, Meaning& meaning) {
    const CommInfo info = current(communicators.find_index(runtime.records(), comm), comm);
    meaning.communicator = info.index;
    meaning.is_lasting = false;
    if (info.is_told)
        if (Memos::Comms::Known* known = ledger.memos.learn_comm(comm, info.index)) {
            known->uses = Memos::Comms::lasting;  // one that is used again
            if (info.inter) known->meaning |= is_inter;
        }
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

namespace {

// Fortran's calls remember it by a key of their own: FortranHandles::group_key().
void end_of(HandleKind kind, Word c, Word fortran) {
    const Word mark = kind == HandleKind::window ? of_window : 0;
    runtime.end_of({kind, c ^ mark, FortranHandles::group_key(fortran) ^ mark});
}

// What MPI calls when the life of something ends that has an attribute of ours, in whichever call that happens. Nothing
// is asked there, and nobody waited for who may wait for MPI.
int communicator_ended(Word, int, void* slot, void*) {
    if (const ToldEnds::Handles ended = library.communicators.ended(slot); ended.c != 0)
        end_of(HandleKind::communicator, ended.c, ended.fortran);
    return 0;
}
int window_ended(Word win, int, void* fortran, void*) {
    end_of(HandleKind::window, library.normal(win), reinterpret_cast<Word>(fortran));
    return 0;
}
int type_ended(Word type, int, void*, void*) {
    library.end_of_type(library.normal(type));
    return 0;
}

}  // namespace

void Library::begin_to_watch() { communicators.begin_to_watch(communicator_ended, window_ended, type_ended); }

void Library::end_of_communicator(Word comm) {
    end_of(HandleKind::communicator, comm, profiled.ask.comm_c2f ? profiled.ask.comm_c2f(comm) : comm);
}

void Library::end_of_window(Word win) {
    end_of(HandleKind::window, win, profiled.ask.win_c2f ? profiled.ask.win_c2f(win) : win);
}

// The other threads learn of it with a new epoch.
void Library::meet_language(Ledger& ledger, std::uint64_t language) {
    std::uint64_t& seen = ledger.records().languages_of_requests;
    if ((relaxed(seen) & language) != 0) return;
    const std::uint64_t before = __atomic_fetch_or(&seen, language, __ATOMIC_RELAXED);
    ledger.requests.mix_if_languages_do();
    if (before != 0 && (before & language) == 0) runtime.forget_handles();
}

void Library::count_in_order(Word comm, std::uint64_t word) {
    if (!communicators.count_told(comm, word)) [[unlikely]]
        count_met(comm, word);
}

[[gnu::noinline]] void Library::count_met(Word comm, std::uint64_t word) {
    if (communicators.count(runtime.records(), comm, word)) end_of_communicator(comm);
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
    wrap::leave_plainly<Mpi, CHandles, wrap::Sizeless>(result, *ledger, end);
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
