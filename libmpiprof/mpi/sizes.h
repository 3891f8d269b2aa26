// Message sizes: each size rule as a few lines over a row's argument words, and Mpi::Size, through which wrap/ gets at
// them. The words are read only where they are significant at this rank (docs/coverage.md words the rules).
#pragma once

#include "libmpiprof/mpi/completion.h"
#include "libmpiprof/mpi/creation.h"

namespace mpiprof::mpi {

// The arguments of one call by role. `words` are as the caller passed them.
template <Id I, class Language>
struct Arguments {
    static constexpr Call row = row_of(I);
    const Word* words;
    Ledger* ledger;

    template <Role R>
    static constexpr bool has = find(row.roles, R) >= 0;
    template <Role R>
    Word word() const {
        static_assert(has<R>);
        return words[find(row.roles, R)];
    }
    template <Role R>
    std::int64_t count() const {
        return Language::count(word<R>());
    }
    template <Role R>
    std::int64_t count_at(std::int64_t i) const {
        return Language::count_at(word<R>(), i);
    }
    template <Role R>
    Bytes elements(std::int64_t n) const {  // n elements of the type: its size is asked only if there are any
        return n <= 0
                   ? 0
                   : static_cast<Bytes>(n) * library.type_size(*ledger, Language::c_type(Language::handle(word<R>())));
    }
    // Asked of the library, and remembered for quick_group().
    CommInfo comm() const {
        const Word handle = Language::handle(word<Role::comm>());
        const CommInfo info = library.communicator(Language::c_comm(handle));
        if (!info.inter)
            ledger->remember_group(
                {Language::group_key(handle), info.rank, info.size, info.in_degree, info.out_degree});
        return info;
    }
    const Group* quick_group() const {
        return ledger->group(Language::group_key(Language::handle(word<Role::comm>())));
    }
    template <Role R>
    bool is_null_peer() const {
        return Language::integer(word<R>()) == library.facts.proc_null;
    }
    // How this rank takes part in a rooted collective.
    enum class Part { root, member, bystander };
    Part part(const CommInfo& comm) const {
        const int root = Language::integer(word<Role::root>());
        if (comm.inter)
            return root == library.facts.root        ? Part::root
                   : root == library.facts.proc_null ? Part::bystander
                                                     : Part::member;
        return root == comm.rank ? Part::root : Part::member;
    }
};

template <Role Counts, class A>
[[gnu::always_inline]] inline std::int64_t sum_of(const A& a, int n) {
    std::int64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += a.template count_at<Counts>(i);
    return sum;
}

inline Bytes mean(Bytes sum, int n) { return n > 0 ? sum / static_cast<Bytes>(n) : 0; }

template <Role Counts, Role Types, class Language, class A>
Bytes mean_of_blocks(const A& a, int n) {
    Bytes sum = 0;
    for (int i = 0; i < n; ++i) {
        const std::int64_t count = a.template count_at<Counts>(i);
        if (count <= 0) continue;
        const Word type = Language::handle_at(a.template word<Types>(), i);
        sum += static_cast<Bytes>(count) * library.type_size(*a.ledger, Language::c_type(type));
    }
    return mean(sum, n);
}

// The rules that need more than one count and one type. Called after success, so the significant handles are valid.
template <Id I, class Language>
[[gnu::noinline]] Bytes message_size(Ledger& ledger, const Word* words) {
    using A = Arguments<I, Language>;
    using Part = typename A::Part;
    const A a{words, &ledger};
    constexpr SizeRule rule = A::row.size_rule;
    if (!library.is_known()) return 0;

    if constexpr (rule == SizeRule::started) {
        return bytes_started<I, Language>(ledger, words);
    } else if constexpr (rule == SizeRule::rblock_mine) {
        const CommInfo comm = a.comm();
        if (comm.inter) return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.size)), comm.size);
        return a.template elements<Role::rtype>(a.template count_at<Role::rcounts>(comm.rank));
    } else if constexpr (rule == SizeRule::gather || rule == SizeRule::gatherv) {
        const CommInfo comm = a.comm();
        const Part part = a.part(comm);
        if (part == Part::bystander) return 0;
        if (part == Part::member) return a.template elements<Role::stype>(a.template count<Role::scount>());
        if constexpr (rule == SizeRule::gather)
            return a.template elements<Role::rtype>(a.template count<Role::rcount>());
        else if (comm.inter)
            return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.size)), comm.size);
        else
            return a.template elements<Role::rtype>(a.template count_at<Role::rcounts>(comm.rank));
    } else if constexpr (rule == SizeRule::scatter || rule == SizeRule::scatterv) {
        const CommInfo comm = a.comm();
        const Part part = a.part(comm);
        if (part == Part::bystander) return 0;
        if (part == Part::member) return a.template elements<Role::rtype>(a.template count<Role::rcount>());
        if constexpr (rule == SizeRule::scatter)
            return a.template elements<Role::stype>(a.template count<Role::scount>());
        else if (comm.inter)
            return mean(a.template elements<Role::stype>(sum_of<Role::scounts>(a, comm.size)), comm.size);
        else
            return a.template elements<Role::stype>(a.template count_at<Role::scounts>(comm.rank));
    } else if constexpr (rule == SizeRule::alltoallv) {
        const CommInfo comm = a.comm();
        if (Language::is_in_place(a.template word<Role::sbuf>()))
            return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.size)), comm.size);
        return mean(a.template elements<Role::stype>(sum_of<Role::scounts>(a, comm.size)), comm.size);
    } else if constexpr (rule == SizeRule::alltoallw) {
        const CommInfo comm = a.comm();
        if (Language::is_in_place(a.template word<Role::sbuf>()))
            return mean_of_blocks<Role::rcounts, Role::rtypes, Language>(a, comm.size);
        return mean_of_blocks<Role::scounts, Role::stypes, Language>(a, comm.size);
    } else if constexpr (rule == SizeRule::rcounts_sum) {
        return a.template elements<Role::type>(sum_of<Role::rcounts>(a, a.comm().members));
    } else if constexpr (rule == SizeRule::rcount_times_size) {
        return a.template elements<Role::type>(a.template count<Role::rcount>()) * static_cast<Bytes>(a.comm().members);
    } else if constexpr (rule == SizeRule::sendrecv) {
        Bytes bytes = 0;
        if (!a.template is_null_peer<Role::dest>())
            bytes += a.template elements<Role::stype>(a.template count<Role::scount>());
        if (a.template is_null_peer<Role::source>()) return bytes;
        if constexpr (A::template has<Role::status>)
            if (!Language::ignores_status(a.template word<Role::status>()))
                return bytes + bytes_in_status(library.facts, library.ask,
                                               reinterpret_cast<const void*>(a.template word<Role::status>()));
        return bytes + a.template elements<Role::rtype>(a.template count<Role::rcount>());
    } else if constexpr (rule == SizeRule::sendrecv_replace) {
        const Bytes block = a.template elements<Role::type>(a.template count<Role::count>());
        Bytes bytes = a.template is_null_peer<Role::dest>() ? 0 : block;
        if (a.template is_null_peer<Role::source>()) return bytes;
        if constexpr (A::template has<Role::status>)
            if (!Language::ignores_status(a.template word<Role::status>()))
                return bytes + bytes_in_status(library.facts, library.ask,
                                               reinterpret_cast<const void*>(a.template word<Role::status>()));
        return bytes + block;
    } else if constexpr (rule == SizeRule::partitioned) {
        using Wide = std::conditional_t<Language::fortran, wrap::Fortran<true>, wrap::C<true>>;  // this count always is
        return a.template elements<Role::type>(Language::integer(a.template word<Role::partitions>()) *
                                               Wide::count(a.template word<Role::count>()));
    } else if constexpr (rule == SizeRule::neighbor_rcounts_mean) {
        const CommInfo comm = a.comm();
        return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.in_degree)), comm.in_degree);
    } else if constexpr (rule == SizeRule::neighbor_alltoallv) {
        const CommInfo comm = a.comm();
        return mean(a.template elements<Role::stype>(sum_of<Role::scounts>(a, comm.out_degree)), comm.out_degree);
    } else {
        static_assert(rule == SizeRule::neighbor_alltoallw);
        return mean_of_blocks<Role::scounts, Role::stypes, Language>(a, a.comm().out_degree);
    }
}

