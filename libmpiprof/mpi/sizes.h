// The message size of a call: what is stored of its arguments before the real call, and what is asked after it. Written
// once, for the fast form, which knows the row at compile time (Mpi::Size), and for the plain form, which reads it
// (Mpi::store, Mpi::measure). The rules are in size_rules.h. Included by the symbols.
#pragma once

#include "libmpiprof/mpi/creation.h"
#include "libmpiprof/mpi/shapes.h"
#include "libmpiprof/mpi/size_rules.h"

namespace mpiprof::mpi {

// Which (count, type) pair is stored as it comes.
constexpr Pair stored_pair(SizeRule rule) {
    return rule == SizeRule::received ? Pair{Role::count, Role::type} : simple_pair(rule);
}
// There is always a status that tells how much has arrived, from whom, and that it was nothing from nobody.
template <class Language>
constexpr bool is_told(SizeRule rule) {
    return rule == SizeRule::received && !Language::fortran;
}
// Whether a size is ever found before the call.
constexpr bool can_be_quick(const Facts& facts) {
    return facts.makes != Makes::set_up && facts.rule != SizeRule::alltoallw &&
           facts.rule != SizeRule::neighbor_alltoallw && facts.rule != SizeRule::partitioned &&
           facts.rule != SizeRule::started && (!exchanges(facts.rule) || facts.has(Role::status));
}

// A tag follows the rank that it goes with, in every call of MPI that has tags.
template <class A>
[[gnu::always_inline]] inline int tag_behind(const A& a, Role rank) {
    return A::Binding::integer(a.words[a.row.facts.at(rank) + 1]);
}

// With whom it talks, or its root, as passed.
template <class Language, class A>
[[gnu::always_inline]] inline void store_peer(Ledger& ledger, const A& a) {
    const Facts& facts = a.row.facts;
    CallInHand& hand = ledger.hand;
    switch (facts.way) {
        case Way::put:
        case Way::fetched:
            hand.set_peer(a.integer(Role::target));
            hand.window = a.handle(Role::win);
            return;
        case Way::to_peer:
        case Way::both:
            hand.set_peer(a.integer(Role::dest));
            hand.set_tag(tag_behind(a, Role::dest));
            if (facts.way == Way::both) hand.set_source(a.integer(Role::source), tag_behind(a, Role::source));
            return;
        case Way::from_message: {
            const Word message = a.word(Role::message);  // the library overwrites it
            hand.message = message != 0 ? Language::handle_at(message, 0) : 0;
            if (hand.message != 0 && !ledger.message(hand.message)) [[unlikely]]
                hand.message = key_of_message<Language>(ledger, hand.message);
            return;
        }
        case Way::probed:
            hand.message = a.word(Role::message);
            hand.status = a.word(Role::status);
            break;
        case Way::from_peer:
            break;
        case Way::nowhere:
            if (facts.has(Role::root)) return hand.set_peer(a.integer(Role::root));
            if (!facts.shows_source()) return;
            break;
    }
    hand.set_peer(a.integer(Role::source));
    hand.set_tag(tag_behind(a, Role::source));
}

template <class A>
[[gnu::always_inline]] inline void no_bytes_to_nobody(CallInHand& hand, const A& a, Role peer) {
    if (a.is_null_peer(peer)) [[unlikely]]
        hand.count = 0, hand.type = no_handle;
}
template <class A>
[[gnu::always_inline]] inline void store_pair(CallInHand& hand, const A& a, Pair pair) {
    hand.count = a.count(pair.count);
    hand.type = a.handle(pair.type);
    no_bytes_to_nobody(hand, a, Role::dest);
    no_bytes_to_nobody(hand, a, Role::source);
    no_bytes_to_nobody(hand, a, Role::target);
}

// One type each way. What arrives is in the status, or, where Fortran's caller wants none, as much as was posted.
template <class Language, class A>
[[gnu::always_inline]] inline bool store_exchange(CallInHand& hand, const A& a, SizeRule rule) {
    if (!library.is_known()) [[unlikely]]
        return false;
    hand.count = a.count(rule == SizeRule::sendrecv ? Role::scount : Role::count);
    hand.type = a.handle(rule == SizeRule::sendrecv ? Role::stype : Role::type);
    hand.status = a.word(Role::status);
    if (a.is_null_peer(Role::dest) || a.is_null_peer(Role::source)) [[unlikely]]
        return false;
    if constexpr (Language::fortran)
        if (Language::ignores_status(a.word(Role::status))) return false;
    return true;
}
template <class A>
[[gnu::always_inline]] inline bool store_rooted(CallInHand& hand, const A& a, const Rooted& r, int rank) {
    if (a.integer(Role::root) != rank) {
        hand.count = a.count(r.own_count);
        hand.type = a.handle(r.own_type);
        return true;
    }
    if (r.is_even) {
        hand.count = a.count(r.count);
    } else {
        if (a.word(r.counts) == 0) [[unlikely]]
            return false;
        hand.count = a.count_at(r.counts, rank);
    }
    hand.type = a.handle(r.root_type);
    return true;
}
// One count for each of the others.
template <class Language, class A>
[[gnu::always_inline]] inline bool store_counts(CallInHand& hand, const A& a, SizeRule rule, const Group& group) {
    const bool of_sent = rule == SizeRule::alltoallv || rule == SizeRule::neighbor_alltoallv;
    const Role counts = of_sent ? Role::scounts : Role::rcounts;
    if (a.word(counts) == 0) [[unlikely]]
        return false;
    if (rule == SizeRule::rblock_mine) {
        hand.count = a.count_at(counts, group.rank);
    } else {
        if (rule == SizeRule::alltoallv && Language::is_in_place(a.word(Role::sbuf))) [[unlikely]]
            return false;
        hand.members = rule == SizeRule::neighbor_rcounts_mean ? group.in_degree
                       : rule == SizeRule::neighbor_alltoallv  ? group.out_degree
                                                               : group.size;
        hand.count = sum_of(a, counts, static_cast<int>(hand.members));
    }
    hand.type = a.handle(of_sent ? Role::stype : rule == SizeRule::rcounts_sum ? Role::type : Role::rtype);
    return true;
}
// The rules that read several arguments, where what they ask of the communicator is known. No array is read that MPI
// may find fault with: what is not there is left to the plain form, after success.
template <class Language, class A>
[[gnu::always_inline]] inline bool store_quickly(CallInHand& hand, const A& a) {
    const SizeRule rule = a.row.facts.rule;
    if (exchanges(rule)) return store_exchange<Language>(hand, a, rule);
    const Group* group = a.quick_group();
    if (!group) [[unlikely]]
        return false;
    if (is_rooted(rule)) return store_rooted(hand, a, rooted(rule), group->rank);
    if (rule != SizeRule::rcount_times_size) return store_counts<Language>(hand, a, rule, *group);
    hand.count = a.count(Role::rcount) * group->size;
    hand.type = a.handle(Role::type);
    return true;
}

// All that the second half needs, into the ledger's hand. False: the size takes questions. Then measure() finds it
// after the call, and answers are remembered where they can be.
template <class Language, class Row>
[[gnu::always_inline]] inline bool store_arguments(Row row, Ledger& ledger, const Word* words) {
    const Facts& facts = row.facts;
    const Arguments<Language, Row> a{row, words, &ledger};
    CallInHand& hand = ledger.hand;
    if (facts.rule == SizeRule::received) hand.status = a.word(Role::status);
    hand.set_comm(facts.has(Role::comm) ? a.handle(Role::comm) : no_handle);
    if (facts.posts) hand.request = a.word(Role::newrequest);
    store_peer<Language>(ledger, a);
    if (facts.completes) return store_requests<Language>(row, ledger, words);
    if (facts.rule == SizeRule::none || is_told<Language>(facts.rule)) return true;
    if (facts.rule == SizeRule::one_element) {
        hand.count = 1;
        hand.type = a.handle(Role::type);
        no_bytes_to_nobody(hand, a, Role::target);
        return true;
    }
    if (const Pair pair = stored_pair(facts.rule); pair.count != Role::none) {
        store_pair(hand, a, pair);
        return true;
    }
    if (can_be_quick(facts) && store_quickly<Language>(hand, a)) [[likely]]
        return true;
    hand.type = no_handle;
    hand.count = 0;
    hand.members = 1;
    hand.status = 0;
    return false;
}

// ---- the fast form ----

template <Id I, class Language>
struct Mpi::Size {
    using Row = wrap::FixedRow<Mpi, I>;
    static constexpr bool completes = Row::facts.completes;
    static constexpr bool can_be_quick = mpi::can_be_quick(Row::facts);
    static constexpr std::uint64_t order_word = format::order_word(row_of(I).name);
    using Booker = BookerOf<shape_of(I), typename Language::Behind>;

