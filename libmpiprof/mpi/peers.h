// Whom a call exchanges messages with: which of its arguments, or of its status, says so, and what a row's Booker does
// about it besides. The record is found by communicator and rank as they were passed; what they stand for is asked
// once, after success. Used by sizes.h.
#pragma once

#include "libmpiprof/mpi/library.h"

namespace mpiprof::mpi {

// What the second half of a row has to know of how its bytes travel: rows that are alike in it share their code.
struct Partners {
    Way way = Way::nowhere;
    bool is_window = false;  // it goes by a window, else by a communicator
    bool by_status = false;  // who it was may be in the status
    bool is_posted = false;  // it leaves a request behind
    bool is_timed = false;
};

constexpr Partners partners_of(Id id) {
    Partners partners{.way = way_of(id)};
    const bool has_status = has(id, Role::status);
    switch (partners.way) {
        case Way::put:
        case Way::fetched:
            partners.is_window = true;
            break;
        case Way::from_peer:
            partners.by_status = has_status;
            partners.is_posted = has(id, Role::newrequest);
            break;
        case Way::both:
        case Way::from_message:
            partners.by_status = has_status;
            break;
        case Way::probed:
            partners.is_timed = row_of(id).treatment == Treatment::timed;
            break;
        case Way::to_peer:
        case Way::nowhere:
            break;
    }
    return partners;
}

inline int source_in(Word status) {
    int source;
    __builtin_memcpy(&source, reinterpret_cast<const char*>(status) + profiled.facts.source_at, sizeof source);
    return source;
}

// Tags are neither booked nor read where nobody asks for a trace.
inline int tag_in(Word status) {
    return source_in(status + static_cast<Word>(sizeof(int)));
}  // behind the source in every MPI

// Of a library that is not known nothing is, and in Fortran a status that nobody wants cannot be told from one
// everywhere.
template <class Language>
bool tells_source(Word status) {
    const FamilyFacts& facts = profiled.facts;
    return library.is_known() && !Language::ignores_status(status) &&
           (!Language::fortran || facts.fortran_status_ignore || facts.f08_status_ignore);
}

// The key by which this call's peers are known, and the record of one of them.
template <bool IsWindow, class Language>
struct PeersOfCall {
    static constexpr bool is_window = IsWindow;
    [[gnu::always_inline]] static Word key(const Ledger& ledger) {
        if constexpr (is_window)
            return Language::group_key(ledger.hand.window) ^ of_window;
        else
            return Language::group_key(ledger.hand.comm());
    }
    // A memo agrees on the communicator, but not on the window.
    [[gnu::always_inline]] static format::Peer* quick(const Ledger& ledger, [[maybe_unused]] std::size_t offset,
                                                      int peer) {
        if constexpr (is_window)
            return ledger.peers.quick(key(ledger), peer);
        else
            return ledger.quick_peer(offset, key(ledger), peer);
    }
    static format::Peer& record(Ledger& ledger, int peer) {
        if constexpr (is_window)
            return library.peer_of_window(ledger, key(ledger), Language::c_win(ledger.hand.window), peer);
        else
            return library.peer(ledger, key(ledger), Language::c_comm(ledger.hand.comm()), peer);
    }
};

// A tag follows the rank that it goes with, in every call of MPI that has tags.
template <class Language, class Row>
void remember_tags(Row row, Trace& trace, const Word* words) {
    const int dest = row.facts.at(Role::dest), source = row.facts.at(Role::source);
    if (dest >= 0) trace.sent_tag = Language::integer(words[dest + 1]);
    if (source >= 0) trace.received_tag = Language::integer(words[source + 1]);
}

// Books what a call of one peer moves, and then does what its row does besides.
template <Partners P, class Language, class Base>
struct WithPeer : Base {
    using OfCall = PeersOfCall<P.is_window, Language>;
    static constexpr bool outward = P.way == Way::to_peer || P.way == Way::put;
    static constexpr bool by_status = P.by_status, may_stay_open = P.is_posted;