// Which (count, type) pair a rule multiplies, where that is all it needs.
struct Pair {
    Role count, type;
};
constexpr Pair simple_pair(SizeRule rule) {
    if (rule == SizeRule::count_type) return {Role::count, Role::type};
    if (rule == SizeRule::rblock) return {Role::rcount, Role::rtype};
    return {Role::none, Role::none};
}

// Any rule's size, after success.
template <Id I, class Language>
Bytes any_size(Ledger& ledger, const Word* words) {
    using A = Arguments<I, Language>;
    constexpr SizeRule rule = A::row.size_rule;
    const A a{words, &ledger};
    if constexpr (rule == SizeRule::none)
        return 0;
    else if constexpr (simple_pair(rule).count == Role::none)
        return message_size<I, Language>(ledger, words);
    else {
        if constexpr (A::template has<Role::dest>)
            if (a.template is_null_peer<Role::dest>()) return 0;
        if constexpr (A::template has<Role::source>)
            if (a.template is_null_peer<Role::source>()) return 0;
        if constexpr (A::template has<Role::target>)
            if (a.template is_null_peer<Role::target>()) return 0;
        if constexpr (A::template has<Role::root>)
            if (a.template is_null_peer<Role::root>()) return 0;
        return library.is_known()
                   ? a.template elements<simple_pair(rule).type>(a.template count<simple_pair(rule).count>())
                   : 0;
    }
}

