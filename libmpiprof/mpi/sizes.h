// Message sizes: each size rule as a few lines over a row's argument words, and Mpi::Size, through which wrap/ gets at them.
// The words are read only where they are significant at this rank (docs/coverage.md words the rules).
#pragma once

#include "libmpiprof/mpi/completion.h"
#include "libmpiprof/mpi/creation.h"

namespace mpiprof::mpi {

// The arguments of one call by role. `words` are as the caller passed them.
template <Id I, class Language>
struct Arguments {
    static constexpr Call row = row_of(I);
    const Word* words;
    Ledger* ledger;  // null before the call: counts and handles may be read, nothing may be asked

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
        return n <= 0 ? 0 : static_cast<Bytes>(n) * library.type_size(*ledger, Language::c_type(Language::handle(word<R>())));
    }
    CommInfo comm() const { return library.communicator(Language::c_comm(Language::handle(word<Role::comm>()))); }
    template <Role R>
    bool is_null_peer() const {
        return Language::integer(word<R>()) == library.facts.proc_null;
    }
    // How this rank takes part in a rooted collective.
    enum class Part { root, member, bystander };
    Part part(const CommInfo& comm) const {
        const int root = Language::integer(word<Role::root>());
        if (comm.inter) return root == library.facts.root ? Part::root : root == library.facts.proc_null ? Part::bystander : Part::member;
        return root == comm.rank ? Part::root : Part::member;
    }
};

template <Role Counts, class A>
std::int64_t sum_of(const A& a, int n) {
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
        if constexpr (rule == SizeRule::gather) return a.template elements<Role::rtype>(a.template count<Role::rcount>());
        else if (comm.inter) return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.size)), comm.size);
        else return a.template elements<Role::rtype>(a.template count_at<Role::rcounts>(comm.rank));
    } else if constexpr (rule == SizeRule::scatter || rule == SizeRule::scatterv) {
        const CommInfo comm = a.comm();
        const Part part = a.part(comm);
        if (part == Part::bystander) return 0;
        if (part == Part::member) return a.template elements<Role::rtype>(a.template count<Role::rcount>());
        if constexpr (rule == SizeRule::scatter) return a.template elements<Role::stype>(a.template count<Role::scount>());
        else if (comm.inter) return mean(a.template elements<Role::stype>(sum_of<Role::scounts>(a, comm.size)), comm.size);
        else return a.template elements<Role::stype>(a.template count_at<Role::scounts>(comm.rank));
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
        const CommInfo comm = a.comm();
        const int members = comm.inter ? 0 : comm.size;  // an intercommunicator's own group is not described here
        return a.template elements<Role::type>(sum_of<Role::rcounts>(a, members));
    } else if constexpr (rule == SizeRule::rcount_times_size) {
        return a.template elements<Role::type>(a.template count<Role::rcount>()) * static_cast<Bytes>(a.comm().size);
    } else if constexpr (rule == SizeRule::sendrecv) {
        Bytes bytes = 0;
        if (!a.template is_null_peer<Role::dest>()) bytes += a.template elements<Role::stype>(a.template count<Role::scount>());
        if (a.template is_null_peer<Role::source>()) return bytes;
        if constexpr (A::template has<Role::status>)
            if (!Language::ignores_status(a.template word<Role::status>()))
                return bytes + bytes_in_status(library.facts, library.ask, reinterpret_cast<const void*>(a.template word<Role::status>()));
        return bytes + a.template elements<Role::rtype>(a.template count<Role::rcount>());
    } else if constexpr (rule == SizeRule::sendrecv_replace) {
        const Bytes block = a.template elements<Role::type>(a.template count<Role::count>());
        Bytes bytes = a.template is_null_peer<Role::dest>() ? 0 : block;
        if (a.template is_null_peer<Role::source>()) return bytes;
        if constexpr (A::template has<Role::status>)
            if (!Language::ignores_status(a.template word<Role::status>()))
                return bytes + bytes_in_status(library.facts, library.ask, reinterpret_cast<const void*>(a.template word<Role::status>()));
        return bytes + block;
    } else if constexpr (rule == SizeRule::partitioned) {
        return a.template elements<Role::type>(Language::integer(a.template word<Role::partitions>()) * a.template count<Role::count>());
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
    if constexpr (rule == SizeRule::none) return 0;
    else if constexpr (simple_pair(rule).count == Role::none) return message_size<I, Language>(ledger, words);
    else {
        if constexpr (A::template has<Role::dest>)
            if (a.template is_null_peer<Role::dest>()) return 0;
        if constexpr (A::template has<Role::source>)
            if (a.template is_null_peer<Role::source>()) return 0;
        if constexpr (A::template has<Role::target>)
            if (a.template is_null_peer<Role::target>()) return 0;
        return library.is_known() ? a.template elements<simple_pair(rule).type>(a.template count<simple_pair(rule).count>()) : 0;
    }
}

template <Id I, class Language>
[[gnu::noinline]] void Mpi::remember_set_up(Ledger& ledger, const Word* words) {
    const Word handle = Language::handle_at(words[find(row_of(I).roles, Role::newrequest)], 0);
    if (!library.is_known() || Language::is_null_request(handle)) return;
    ledger.set_up(handle, any_size<I, Language>(ledger, words), static_cast<std::uint16_t>(I));
}