    template <class... Words>
    [[gnu::always_inline]] static bool store(Ledger& ledger, Words&... args) {
        if constexpr (Row::facts.reads_status() && !Language::fortran) want_status(ledger.hand, args...);
        const Word words[sizeof...(Words) + 1] = {args..., 0};
        return store_arguments<Language>(Row(), ledger, words);
    }
    // What arrived is in the status; where a C caller does not want one, the library fills ours.
    template <class... Words>
    [[gnu::always_inline]] static void want_status(CallInHand& hand, Words&... args) {
        int position = 0;
        ((position++ == Row::facts.at(Role::status) && args == profiled.facts.status_ignore
              ? void(args = reinterpret_cast<Word>(hand.scratch))
              : void()),
         ...);
    }
};

// ---- the plain form ----

template <class Language, class Row>
[[gnu::always_inline]] inline bool store_whole(Row row, Ledger& ledger, Word* words) {
    const Facts& facts = row.facts;
    if (facts.reads_status() && !Language::fortran)
        if (Word& status = words[facts.at(Role::status)]; status == profiled.facts.status_ignore)
            status = reinterpret_cast<Word>(ledger.hand.scratch);
    if (ledger.trace) remember_tags<Language>(row, *ledger.trace, words);
    if (facts.meets_requests()) library.meet_requests(ledger, Language::fortran);
    // Of a library that is not known it is all that there is.
    if (is_told<Language>(facts.rule))
        store_pair(ledger.hand, Arguments<Language, Row>{row, words, &ledger}, stored_pair(facts.rule));
    if (facts.rule == SizeRule::started) store_to_start<Language>(row, ledger, words);
    if (facts.completes) {
        const int many = facts.at(Role::requests);
        if (many >= 0 && ledger.requests.has_any() && words[many] != 0)
            ledger.requests.room_for_handles(Language::integer(words[facts.at(Role::n)]));
        if (ledger.requests.are_mixed()) store_mixed_requests<Language>(row, ledger, words);
    }
    return store_arguments<Language>(row, ledger, words);
}

template <class Language, class Row>
[[gnu::noinline]] bool store_plainly(Row row, Ledger& ledger, Word* words) {
    return store_whole<Language>(row, ledger, words);
}
template <class Language, class Row>
bool Mpi::store(Row row, Ledger& ledger, Word* words) {
    const Facts& facts = row.facts;
    if constexpr (Row::is_fixed) return store_whole<Language>(row, ledger, words);
    if (!facts.is_bare) return store_plainly<Language>(row, ledger, words);
    ledger.hand.set_comm(facts.has(Role::comm) ? Language::handle(words[facts.at(Role::comm)]) : no_handle);
    return true;
}

// Which part of an exchange was sent, and from whom the other came.
template <class Language, class A>
void measure_exchange(Ledger& ledger, const A& a, SizeRule rule) {
    const bool is_two = rule == SizeRule::sendrecv;
    ledger.hand.sent = library.is_known() && !a.is_null_peer(Role::dest)
                           ? a.elements(is_two ? Role::stype : Role::type, a.count(is_two ? Role::scount : Role::count))
                           : 0;
    ledger.hand.source = a.integer(Role::source);
    if (a.has(Role::status) && tells_source<Language>(a.word(Role::status)))
        ledger.hand.source = source_in(a.word(Role::status));
}

template <class Language, class Row>
void Mpi::measure(Row row, Ledger& ledger, const Word* words) {
    const Facts& facts = row.facts;
    const SizeRule rule = facts.rule;
    if (rule == SizeRule::none || rule == SizeRule::one_element || stored_pair(rule).count != Role::none) return;
    const Arguments<Language, Row> a{row, words, &ledger};
    if (can_be_quick(facts) && !exchanges(rule)) {  // from now on the communicator is known
        if (library.is_known()) (void)a.comm();
        if (store_quickly<Language>(ledger.hand, a)) return;
    }
    ledger.hand.type = no_handle;
    ledger.hand.members = 1;
    ledger.hand.count = static_cast<std::int64_t>(message_size<Language>(row, ledger, words));
    if (exchanges(rule)) measure_exchange<Language>(ledger, a, rule);
}

template <class Language, class Row>
[[gnu::noinline]] void Mpi::remember_set_up(Row row, Ledger& ledger, const Word* words) {
    const Word handle = Language::handle_at(words[row.facts.at(Role::newrequest)], 0);
    if (!library.is_known() || Language::is_null_request(handle)) return;
    library.meet_requests(ledger, Language::fortran);
    ledger.set_up(handle, any_size<Language>(row, ledger, words), row.facts.id,
                  partner_of<Language>(row, ledger, words), shown_of<Language>(row, ledger, words));
}

}  // namespace mpiprof::mpi