template <Id I, class Language>
[[gnu::noinline]] void Mpi::remember_set_up(Ledger& ledger, const Word* words) {
    const Word handle = Language::handle_at(words[find(row_of(I).roles, Role::newrequest)], 0);
    if (!library.is_known() || Language::is_null_request(handle)) return;
    ledger.set_up(handle, any_size<I, Language>(ledger, words), static_cast<std::uint16_t>(I),
                  partner_of<I, Language>(ledger, words));
}

template <Id I, class Language>
[[gnu::noinline]] void Mpi::follow(Ledger& ledger, const Word* words) {
    if constexpr (sets_up(I))
        remember_set_up<I, Language>(ledger, words);
    else if constexpr (makes(I) || makes_several(I))
        follow_made<I, Language>(words);
    else
        follow_communicator<I, Language>(words);
}

// ---- what the second half of a row does ----

// What arrived, by the status; where there is none to read (Fortran's STATUS_IGNORE), the posted count and type.
template <class Language>
struct Received : wrap::AsStored {
    static bool look(const CallInHand& hand, std::int64_t& seen) {
        seen = quick_bytes_in_status(library.facts, hand.words[0]);
        return !(Language::fortran && Language::ignores_status(hand.words[0]));
    }
    static Word quick_type(const CallInHand&) { return no_handle; }
    static std::int64_t quick_count(const CallInHand&, std::int64_t seen) { return seen; }
    static Bytes quick_bytes(const CallInHand&, std::int64_t seen, std::uint64_t) { return static_cast<Bytes>(seen); }
    static Booking booking(const CallInHand& hand) {
        if (!library.is_known() || Language::ignores_status(hand.words[0])) return {hand.type, hand.count};
        return {no_handle, static_cast<std::int64_t>(bytes_in_status(library.facts, library.ask,
                                                                     reinterpret_cast<const void*>(hand.words[0])))};
    }
};

// What was sent, and what arrived by the status: words[0], 0 if nothing is added.
struct Exchanged : wrap::AsStored {
    static Bytes bytes(const CallInHand& hand, const Booking& b, std::uint64_t type_size) {
        Bytes sum = static_cast<Bytes>(b.count) * type_size;
        if (hand.words[0] != 0)
            sum += bytes_in_status(library.facts, library.ask, reinterpret_cast<const void*>(hand.words[0]));
        return sum;
    }
    static Bytes quick_bytes(const CallInHand& hand, std::int64_t, std::uint64_t type_size) {
        return bytes(hand, booking(hand), type_size);
    }
};

