// Each size rule as a few lines over a row's argument words: the size of a call's message, asked after its success
// (docs/coverage.md words the rules).
#pragma once

#include "libmpiprof/mpi/arguments.h"
#include "libmpiprof/mpi/completion.h"

namespace mpiprof::mpi {

// How much a rooted collective moves for this rank: at the root the block of each other rank (their mean between two
// groups), elsewhere its own.
template <SizeRule Rule, class A>
Bytes rooted_size(const A& a) {
    constexpr bool gathers = Rule == SizeRule::gather || Rule == SizeRule::gatherv;
    constexpr bool is_even = Rule == SizeRule::gather || Rule == SizeRule::scatter;
    constexpr Role root_type = gathers ? Role::rtype : Role::stype, own_type = gathers ? Role::stype : Role::rtype;
    constexpr Role own_count = gathers ? Role::scount : Role::rcount;
    const CommInfo comm = a.comm();
    const auto part = a.part(comm);
    if (part == A::Part::bystander) return 0;
    if (part == A::Part::member) return a.template elements<own_type>(a.template count<own_count>());
    if constexpr (is_even) {
        constexpr Role count = gathers ? Role::rcount : Role::scount;
        return a.template elements<root_type>(a.template count<count>());
    } else {
        constexpr Role counts = gathers ? Role::rcounts : Role::scounts;
        if (comm.inter) return mean(a.template elements<root_type>(sum_of<counts>(a, comm.size)), comm.size);
        return a.template elements<root_type>(a.template count_at<counts>(comm.rank));
    }
}

// What was sent and what came: by the status, or where there is none to read as much as was posted.
template <SizeRule Rule, class Language, class A>
Bytes exchange_size(const A& a) {
    constexpr bool replaces = Rule == SizeRule::sendrecv_replace;
    constexpr Role sent_count = replaces ? Role::count : Role::scount, sent_type = replaces ? Role::type : Role::stype;
    constexpr Role posted_count = replaces ? Role::count : Role::rcount,
                   posted_type = replaces ? Role::type : Role::rtype;
    Bytes bytes = 0;
    if (!a.template is_null_peer<Role::dest>()) bytes = a.template elements<sent_type>(a.template count<sent_count>());
    if (a.template is_null_peer<Role::source>()) return bytes;
    if constexpr (A::template has<Role::status>)
        if (const Word status = a.template word<Role::status>(); !Language::ignores_status(status))
            return bytes + bytes_in_status(reinterpret_cast<const void*>(status));
    return bytes + a.template elements<posted_type>(a.template count<posted_count>());
}

// The mean over the ranks that a block goes to, or in place comes from.
template <SizeRule Rule, class Language, class A>
Bytes alltoall_size(const A& a) {
    const CommInfo comm = a.comm();
    const bool in_place = Language::is_in_place(a.template word<Role::sbuf>());
    if constexpr (Rule == SizeRule::alltoallw) {
        if (in_place) return mean_of_blocks<Role::rcounts, Role::rtypes, Language>(a, comm.size);
        return mean_of_blocks<Role::scounts, Role::stypes, Language>(a, comm.size);
    } else {
        if (in_place) return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.size)), comm.size);
        return mean(a.template elements<Role::stype>(sum_of<Role::scounts>(a, comm.size)), comm.size);
    }
}

// The mean over the neighbours of a topology.
template <SizeRule Rule, class Language, class A>
Bytes neighbor_size(const A& a) {
    const CommInfo comm = a.comm();
    if constexpr (Rule == SizeRule::neighbor_rcounts_mean)
        return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.in_degree)), comm.in_degree);
    else if constexpr (Rule == SizeRule::neighbor_alltoallv)
        return mean(a.template elements<Role::stype>(sum_of<Role::scounts>(a, comm.out_degree)), comm.out_degree);
    else
        return mean_of_blocks<Role::scounts, Role::stypes, Language>(a, comm.out_degree);
}

// The rules that need more than one count and one type. Called after success, so the significant handles are valid.
template <Id I, class Language>
[[gnu::noinline]] Bytes message_size(Ledger& ledger, const Word* words) {
    using A = Arguments<I, Language>;
    const A a{words, &ledger};
    constexpr SizeRule rule = A::row.size_rule;
    if (!library.is_known()) return 0;

    if constexpr (rule == SizeRule::started) {
        return bytes_started<I, Language>(ledger, words);
    } else if constexpr (rule == SizeRule::rblock_mine) {
        const CommInfo comm = a.comm();
        if (comm.inter) return mean(a.template elements<Role::rtype>(sum_of<Role::rcounts>(a, comm.size)), comm.size);
        return a.template elements<Role::rtype>(a.template count_at<Role::rcounts>(comm.rank));
    } else if constexpr (rule == SizeRule::gather || rule == SizeRule::gatherv || rule == SizeRule::scatter ||
                         rule == SizeRule::scatterv) {
        return rooted_size<rule>(a);
    } else if constexpr (rule == SizeRule::alltoallv || rule == SizeRule::alltoallw) {
        return alltoall_size<rule, Language>(a);
    } else if constexpr (rule == SizeRule::rcounts_sum) {
        return a.template elements<Role::type>(sum_of<Role::rcounts>(a, a.comm().members));
    } else if constexpr (rule == SizeRule::rcount_times_size) {
        return a.template elements<Role::type>(a.template count<Role::rcount>()) * static_cast<Bytes>(a.comm().members);
    } else if constexpr (rule == SizeRule::sendrecv || rule == SizeRule::sendrecv_replace) {
        return exchange_size<rule, Language>(a);
    } else if constexpr (rule == SizeRule::partitioned) {
        using Wide = std::conditional_t<Language::fortran, wrap::Fortran<true>, wrap::C<true>>;  // this count always is
        return a.template elements<Role::type>(Language::integer(a.template word<Role::partitions>()) *
                                               Wide::count(a.template word<Role::count>()));
    } else {
        return neighbor_size<rule, Language>(a);
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
    // Each side of an exchange may be nobody for itself.
    constexpr bool has_one_peer = rule != SizeRule::sendrecv && rule != SizeRule::sendrecv_replace;
    if constexpr (rule == SizeRule::none) return 0;
    if constexpr (has_one_peer && A::template has<Role::dest>)
        if (a.template is_null_peer<Role::dest>()) return 0;
    if constexpr (has_one_peer && A::template has<Role::source>)
        if (a.template is_null_peer<Role::source>()) return 0;
    if constexpr (A::template has<Role::target>)
        if (a.template is_null_peer<Role::target>()) return 0;
    if constexpr (A::template has<Role::root>)
        if (a.template is_null_peer<Role::root>()) return 0;
    if constexpr (rule != SizeRule::none && simple_pair(rule).count == Role::none)
        return message_size<I, Language>(ledger, words);
    else if constexpr (rule != SizeRule::none) {
        return library.is_known()
                   ? a.template elements<simple_pair(rule).type>(a.template count<simple_pair(rule).count>())
                   : 0;
    }
}

}  // namespace mpiprof::mpi