    static constexpr bool has_partner = true;
    static format::Flow& flow(format::Peer& peer) { return outward ? peer.sent : peer.received; }
    [[gnu::always_inline]] static format::Peer* quick_partner(const Ledger& ledger, std::size_t offset) {
        // The status that a look is enough for says all.
        return OfCall::quick(ledger, offset, by_status ? source_in(ledger.hand.status) : ledger.hand.peer());
    }
    static void add_partner(format::Peer* peer, const CallInHand&, const Memo&, Bytes bytes, Ticks ticks) {
        Peers::add(flow(*peer), bytes, ticks);
    }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        if (!library.is_known()) return Base::after(ledger, memo, bytes, ticks);
        int who = ledger.hand.peer();
        if constexpr (by_status)
            if (tells_source<Language>(ledger.hand.status)) who = source_in(ledger.hand.status);
        format::Flow& counted = flow(OfCall::record(ledger, who));
        Peers::add(counted, bytes, ticks);
        if constexpr (!OfCall::is_window) ledger.remember_peer(memo, OfCall::key(ledger), who);
        if constexpr (may_stay_open) {
            // A trace has to know the tag, too.
            const Word request = Language::handle_at(ledger.hand.request, 0);
            if ((who == profiled.facts.any_source || (ledger.trace && ledger.trace->received_tag < 0)) &&
                !Language::is_complete_at_once(request)) {
                const Word comm = Language::c_comm(ledger.hand.comm());
                library.communicator_for_later(comm);
                const Requests::Partner partner{&counted, OfCall::key(ledger),     comm, bytes, ticks, 0,
                                                -1,       memo.cell->communicator, false};
                if (!Language::is_no_request(request)) ledger.requests.post_open(ledger.hand, memo, request, partner);
                return;
            }
        }
        Base::after(ledger, memo, bytes, ticks);
    }
    static void trace(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        if (!library.is_known()) return Base::trace(ledger, memo, bytes, ticks);
        const CallInHand& hand = ledger.hand;
        if constexpr (P.is_window)
            return ledger.trace->call(ledger.hand, memo, bytes, ticks,
                                      {OfCall::record(ledger, ledger.hand.peer()).rank});
        int who = ledger.hand.peer(), tag = outward ? ledger.trace->sent_tag : ledger.trace->received_tag;
        if constexpr (by_status)
            if (tells_source<Language>(hand.status)) who = source_in(hand.status), tag = tag_in(hand.status);
        ledger.trace->call(ledger.hand, memo, bytes, ticks,
                           {OfCall::record(ledger, who).rank, tag < 0 ? -1 : tag,
                            outward ? format::trace_sends : format::trace_receives});
    }
};

// The two sides of an exchange share its time.
template <Partners P, class Language, class Base>
struct WithTwoPeers : Base {
    using OfCall = PeersOfCall<false, Language>;
    static constexpr bool has_status = P.by_status;
    static constexpr bool has_partner = true;

    // How many of the bytes that were booked went out.
    static Bytes sent(const CallInHand& hand, Bytes bytes) {
        if (!has_status || hand.status == 0) return hand.sent;
        return bytes - bytes_in_status(reinterpret_cast<const void*>(hand.status));
    }
    struct Both {
        format::Peer *to, *from;
        explicit operator bool() const { return to && from; }
    };
    [[gnu::always_inline]] static Both quick_partner(const Ledger& ledger, std::size_t) {
        if (!has_status || ledger.hand.status == 0) [[unlikely]]
            return {};
        return {ledger.peers.quick(OfCall::key(ledger), ledger.hand.peer()),
                ledger.peers.quick(OfCall::key(ledger), source_in(ledger.hand.status))};
    }
    // By a memo that holds the type in hand, and so knows its size. Any other memo holds another type: see below.
    static void add_partner(Both both, const CallInHand& hand, const Memo& memo, Bytes bytes, Ticks ticks) {
        add(*both.to, *both.from, static_cast<Bytes>(hand.count) * memo.type_size, bytes, ticks);
    }
    static void add_partner_again(Both both, const CallInHand& hand, const Memo&, Bytes bytes, Ticks ticks) {
        add(*both.to, *both.from, sent(hand, bytes), bytes, ticks);
    }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        if (library.is_known()) {
            const CallInHand& hand = ledger.hand;
            const bool is_told = has_status && hand.status != 0;
            const int source = is_told ? source_in(hand.status) : hand.source;
            format::Peer& to = OfCall::record(ledger, ledger.hand.peer());
            format::Peer& from = OfCall::record(ledger, source);
            add(to, from, sent(hand, bytes), bytes, ticks);
        }
        Base::after(ledger, memo, bytes, ticks);
    }
    static void trace(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        if (!library.is_known()) return Base::trace(ledger, memo, bytes, ticks);
        const CallInHand& hand = ledger.hand;
        const bool is_told = has_status && hand.status != 0;
        const int tag = is_told ? tag_in(hand.status) : ledger.trace->received_tag;
        const std::uint32_t to = OfCall::record(ledger, ledger.hand.peer()).rank;
        const std::uint32_t from = OfCall::record(ledger, is_told ? source_in(hand.status) : hand.source).rank;
        const Bytes outward = sent(hand, bytes);
        ledger.trace->call(ledger.hand, memo, outward, ticks, {to, ledger.trace->sent_tag, format::trace_sends});
        ledger.trace->call(ledger.hand, memo, bytes - outward, ticks,
                           {from, tag < 0 ? -1 : tag, format::trace_receives}, format::TraceKind::received);
    }
    static void add(format::Peer& to, format::Peer& from, Bytes sent, Bytes all, Ticks ticks) {
        Peers::add(to.sent, sent, ticks / 2);
        Peers::add(from.received, all - sent, ticks - ticks / 2);
    }
};