// The mean over so many blocks.
struct Averaged : wrap::AsStored {
    static Bytes bytes(const CallInHand& hand, const Booking& b, std::uint64_t type_size) {
        const Bytes sum = static_cast<Bytes>(b.count) * type_size;
        return hand.members > 1 ? sum / static_cast<Bytes>(hand.members) : sum;
    }
    static Bytes quick_bytes(const CallInHand& hand, std::int64_t, std::uint64_t type_size) {
        return bytes(hand, booking(hand), type_size);
    }
};

// A nonblocking call leaves a request behind: remember whose it is and since when. Its sizes are as `Sized` books them.
template <class Language, class Sized>
struct Posting : Sized {
    static bool quick_after(Ledger& ledger, const Memo& memo, Bytes, Ticks) {
        const Word request = Language::handle_at(ledger.hand.words[4], 0);
        return Language::is_no_request(request) || ledger.post_fast(memo, request);
    }
    static void after(Ledger& ledger, Memo& memo, Bytes, Ticks) {
        if (!library.is_known()) return;
        const Word request = Language::handle_at(ledger.hand.words[4], 0);
        if (!Language::is_no_request(request)) ledger.post(memo, request, ledger.since());
    }
};

// Wait* and Test* complete requests.
template <Id I, class Language>
struct Completing : wrap::Sizeless {
    static bool quick_after(Ledger& ledger, const Memo&, Bytes, Ticks) { return ledger.hand.requests == 0; }
    [[gnu::always_inline]] static void after(Ledger& ledger, Memo& memo, Bytes, Ticks ticks) {
        if (ledger.hand.requests == 0) return;
        ledger.add_completed(memo, complete_requests<I, Language>(ledger, ledger.since() + ticks, ticks));
    }
    // Polls that completed nothing leave no trace.
    static void trace(Ledger& ledger, const Memo& memo, Bytes bytes, Ticks ticks) {
        if (trace_completed<I, Language>(ledger, ledger.since() + ticks) != 0 ||
            row_of(I).treatment != Treatment::polled)
            ledger.trace_call(memo, bytes, ticks);
    }
    static constexpr bool has_after_untimed = true;
    static void after_untimed(Ledger& ledger) {
        constexpr int flag = find(row_of(I).roles, Role::flag);
        if (ledger.hand.requests == 0) return;
        if constexpr (flag >= 0)
            if (*reinterpret_cast<const int*>(ledger.hand.words[flag]) == 0) return;
        complete_untimed(ledger);
    }
    [[gnu::noinline]] static void complete_untimed(Ledger& ledger) {
        complete_requests<I, Language>(ledger, ledger.read_clock(), 0);
    }
};

// How wrap::call() gets at a row's message size: what it stores before the real call, and what is booked after it.
template <Id I, class Language>
struct Mpi::Size {
    using A = Arguments<I, Language>;
    static constexpr Call row = row_of(I);
    // A set-up moves nothing yet, whatever its rule says of its starts.
    static constexpr SizeRule rule = sets_up(I) ? SizeRule::none : row.size_rule;
    static constexpr Pair pair = rule == SizeRule::received ? Pair{Role::count, Role::type} : simple_pair(rule);
    static constexpr bool is_pair = pair.count != Role::none;
    static constexpr bool is_mean =
        rule == SizeRule::alltoallv || rule == SizeRule::neighbor_rcounts_mean || rule == SizeRule::neighbor_alltoallv;
    static constexpr bool is_exchange = rule == SizeRule::sendrecv || rule == SizeRule::sendrecv_replace;
    static constexpr bool posts = !sets_up(I) && find(row.roles, Role::newrequest) >= 0;
    static constexpr bool completes = row.traffic == Traffic::completion &&
                                      (find(row.roles, Role::request) >= 0 || find(row.roles, Role::requests) >= 0);
    // Whether store() ever finds a size.
    static constexpr bool can_be_quick = !sets_up(I) && rule != SizeRule::alltoallw &&
                                         rule != SizeRule::neighbor_alltoallw && rule != SizeRule::partitioned &&
                                         rule != SizeRule::started && !(is_exchange && !A::template has<Role::status>);
    using Sized = std::conditional_t<
        rule == SizeRule::none, wrap::Sizeless,
        std::conditional_t<rule == SizeRule::received, Received<Language>,
                           std::conditional_t<is_mean, Averaged,
                                              std::conditional_t<is_exchange && A::template has<Role::status>,
                                                                 Exchanged, wrap::AsStored>>>>;
    using WithHandles = std::conditional_t<posts, Posting<Language, Sized>,
                                           std::conditional_t<completes, Completing<I, Language>, Sized>>;
    using Complete = WithPeers<I, Language, WithHandles>;
    using Booker = std::conditional_t<A::template has<Role::comm>, Complete, wrap::WithoutComm<Complete>>;

