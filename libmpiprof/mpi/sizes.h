// Mpi::Size, through which wrap/ gets at the message size of a row and at its Booker: what is stored before the real
// call, and what is asked after it. The rules themselves are in size_rules.h. Included by the symbols.
#pragma once

#include "libmpiprof/mpi/creation.h"
#include "libmpiprof/mpi/shapes.h"
#include "libmpiprof/mpi/size_rules.h"

namespace mpiprof::mpi {

template <Id I, class Language>
[[gnu::noinline]] void Mpi::remember_set_up(Ledger& ledger, const Word* words) {
    const Word handle = Language::handle_at(words[find(row_of(I).roles, Role::newrequest)], 0);
    if (!library.is_known() || Language::is_null_request(handle)) return;
    library.meet_requests(ledger, Language::fortran);
    ledger.set_up(handle, any_size<I, Language>(ledger, words), static_cast<std::uint16_t>(I),
                  partner_of<I, Language>(ledger, words), shown_of<I, Language>(ledger, words));
}

template <Id I, class Language>
[[gnu::noinline]] void Mpi::follow(Ledger& ledger, std::uint64_t key, const Word* words) {
    if constexpr (sets_up(I))
        remember_set_up<I, Language>(ledger, words);
    else if constexpr (makes(I) || makes_several(I))
        follow_made<I, Language>(ledger, key, words);
    else
        follow_communicator<I, Language>(words, key);
}

// How wrap::call() gets at a row's message size: what it stores before the real call, and what is booked after it.
template <Id I, class Language>
struct Mpi::Size {
    using A = Arguments<I, Language>;
    static constexpr Call row = row_of(I);
    static constexpr SizeRule rule = rule_of(I);
    static constexpr Pair pair = rule == SizeRule::received ? Pair{Role::count, Role::type} : simple_pair(rule);
    static constexpr bool is_pair = pair.count != Role::none;
    static constexpr bool is_exchange = exchanges(rule);
    static constexpr bool posts = shape_of(I).posts, completes = shape_of(I).completes;
    // Whether store() ever finds a size.
    static constexpr bool can_be_quick = !sets_up(I) && rule != SizeRule::alltoallw &&
                                         rule != SizeRule::neighbor_alltoallw && rule != SizeRule::partitioned &&
                                         rule != SizeRule::started && !(is_exchange && !A::template has<Role::status>);
    static constexpr std::uint64_t order_word = format::order_word(row.name);
    using Booker = BookerOf<shape_of(I), typename Language::Behind>;

