// MPI as wrap/ wants it: rows at compile time, and the slow questions about communicators, types and sizes. The state
// of the one MPI library that is profiled lies here. Used by the symbols of this room.
#pragma once

#include "libmpiprof/gpu/pointers.h"
#include "libmpiprof/mpi/rows.h"
#include "libmpiprof/wrap/wrap.h"

namespace mpiprof::mpi {

// A window's handle may be the same word as a communicator's.
inline constexpr Word of_window = Word{1} << 61;

// The real function of that name. No tool defines the profiling names, and each object of an MPI library has one of
// these.
inline wrap::Real find_real(const char* name, Word return_address) {
    return wrap::find_real(name, return_address, "PMPI_Init\0pmpi_init_\0pmpi_init_f08_\0pmpir_init_f08_\0");
}

// Everything remembered about the profiled library. Constant-initialised, never destroyed.
class Library {
  public:
    // True for the first MPI library of the process, which is the one that is profiled.
    bool adopt(const void* init_function);
    bool several = false;
    bool is_over = false;  // finalised: calls are handed on, and nothing is asked, whoever else goes on recording
    bool is_ours(const void* function) const;

    void identify(const void* init_function);
    bool is_identified = false;
    bool is_known() const { return profiled.facts.family != MpiFamily::unknown; }

    // The life of a C handle ends or begins: what its value meant is forgotten by every thread, in both languages.
    void end_of_type(Word type) { runtime.end_of_type(type); }
    void end_of_communicator(Word comm);
    void end_of_window(Word win);

    // Communicators, types and windows tell us of their end from now on.
    void begin_to_watch();
    // The communicator behind a valid C handle.
    CommInfo communicator(Word handle) { return current(communicators.find(runtime.records(), handle), handle); }
    // One that is asked about later, when it may be gone.
    CommInfo communicator_for_later(Word handle) {
        return current(communicators.find_for_later(runtime.records(), handle), handle);
    }
    std::uint64_t type_size(Ledger& ledger, Word type);
    // What a memo is to know of valid C handles.
    void ask_type(Ledger& ledger, Word type, Meaning& meaning);
    void ask_communicator(Ledger& ledger, Word comm, Meaning& meaning);
    Word comm_from_fortran(Word comm) const;
    Word type_from_fortran(Word type) const;
    Word win_from_fortran(Word win) const;
    // The record that counts a peer of this communicator (or window), both as the call in hand has passed them. It is
    // asked once what they stand for. peer_later(): of a call that is over, so that the communicator may be gone.
    format::Peer& peer(Ledger& ledger, Word key, Word c_comm, int peer, bool is_in_hand = true);
    format::Peer& peer_later(Ledger& ledger, Word key, Word c_comm, int to) {
        return peer(ledger, key, c_comm, to, false);
    }
    format::Peer& peer_of_window(Ledger& ledger, Word key, Word c_win, int peer);
    Word normal(Word handle) const { return profiled.facts.wide_handles ? handle : static_cast<std::int32_t>(handle); }

    // Before a call that posts, completes, starts or frees a request, or probes for or receives a message: the first of
    // another language than the ones before says that they mix.
    void meet_requests(Ledger& ledger, bool fortran) {
        if (profiled.facts.wide_handles) meet_language(ledger, fortran ? 2 : 1);
    }

    // A call on a valid C handle that was not recorded.
    void count_in_order(Word comm, std::uint64_t word);

    Communicators communicators{};

  private:
    // What was remembered of the one before it goes.
    CommInfo current(const CommInfo& info, Word handle) {
        if (info.was_stale) [[unlikely]]
            end_of_communicator(handle);
        return info;
    }
    void meet_language(Ledger& ledger, std::uint64_t language);
    void count_met(Word comm, std::uint64_t word);
    void learn_type(Ledger& ledger, Word type, Memos::Types::Known* known, Meaning& meaning);
    void learn_communicator(Ledger& ledger, Word comm, Meaning& meaning);
    // Whether the call in hand, on an intercommunicator, moves nothing for this rank.
    void look_who_stands_by(Ledger& ledger, Meaning& meaning);