    // False: the size takes questions. Then measure() finds it after the call, and answers are remembered where they
    // can be.
    template <class... Words>
    [[gnu::always_inline]] static bool store(Ledger& ledger, Words&... args) {
        CallInHand& hand = ledger.hand;
        if constexpr (reads_status && !Language::fortran) want_status(hand, args...);
        const Word words[sizeof...(Words) + 1] = {args..., 0};
        const A a{words, &ledger};
        if constexpr (rule == SizeRule::received) hand.words[0] = words[status];
        if constexpr (A::template has<Role::comm>)
            ledger.set_comm(Language::handle(a.template word<Role::comm>()));
        else
            ledger.set_comm(no_handle);
        if constexpr (posts) hand.words[4] = a.template word<Role::newrequest>();
        store_peer(hand, a);
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
        hand.words[0] = 0;
        return false;
    }
    [[gnu::always_inline]] static void store_pair(CallInHand& hand, const A& a) {
        hand.count = a.template count<pair.count>();
        hand.type = Language::handle(a.template word<pair.type>());
        no_bytes_to_nobody<Role::dest>(hand, a);
        no_bytes_to_nobody<Role::source>(hand, a);
        no_bytes_to_nobody<Role::target>(hand, a);
    }
    [[gnu::always_inline]] static void store_peer(CallInHand& hand, const A& a) {
        constexpr Way way = way_of(I);
        if constexpr (way == Way::put || way == Way::fetched) {
            hand.peer = Language::integer(a.template word<Role::target>());
            hand.words[1] = Language::handle(a.template word<Role::win>());
        } else if constexpr (way == Way::to_peer || way == Way::both) {
            hand.peer = Language::integer(a.template word<Role::dest>());
        } else if constexpr (way == Way::from_peer && (Language::fortran || !A::template has<Role::status>)) {
            hand.peer = Language::integer(a.template word<Role::source>());  // else the status says it
        } else if constexpr (way == Way::from_message) {
            const Word message = a.template word<Role::message>();  // the library overwrites it
            hand.words[1] = message != 0 ? Language::handle_at(message, 0) : 0;
        } else if constexpr (way == Way::probed) {
            hand.words[1] = a.template word<Role::message>();
            hand.words[2] = a.template word<Role::status>();
            hand.peer = Language::integer(a.template word<Role::source>());
        }
    }
    // What store() may not do on the fast path.
    template <class... Words>
    static void make_room(Ledger& ledger, Words... args) {
        using R = RequestArguments<I>;
        const Word words[sizeof...(Words) + 1] = {args..., 0};
        if (ledger.is_traced()) remember_tags<I, Language>(*ledger.trace(), words);
        if constexpr (is_told)
            store_pair(ledger.hand, A{words, &ledger});  // of a library that is not known it is all that there is
        if constexpr (completes && R::many >= 0)
            if (ledger.has_requests() && words[R::many] != 0) ledger.room_for_handles(Language::integer(words[R::n]));
    }
    // What arrived is in the status; where a C caller does not want one, the library fills ours.
    static constexpr int status = find(row.roles, Role::status);
    static constexpr bool reads_status = status >= 0 && (rule == SizeRule::received || is_exchange);
    // There is always a status that tells how much has arrived, from whom, and that it was nothing from nobody.
    static constexpr bool is_told = rule == SizeRule::received && !Language::fortran;
    template <class... Words>
    [[gnu::always_inline]] static void want_status(CallInHand& hand, Words&... args) {
        int position = 0;
        ((position++ == status && args == library.facts.status_ignore
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
        hand.words[0] = a.template word<Role::status>();
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