template <Id I, class Language>
[[gnu::noinline]] void Mpi::follow(Ledger& ledger, const Word* words) {
    if constexpr (sets_up(I)) remember_set_up<I, Language>(ledger, words);
    else follow_communicator<I, Language>(words);
}

// ---- what the second half of a row does ----

// What arrived, by the status; where there is none to read (Fortran's STATUS_IGNORE), the posted count and type.
template <class Language>
struct Received : wrap::AsStored {
    static bool is_at_hand(const CallInHand&) { return !library.facts.opaque_status; }
    static Booking booking(const CallInHand& hand) {
        if (!library.is_known() || Language::ignores_status(hand.words[0])) return {hand.type, hand.count};
        return {no_handle, static_cast<std::int64_t>(bytes_in_status(library.facts, library.ask, reinterpret_cast<const void*>(hand.words[0])))};
    }
};

// A nonblocking call leaves a request behind: remember whose it is and since when.
template <class Language>
struct Posting : wrap::AsStored {
    static void after(Ledger& ledger, Memo& memo, Ticks) {
        if (!library.is_known()) return;
        const Word request = Language::handle_at(ledger.hand.words[0], 0);
        if (!Language::is_null_request(request)) ledger.post(memo, request, ledger.since());
    }
};

// Wait* and Test* complete requests.
template <Id I, class Language>
struct Completing : wrap::AsStored {
    static void after(Ledger& ledger, Memo& memo, Ticks ticks) {
        if (ledger.hand.requests == 0) return;
        complete_requests<I, Language>(ledger, ledger.since() + ticks, ticks);
        ledger.add_completed(memo, ledger.hand.completed);
    }
    static void after_untimed(Ledger& ledger) {
        constexpr int flag = find(row_of(I).roles, Role::flag);
        if (ledger.hand.requests == 0) return;
        if constexpr (flag >= 0)
            if (*reinterpret_cast<const int*>(ledger.hand.words[flag]) == 0) return;
        complete_requests<I, Language>(ledger, ledger.read_clock(), 0);
    }
};

// How wrap::call() gets at a row's message size: what it stores before the real call, and what is booked after it.
template <Id I, class Language>
struct Mpi::Size {
    static constexpr Call row = row_of(I);
    // A set-up moves nothing yet, whatever its rule says of its starts.
    static constexpr SizeRule rule = sets_up(I) ? SizeRule::none : row.size_rule;
    static constexpr Pair pair = rule == SizeRule::received ? Pair{Role::count, Role::type} : simple_pair(rule);
    static constexpr bool is_pair = pair.count != Role::none;
    static constexpr bool posts = !sets_up(I) && find(row.roles, Role::newrequest) >= 0;
    static constexpr bool completes =
        row.traffic == Traffic::completion && (find(row.roles, Role::request) >= 0 || find(row.roles, Role::requests) >= 0);
    static constexpr bool needs_arguments = !is_pair && rule != SizeRule::none && rule != SizeRule::one_element;
    using Booker = std::conditional_t<rule == SizeRule::received, Received<Language>,
                   std::conditional_t<posts, Posting<Language>,
                   std::conditional_t<completes, Completing<I, Language>, wrap::AsStored>>>;

    template <class... Words>
    [[gnu::always_inline]] static void store(Ledger& ledger, Words... args) {
        const Word words[sizeof...(Words) + 1] = {args..., 0};
        using A = Arguments<I, Language>;
        const A a{words, nullptr};
        CallInHand& hand = ledger.hand;
        if constexpr (A::template has<Role::comm>) hand.comm = Language::handle(a.template word<Role::comm>());
        else hand.comm = no_handle;
        if constexpr (rule == SizeRule::received) hand.words[0] = a.template word<Role::status>();
        if constexpr (posts) hand.words[0] = a.template word<Role::newrequest>();
        if constexpr (completes) {
            for (int i = 0; i < row.arity; ++i) hand.words[i] = words[i];
            copy_handles<I, Language>(ledger, words);
        }
        if constexpr (rule == SizeRule::one_element) {
            hand.count = 1;
            hand.type = Language::handle(a.template word<Role::type>());
            no_bytes_to_nobody<Role::target>(hand, a);
        } else if constexpr (is_pair) {
            hand.count = a.template count<pair.count>();
            hand.type = Language::handle(a.template word<pair.type>());
            no_bytes_to_nobody<Role::dest>(hand, a);
            no_bytes_to_nobody<Role::source>(hand, a);
            no_bytes_to_nobody<Role::target>(hand, a);
        } else {
            hand.count = 0;
            hand.type = no_handle;
        }
    }
    template <Role Peer>  // MPI_PROC_NULL
    [[gnu::always_inline]] static void no_bytes_to_nobody(CallInHand& hand, const Arguments<I, Language>& a) {
        if constexpr (Arguments<I, Language>::template has<Peer>)
            if (a.template is_null_peer<Peer>()) [[unlikely]] hand.count = 0, hand.type = no_handle;
    }
    // The rules that read several arguments, after the real call has returned with success.
    static void measure(Ledger& ledger, const Word* words) {
        ledger.hand.count = static_cast<std::int64_t>(message_size<I, Language>(ledger, words));
    }
};

}  // namespace mpiprof::mpi