    const void* first_ = nullptr;  // PMPI_Init of the profiled library: identifies it
};
[[gnu::visibility("hidden")]] extern constinit Library library;

// What is asked of a language's handles and statuses, whatever its counts and buffers look like.
struct FortranHandles : wrap::InFortran {
    static bool ignores_status(Word w) {
        const auto* address = reinterpret_cast<const void*>(w);
        return !address || address == profiled.facts.fortran_status_ignore ||
               address == profiled.facts.f08_status_ignore;
    }
    static Word c_comm(Word w) { return library.comm_from_fortran(w); }
    static Word c_type(Word w) { return library.type_from_fortran(w); }
    static Word c_win(Word w) { return library.win_from_fortran(w); }
    static bool ignores_statuses(Word w) {
        const auto* address = reinterpret_cast<const void*>(w);
        const void *mpif = profiled.facts.fortran_statuses_ignore, *f08 = profiled.facts.f08_statuses_ignore;
        return !address || (!mpif && !f08) || address == mpif || address == f08;
    }
    static Word handle_at(Word array, std::int64_t i) { return reinterpret_cast<const int*>(array)[i]; }
    static bool is_null_request(Word request) { return request == profiled.facts.fortran_request_null; }
    // Open MPI's is 0, which the table cannot hold.
    static bool is_no_request(Word request) { return is_null_request(request); }
    static bool is_complete_at_once(Word request) { return profiled.facts.fortran_complete.are_of(request); }
    // C's handles for the same; 0: there are none, or they are the same words.
    static Word other_request(Word request) {
        return profiled.ask.request_f2c ? profiled.ask.request_f2c(static_cast<int>(request)) : 0;
    }
    static Word other_message(Word message) {
        return profiled.ask.message_f2c ? profiled.ask.message_f2c(static_cast<int>(message)) : 0;
    }
    static Word group_key(Word comm) { return comm ^ (Word{1} << 62); }  // never 0, nor a C handle
    static void copy_handles(Word* copy, Word array, std::int64_t n) {
        for (const int *h = reinterpret_cast<const int*>(array), *end = h + n; h != end; ++h) *copy++ = *h;
    }
    static constexpr int first_index = 1;
};
struct CHandles : wrap::InC {
    static bool ignores_status(Word w) { return w == profiled.facts.status_ignore; }
    static Word c_comm(Word w) { return library.normal(w); }
    static Word c_type(Word w) { return library.normal(w); }
    static Word c_win(Word w) { return library.normal(w); }
    static bool ignores_statuses(Word w) { return w == profiled.facts.statuses_ignore; }
    static Word handle_at(Word array, std::int64_t i) {
        return profiled.facts.wide_handles ? reinterpret_cast<const Word*>(array)[i]
                                           : reinterpret_cast<const std::int32_t*>(array)[i];
    }
    static bool is_null_request(Word request) { return request == profiled.facts.request_null; }
    // The null handle is remembered like another: seldom posted, and looked at only where nobody remembers it.
    static bool is_no_request(Word) { return false; }
    static bool is_complete_at_once(Word request) { return profiled.facts.complete.are_of(request); }
    // Fortran's.
    static Word other_request(Word request) { return profiled.ask.request_c2f ? profiled.ask.request_c2f(request) : 0; }
    static Word other_message(Word message) { return profiled.ask.message_c2f ? profiled.ask.message_c2f(message) : 0; }
    static Word group_key(Word comm) { return comm; }
    static void copy_handles(Word* copy, Word array, std::int64_t n) {
        if (!profiled.facts.wide_handles) return FortranHandles::copy_handles(copy, array, n);
        for (const Word *h = reinterpret_cast<const Word*>(array), *end = h + n; h != end; ++h) *copy++ = *h;
    }
    static constexpr int first_index = 0;
};

// And what is before the real call. Fortran's TYPE(*), DIMENSION(..) passes a buffer by descriptor, the address first.
template <bool Large, bool Descriptor>
struct FortranBinding : FortranHandles {
    using Behind = FortranHandles;
    static std::int64_t count(Word w) { return wrap::Fortran<Large>::count(w); }
    static std::int64_t count_at(Word array, std::int64_t i) { return wrap::Fortran<Large>::count_at(array, i); }
    static Word buffer(Word w) { return Descriptor ? *reinterpret_cast<const Word*>(w) : w; }
    static bool is_in_place(Word w) {
        const auto* address = reinterpret_cast<const void*>(buffer(w));
        return address && (address == profiled.facts.fortran_in_place || address == profiled.facts.f08_in_place);
    }
};
template <bool Large>
struct CBinding : CHandles {
    using Behind = CHandles;
    static std::int64_t count(Word w) { return wrap::C<Large>::count(w); }
    static std::int64_t count_at(Word array, std::int64_t i) { return wrap::C<Large>::count_at(array, i); }
    static Word buffer(Word w) { return w; }
    static bool is_in_place(Word w) { return w == profiled.facts.in_place; }
};

// Where languages mix: a request is known by the handle of the language that posted it, and whoever completes, starts
// or frees it in another one finds it by that. Asked before the real call, after which the handle may mean nothing.
template <class Language>
[[gnu::noinline]] void find_keys(Ledger& ledger, Word* handles, std::int64_t n) {
    for (Word *handle = handles, *end = handles + n; handle != end; ++handle) {
        if (Language::is_null_request(*handle) || Language::is_complete_at_once(*handle)) continue;
        if (ledger.requests.are_known_by(*handle)) continue;
        const Word other = Language::other_request(*handle);
        if (other != 0 && ledger.requests.are_known_by(other)) *handle = other;
    }
}
template <class Language>
[[gnu::noinline]] Word key_of_message(const Ledger& ledger, Word handle) {
    if (!ledger.requests.are_mixed()) return handle;
    const Word other = Language::other_message(handle);
    return ledger.message(other) ? other : handle;
}

// What wrap.h is instantiated with.
struct Mpi {
    using Id = mpi::Id;
    static constexpr std::uint16_t first_id = 0;
    static constexpr std::size_t calls = mpi::calls;
    static constexpr int spellings = 9;
    static constexpr int mpif_spelling = 1, cptr_spelling = 8;  // mpi_x_ and mpi_x__
    static constexpr Facts facts_of(Id id) { return Facts(id); }