    // False: the size takes questions. Then measure() finds it after the call, and answers are remembered where they
    // can be.
    template <class... Words>
    [[gnu::always_inline]] static bool store(Ledger& ledger, Words&... args) {
        CallInHand& hand = ledger.hand;
        if constexpr (reads_status && !Language::fortran) want_status(hand, args...);
        const Word words[sizeof...(Words) + 1] = {args..., 0};
        const A a{words, &ledger};
        if constexpr (rule == SizeRule::received) hand.status = words[status];
        if constexpr (A::template has<Role::comm>)
            ledger.hand.set_comm(Language::handle(a.template word<Role::comm>()));
        else
            ledger.hand.set_comm(no_handle);
        if constexpr (posts) hand.request = a.template word<Role::newrequest>();
        store_peer(ledger, a);
        if constexpr (completes) return store_requests<I, Language>(ledger, words);
        if constexpr (rule == SizeRule::none || is_told) {
            return true;
        } else if constexpr (rule == SizeRule::one_element) {
            hand.count = 1;
            hand.type = Language::handle(a.template word<Role::type>());
            no_bytes_to_nobody<Role::target>(hand, a);
            return true;
        } else if constexpr (is_pair) {
            store_pair(hand, a);
            return true;
        } else if constexpr (can_be_quick) {
            if (store_quickly(hand, a)) [[likely]]
                return true;
        }
        hand.type = no_handle;
        hand.count = 0;
        hand.members = 1;
        hand.status = 0;
        return false;
    }
    [[gnu::always_inline]] static void store_pair(CallInHand& hand, const A& a) {
        hand.count = a.template count<pair.count>();
        hand.type = Language::handle(a.template word<pair.type>());
        no_bytes_to_nobody<Role::dest>(hand, a);
        no_bytes_to_nobody<Role::source>(hand, a);
        no_bytes_to_nobody<Role::target>(hand, a);
    }
    static constexpr bool has_root = find(row.roles, Role::root) >= 0;
    // A tag follows the rank that it goes with, in every call of MPI that has tags.
    template <Role Rank>
    [[gnu::always_inline]] static int tag_behind(const A& a) {
        return Language::integer(a.words[find(row.roles, Rank) + 1]);
    }
    // MPI_Probe moves nothing, and waits for somebody all the same.
    static constexpr bool shows_source = row.traffic == Traffic::probe && row.treatment == Treatment::timed;
    [[gnu::always_inline]] static void store_peer(Ledger& ledger, const A& a) {
        constexpr Way way = way_of(I);
        [[maybe_unused]] CallInHand& hand = ledger.hand;
        if constexpr (way == Way::put || way == Way::fetched) {
            ledger.hand.set_peer(Language::integer(a.template word<Role::target>()));
            hand.window = Language::handle(a.template word<Role::win>());
        } else if constexpr (way == Way::to_peer || way == Way::both) {
            ledger.hand.set_peer(Language::integer(a.template word<Role::dest>()));
            ledger.hand.set_tag(tag_behind<Role::dest>(a));
            if constexpr (way == Way::both)
                ledger.hand.set_source(Language::integer(a.template word<Role::source>()), tag_behind<Role::source>(a));
        } else if constexpr (way == Way::from_peer || has_root) {
            ledger.hand.set_peer(Language::integer(a.template word < has_root ? Role::root : Role::source > ()));
            if constexpr (!has_root) ledger.hand.set_tag(tag_behind<Role::source>(a));
        } else if constexpr (way == Way::from_message) {
            const Word message = a.template word<Role::message>();  // the library overwrites it
            hand.message = message != 0 ? Language::handle_at(message, 0) : 0;
            if (hand.message != 0 && !ledger.message(hand.message)) [[unlikely]]
                hand.message = key_of_message<Language>(ledger, hand.message);
        } else if constexpr (way == Way::probed || shows_source) {
            if constexpr (way == Way::probed) {
                hand.message = a.template word<Role::message>();
                hand.status = a.template word<Role::status>();
            }
            ledger.hand.set_peer(Language::integer(a.template word<Role::source>()));
            ledger.hand.set_tag(tag_behind<Role::source>(a));
        }
    }
    // What store() may not do on the fast path.
    template <class... Words>
    static void make_room(Ledger& ledger, Words... args) {
        using R = RequestArguments<I>;
        const Word words[sizeof...(Words) + 1] = {args..., 0};
        if (ledger.trace) remember_tags<I, Language>(*ledger.trace, words);
        if constexpr (posts || completes || rule == SizeRule::started || A::template has<Role::message>)
            library.meet_requests(ledger, Language::fortran);
        if constexpr (is_told)
            store_pair(ledger.hand, A{words, &ledger});  // of a library that is not known it is all that there is
        if constexpr (rule == SizeRule::started) store_to_start<I, Language>(ledger, words);
        if constexpr (completes && R::many >= 0)
            if (ledger.requests.has_any() && words[R::many] != 0)
                ledger.requests.room_for_handles(Language::integer(words[R::n]));
        if constexpr (completes)
            if (ledger.requests.are_mixed()) store_mixed_requests<I, Language>(ledger, words);
    }
    // What arrived is in the status; where a C caller does not want one, the library fills ours.
    static constexpr int status = find(row.roles, Role::status);
    static constexpr bool reads_status = status >= 0 && (rule == SizeRule::received || is_exchange);
    // There is always a status that tells how much has arrived, from whom, and that it was nothing from nobody.
    static constexpr bool is_told = rule == SizeRule::received && !Language::fortran;
    template <class... Words>
    [[gnu::always_inline]] static void want_status(CallInHand& hand, Words&... args) {
        int position = 0;
        ((position++ == status && args == profiled.facts.status_ignore
              ? void(args = reinterpret_cast<Word>(hand.scratch))
              : void()),
         ...);
    }
    template <Role Peer>  // MPI_PROC_NULL
    [[gnu::always_inline]] static void no_bytes_to_nobody(CallInHand& hand, const A& a) {
        if constexpr (A::template has<Peer>)
            if (a.template is_null_peer<Peer>()) [[unlikely]]
                hand.count = 0, hand.type = no_handle;
    }