// MPI_Mprobe: the receive of what it found names neither communicator nor rank. (Of MPI_Improbe, which is polled,
// nothing is remembered.)
template <Partners P, class Language, class Base>
struct Probed : Base {
    static bool quick_after(Ledger&, const Memo&, Bytes, Ticks) { return false; }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        const CallInHand& hand = ledger.hand;
        if (library.is_known() && P.is_timed) {
            const int source = tells_source<Language>(hand.status) ? source_in(hand.status) : ledger.hand.peer();
            const Word comm = Language::c_comm(ledger.hand.comm());
            library.communicator_for_later(comm);
            ledger.remember_message(
                {Language::handle_at(hand.message, 0), Language::group_key(ledger.hand.comm()), comm, source});
        }
        Base::after(ledger, memo, bytes, ticks);
    }
};

// The receive of a message that was probed for.
template <Partners P, class Language, class Base>
struct FromMessage : Base {
    static bool quick_after(Ledger&, const Memo&, Bytes, Ticks) { return false; }
    static void after(Ledger& ledger, Memo& memo, Bytes bytes, Ticks ticks) {
        if (library.is_known()) Peers::add(sender(ledger).received, bytes, ticks);
        ledger.forget_message(ledger.hand.message);  // its handle is given out again, maybe by another language
        Base::after(ledger, memo, bytes, ticks);
    }
    static void trace(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        if (!library.is_known()) return Base::trace(ledger, memo, bytes, ticks);
        int tag = -1;
        if constexpr (P.by_status)
            if (tells_source<Language>(ledger.hand.status)) tag = tag_in(ledger.hand.status);
        const Ledger::Message* message = ledger.message(ledger.hand.message);
        const std::uint16_t communicator =
            message ? library.communicators.index_of_known(message->comm) : std::uint16_t{0};
        ledger.trace->call(ledger.hand, memo, bytes, ticks,
                           {sender(ledger).rank, tag, format::trace_receives, communicator});
    }
    static format::Peer& sender(Ledger& ledger) {
        const Ledger::Message* message = ledger.message(ledger.hand.message);
        if (!message) return ledger.peers.of_rank(format::peer_unknown, format::PeerKind::messages);
        int source = message->source;
        if constexpr (P.by_status)
            if (tells_source<Language>(ledger.hand.status)) source = source_in(ledger.hand.status);
        return library.peer_later(ledger, message->key, message->comm, source);
    }
};

template <Partners P, class Language, class Base>
constexpr auto with_partners() {
    if constexpr (P.way == Way::nowhere)
        return Base{};
    else if constexpr (P.way == Way::both)
        return WithTwoPeers<P, Language, Base>{};
    else if constexpr (P.way == Way::probed)
        return Probed<P, Language, Base>{};
    else if constexpr (P.way == Way::from_message)
        return FromMessage<P, Language, Base>{};
    else
        return WithPeer<P, Language, Base>{};
}

// What the profile says of a persistent operation that the call in hand has set up.
template <class Language, class Row>
format::Request shown_of(Row row, const Ledger& ledger, const Word* words) {
    const Facts& facts = row.facts;
    const int comm = facts.at(Role::comm), rank = facts.has(Role::dest) ? facts.at(Role::dest) : facts.at(Role::source);
    // Of a call that is not timed the token alone tells where it returns to; on aarch64 nobody does.
    const Word* token = thread_state.token;
    Word returns_to = address_of(ledger.hand.key());
    if (const Word* frame = reinterpret_cast<const Word*>(reinterpret_cast<const char*>(token) - 1);
        token == untimed(frame) && facts.treatment != Treatment::timed)
        returns_to = returns_by_register ? 0 : *frame;
    format::Request shown{};
    shown.posted_by = call_key(facts.id, returns_to);
    shown.communicator = static_cast<std::uint64_t>(comm >= 0 ? Language::handle(words[comm]) : no_handle);
    if (rank >= 0) {
        shown.peer = Language::integer(words[rank]);
        shown.tag = Language::integer(words[rank + 1]);
    }
    return shown;
}

// What a persistent operation's starts count with.
template <class Language, class Row>
Requests::Partner partner_of(Row row, Ledger& ledger, const Word* words) {
    const int dest = row.facts.at(Role::dest), source = row.facts.at(Role::source), comm = row.facts.at(Role::comm);
    if (comm < 0 || (dest < 0 && source < 0)) return {};
    const Word handle = Language::handle(words[comm]), key = Language::group_key(handle),
               c_comm = Language::c_comm(handle);
    const int who = Language::integer(words[dest >= 0 ? dest : source]);
    const int tag = Language::integer(words[(dest >= 0 ? dest : source) + 1]);
    const std::uint16_t index = library.communicator_for_later(c_comm).index;
    format::Peer& peer = library.peer(ledger, key, c_comm, who);
    const bool is_open = dest < 0 && (who == profiled.facts.any_source || (ledger.trace && tag < 0));
    return {dest >= 0 ? &peer.sent : &peer.received,
            is_open ? key : 0,
            c_comm,
            0,
            0,
            0,
            tag < 0 ? -1 : tag,
            index,
            dest >= 0};
}

}  // namespace mpiprof::mpi