    template <class Language, class Row>
    static void follow(Row row, Ledger& ledger, std::uint64_t key, const Word* words) {
        const auto& facts = row.facts;
        const wrap::AnyRow<Mpi> any(facts.id);
        switch (facts.makes) {
            case Makes::set_up:
                return remember_set_up<Language>(any, ledger, words);
            case Makes::type:
                if (!facts.has(Role::newtype))
                    return follow_window<typename Language::Behind>(words[facts.at(Role::newwin)]);
                return follow_type<typename Language::Behind>(words[facts.at(Role::newtype)], facts.is_freed_by_program,
                                                              ledger, key);
            case Makes::types:
                return library.is_known() ? runtime.forget_handles() : void();
            case Makes::communicator:
                return follow_communicator<Language>(any, words, key);
            case Makes::nothing:
                return;
        }
    }
    // Communicators are made once and used for long, and their number is part of the ids of others. A call inside
    // another is part of that, or of a callback of the user's, whose communicators are met when they are used.
    template <class Language, class Row>
    static void follow_unrecorded(Row row, const Word* words, bool is_part) {
        if (row.facts.makes == Makes::communicator && runtime.is_recording() && !is_part)
            follow_communicator<Language>(row, words, call_key(row.facts.id, 0));
    }
    // creation.h
    template <class Handles>
    static void follow_type(Word made, bool is_freed_by_program, Ledger& ledger, std::uint64_t key);
    template <class Handles>
    static void follow_window(Word made);
    template <class Language, class Row>
    static void follow_communicator(Row row, const Word* words, std::uint64_t made_from);
    template <class Language, class Row>
    static void remember_set_up(Row row, Ledger& ledger, const Word* words);  // sizes.h
    template <class Language, class Row>
    static void count_unrecorded(Row row, const Word* words, Word result);  // bookers.h
    // The fast form asks neither whether the library is known, nor whether its statuses tell how much has arrived.
    static bool may_be_quick(std::uint16_t id) {
        return library.is_known() && (profiled.facts.count_at != FamilyFacts::not_known ||
                                      whole_catalogue.calls[id].size_rule != SizeRule::received);
    }
    // What MPI calls of itself is for the plain form.
    static bool is_own_code(Word) { return false; }
    static bool is_within_unseen(Word, const void*) { return false; }
    // Whose memory the buffer is, in processes that use a GPU: such calls take the plain form then.
    static bool watches(std::uint16_t id) {
        return moves_buffers(whole_catalogue.calls[id].traffic) &&
               (gpu::pointers.is_on() || begins_to_watch(gpu::pointers.look()));
    }
    // The program may have begun to use a GPU.
    static void looks_again() {
        if (!gpu::pointers.is_on()) begins_to_watch(gpu::pointers.look_for_news());
    }
    static bool begins_to_watch(bool is_on) {
        if (is_on) wrap::look_at_all_again<Mpi>();
        return is_on;
    }
    template <class Language, class Row>
    static void before_real(Row row, Ledger& ledger, const Word* words) {
        const auto& [first, second] = row.facts.buffers;
        Word buffer = words[first];
        if (second >= 0 && Language::is_in_place(buffer)) buffer = words[second];
        ledger.hand.buffer = gpu::pointers.kind_of(Language::buffer(buffer));
    }
    template <class Row>
    static void after_real(Row, Word) {}
    template <class Row>
    static void unrecorded(Row, const Word*, Word) {}
    template <class Language, class Row>
    static void wait_first(Row row, Ledger* ledger, const Word* frame, Word return_address, const Word* words) {
        const auto barrier = static_cast<std::uint16_t>(Catalogue::barrier_before + row.facts.id);
        put_barrier(ledger, frame, call_key(barrier, return_address),
                    Language::c_comm(Language::handle(words[row.facts.at(Role::comm)])));
    }
    static void put_barrier(Ledger* ledger, const Word* frame, std::uint64_t key, Word comm);  // library.cpp
    static wrap::Real real(int spelling, const char* name, Word return_address) {
        return spelling == mpif_spelling || spelling == cptr_spelling ? find_mangled(name, return_address)
                                                                      : find_real(name, return_address);
    }
    static wrap::Real find_mangled(const char* name, Word return_address);
    static bool several() { return library.several; }
    static bool is_off() { return library.is_over; }
    static Word missing(const char* name) { wrap::no_such_function(name); }
    static void begin_late(std::uint16_t id, const void* real);  // special.cpp
    static bool is_foreign(const wrap::Real& real) { return library.several && !library.is_ours(real.function); }