    // The rules that read several arguments, where what they ask of the communicator is known. No array is read that
    // MPI may find fault with: what is not there is left to the plain form, after success.
    [[gnu::always_inline]] static bool store_quickly(CallInHand& hand, const A& a) {
        if constexpr (is_exchange) {
            return store_exchange(hand, a);
        } else {
            const Group* group = a.quick_group();
            if (!group) [[unlikely]]
                return false;
            if constexpr (rule == SizeRule::gather || rule == SizeRule::gatherv || rule == SizeRule::scatter ||
                          rule == SizeRule::scatterv) {
                constexpr bool gathers = rule == SizeRule::gather || rule == SizeRule::gatherv;
                constexpr Role at_root = gathers ? Role::rtype : Role::stype,
                               at_member = gathers ? Role::stype : Role::rtype;
                if (Language::integer(a.template word<Role::root>()) == group->rank) {
                    if constexpr (rule == SizeRule::gather)
                        hand.count = a.template count<Role::rcount>();
                    else if constexpr (rule == SizeRule::scatter)
                        hand.count = a.template count<Role::scount>();
                    else {
                        constexpr Role counts = gathers ? Role::rcounts : Role::scounts;
                        if (a.template word<counts>() == 0) [[unlikely]]
                            return false;
                        hand.count = a.template count_at<counts>(group->rank);
                    }
                    hand.type = Language::handle(a.template word<at_root>());
                } else {
                    hand.count = a.template count < gathers ? Role::scount : Role::rcount > ();
                    hand.type = Language::handle(a.template word<at_member>());
                }
            } else if constexpr (rule == SizeRule::rcount_times_size) {
                hand.count = a.template count<Role::rcount>() * group->size;
                hand.type = Language::handle(a.template word<Role::type>());
            } else {
                constexpr bool of_sent = rule == SizeRule::alltoallv || rule == SizeRule::neighbor_alltoallv;
                constexpr Role counts = of_sent ? Role::scounts : Role::rcounts;
                constexpr Role type = of_sent ? Role::stype : rule == SizeRule::rcounts_sum ? Role::type : Role::rtype;
                if (a.template word<counts>() == 0) [[unlikely]]
                    return false;
                if constexpr (rule == SizeRule::rblock_mine) {
                    hand.count = a.template count_at<counts>(group->rank);
                } else {
                    if constexpr (rule == SizeRule::alltoallv)
                        if (Language::is_in_place(a.template word<Role::sbuf>())) [[unlikely]]
                            return false;
                    hand.members = rule == SizeRule::neighbor_rcounts_mean ? group->in_degree
                                   : rule == SizeRule::neighbor_alltoallv  ? group->out_degree
                                                                           : group->size;
                    hand.count = sum_of<counts>(a, static_cast<int>(hand.members));
                }
                hand.type = Language::handle(a.template word<type>());
            }
            return true;
        }
    }
    // One type each way. What arrives is in the status, or, where Fortran's caller wants none, as much as was posted.
    [[gnu::always_inline]] static bool store_exchange(CallInHand& hand, const A& a) {
        if (!library.is_known()) [[unlikely]]
            return false;
        constexpr Role count = rule == SizeRule::sendrecv ? Role::scount : Role::count;
        constexpr Role type = rule == SizeRule::sendrecv ? Role::stype : Role::type;
        hand.count = a.template count<count>();
        hand.type = Language::handle(a.template word<type>());
        hand.status = a.template word<Role::status>();
        if (a.template is_null_peer<Role::dest>() || a.template is_null_peer<Role::source>()) [[unlikely]]
            return false;
        if constexpr (Language::fortran)
            if (Language::ignores_status(a.template word<Role::status>())) return false;
        return true;
    }
    // Which part of an exchange was sent, and from whom the other came.
    static void measure_exchange(Ledger& ledger, const Word* words) {
        const A a{words, &ledger};
        constexpr Role count = rule == SizeRule::sendrecv ? Role::scount : Role::count;
        constexpr Role type = rule == SizeRule::sendrecv ? Role::stype : Role::type;
        ledger.hand.sent = library.is_known() && !a.template is_null_peer<Role::dest>()
                               ? a.template elements<type>(a.template count<count>())
                               : 0;
        ledger.hand.source = Language::integer(a.template word<Role::source>());
        if constexpr (A::template has<Role::status>)
            if (tells_source<Language>(a.template word<Role::status>()))
                ledger.hand.source = source_in(a.template word<Role::status>());
    }
    // After the real call has returned with success.
    static void measure(Ledger& ledger, const Word* words) {
        if constexpr (rule != SizeRule::none && rule != SizeRule::one_element && !is_pair) {
            if constexpr (can_be_quick && !is_exchange) {  // from now on the communicator is known
                const A a{words, &ledger};
                if (library.is_known()) (void)a.comm();
                if (store_quickly(ledger.hand, a)) return;
            }
            ledger.hand.type = no_handle;
            ledger.hand.members = 1;
            ledger.hand.count = static_cast<std::int64_t>(message_size<I, Language>(ledger, words));
            if constexpr (is_exchange) measure_exchange(ledger, words);
        }
    }
};

}  // namespace mpiprof::mpi