    template <class Language, class Row>
    static void before_free(Row row, Ledger& ledger, const Word* words) {
        forget<Language>(row, &ledger, words);
    }
    // What is known of types ends with a pause in any case. Inside another call of MPI, which may hold locks of its
    // own, nobody is to wait for ours.
    template <class Language, class Row>
    static void free_unrecorded(Row row, const Word* words, bool is_part) {
        if (!runtime.is_recording() || words[0] == 0) return;
        const Ends ends = row.facts.ends;
        if (ends == Ends::type) {
            if (library.is_known()) runtime.records().types.ended(Language::c_type(Language::handle_at(words[0], 0)));
        } else if (ends == Ends::request || !is_part) {
            forget<Language>(row, thread_state.ledger, words);
        } else if (ends == Ends::communicator) {
            if (library.is_known())
                library.communicators.may_have_ended(Language::c_comm(Language::handle_at(words[0], 0)));
        }
    }

    template <class Language>
    [[gnu::noinline]] static Meaning meaning(Ledger& ledger, Word type, Word comm, std::int64_t count) {
        Meaning meaning{1, 0};
        const bool is_known = library.is_known();
        // First, since it tells who passes a type for nothing.
        if (is_known && comm != no_handle) library.ask_communicator(ledger, Language::c_comm(comm), meaning);
        if (type == no_handle) return meaning;
        // Without elements, or beside the root, a type is not significant: it may be MPI_DATATYPE_NULL, or a type that
        // was freed, and MPI ends the program that asks for the size of such a one.
        if (is_known && count > 0 && meaning.type_size != 0)
            library.ask_type(ledger, Language::c_type(type), meaning);
        else
            meaning.type_size = 0, meaning.is_lasting = false;
        return meaning;
    }

    // sizes.h
    template <class Language, class Row>
    [[gnu::always_inline]] static inline bool store(Row row, Ledger& ledger, Word* words);
    template <class Language, class Row>
    static void measure(Row row, Ledger& ledger, const Word* words);
    template <Id I, class Language>
    struct Size;

  private:
    // What the handle meant. `ledger` of the calling thread, if it has one.
    template <class Language, class Row>
    static void forget(Row row, Ledger* ledger, const Word* words) {
        if (words[0] == 0) return;                             // an error, which is MPI's to report
        const Word handle = Language::handle_at(words[0], 0);  // the argument points at it
        const Ends ends = row.facts.ends;
        if (ends == Ends::request) {
            if (!ledger) return;
            if (Language::is_complete_at_once(handle)) return ledger->requests.pass_complete();
            Word key = handle;
            library.meet_requests(*ledger, Language::fortran);
            if (ledger->requests.are_mixed()) find_keys<Language>(*ledger, &key, 1);
            return ledger->forget_request(key);
        }
        if (!library.is_known())
            return;  // nor was anything asked, and its handles may be wider than they are taken for
        if (ends == Ends::communicator) {
            library.communicators.forget(runtime.records(), Language::c_comm(handle));
            library.end_of_communicator(Language::c_comm(handle));
        } else if (ends == Ends::window) {
            library.end_of_window(Language::c_win(handle));
        } else {
            library.end_of_type(Language::c_type(handle));
        }
    }
};

}  // namespace mpiprof::mpi
