// Each size rule as a few lines over a row's argument words: the size of a call's message, asked after its success
// (docs/coverage.md words the rules). For the plain form and sizes.h.
#pragma once

#include "libmpiprof/mpi/arguments.h"
#include "libmpiprof/mpi/completion.h"

namespace mpiprof::mpi {

// Which (count, type) pair a rule multiplies, where that is all it needs.
struct Pair {
    Role count, type;
};
constexpr Pair simple_pair(SizeRule rule) {
    if (rule == SizeRule::count_type) return {Role::count, Role::type};
    if (rule == SizeRule::rblock) return {Role::rcount, Role::rtype};
    return {Role::none, Role::none};
}

// The arguments of a rooted collective, as the root and as another member finds its size by them.
struct Rooted {
    bool is_even;  // one count for all
    Role count, counts, root_type;
    Role own_count, own_type;
};
constexpr bool is_rooted(SizeRule rule) {
    return rule == SizeRule::gather || rule == SizeRule::gatherv || rule == SizeRule::scatter ||
           rule == SizeRule::scatterv;
}
constexpr Rooted rooted(SizeRule rule) {
    const bool is_even = rule == SizeRule::gather || rule == SizeRule::scatter;
    if (rule == SizeRule::gather || rule == SizeRule::gatherv)
        return {is_even, Role::rcount, Role::rcounts, Role::rtype, Role::scount, Role::stype};
    return {is_even, Role::scount, Role::scounts, Role::stype, Role::rcount, Role::rtype};
}

// How much a rooted collective moves for this rank: at the root the block of each other rank (their mean between two
// groups), elsewhere its own.
template <class A>
Bytes rooted_size(const A& a, const Rooted& r) {
    const CommInfo comm = a.comm();
    const auto part = a.part(comm);
    if (part == A::Part::bystander) return 0;
    if (part == A::Part::member) return a.elements(r.own_type, a.count(r.own_count));
    if (r.is_even) return a.elements(r.root_type, a.count(r.count));
    if (comm.inter) return mean(a.elements(r.root_type, sum_of(a, r.counts, comm.size)), comm.size);
    return a.elements(r.root_type, a.count_at(r.counts, comm.rank));
}

// What was sent and what came: by the status, or where there is none to read as much as was posted.
template <class Language, class A>
Bytes exchange_size(const A& a, SizeRule rule) {
    const bool replaces = rule == SizeRule::sendrecv_replace;
    Bytes bytes = 0;
    if (!a.is_null_peer(Role::dest))
        bytes = a.elements(replaces ? Role::type : Role::stype, a.count(replaces ? Role::count : Role::scount));
    if (a.is_null_peer(Role::source)) return bytes;
    if (a.has(Role::status))
        if (const Word status = a.word(Role::status); !Language::ignores_status(status))
            return bytes + bytes_in_status(reinterpret_cast<const void*>(status));
    return bytes + a.elements(replaces ? Role::type : Role::rtype, a.count(replaces ? Role::count : Role::rcount));
}

// The mean over the ranks that a block goes to, or in place comes from.
template <class Language, class A>
Bytes alltoall_size(const A& a, SizeRule rule) {
    const int size = a.comm().size;
    const bool in_place = Language::is_in_place(a.word(Role::sbuf));
    const Role counts = in_place ? Role::rcounts : Role::scounts;
    if (rule == SizeRule::alltoallw)
        return mean_of_blocks<Language>(a, counts, in_place ? Role::rtypes : Role::stypes, size);
    return mean(a.elements(in_place ? Role::rtype : Role::stype, sum_of(a, counts, size)), size);
}

// The mean over the neighbours of a topology.
template <class Language, class A>
Bytes neighbor_size(const A& a, SizeRule rule) {
    const CommInfo comm = a.comm();
    if (rule == SizeRule::neighbor_rcounts_mean)
        return mean(a.elements(Role::rtype, sum_of(a, Role::rcounts, comm.in_degree)), comm.in_degree);
    if (rule == SizeRule::neighbor_alltoallv)
        return mean(a.elements(Role::stype, sum_of(a, Role::scounts, comm.out_degree)), comm.out_degree);
    return mean_of_blocks<Language>(a, Role::scounts, Role::stypes, comm.out_degree);
}

// The rules that need more than one count and one type. Called after success, so the significant handles are valid.
template <class Language, class Row>
[[gnu::noinline]] Bytes message_size(Row row, Ledger& ledger, const Word* words) {
    const Arguments<Language, Row> a{row, words, &ledger};
    const SizeRule rule = row.facts.size_rule;
    if (!library.is_known()) return 0;
    switch (rule) {
        case SizeRule::started:
            return bytes_started<Language>(row, ledger, words);
        case SizeRule::rblock_mine: {
            const CommInfo comm = a.comm();
            if (comm.inter) return mean(a.elements(Role::rtype, sum_of(a, Role::rcounts, comm.size)), comm.size);
            return a.elements(Role::rtype, a.count_at(Role::rcounts, comm.rank));
        }
        case SizeRule::gather:
        case SizeRule::gatherv:
        case SizeRule::scatter:
        case SizeRule::scatterv:
            return rooted_size(a, rooted(rule));
        case SizeRule::alltoallv:
        case SizeRule::alltoallw:
            return alltoall_size<Language>(a, rule);
        case SizeRule::rcounts_sum:
            return a.elements(Role::type, sum_of(a, Role::rcounts, a.comm().members));
        case SizeRule::rcount_times_size:
            return a.elements(Role::type, a.count(Role::rcount)) * static_cast<Bytes>(a.comm().members);
        case SizeRule::sendrecv:
        case SizeRule::sendrecv_replace:
            return exchange_size<Language>(a, rule);
        case SizeRule::partitioned: {
            using Wide = std::conditional_t<Language::fortran, wrap::Fortran<true>, wrap::C<true>>;  // always is
            return a.elements(Role::type, a.integer(Role::partitions) * Wide::count(a.word(Role::count)));
        }
        default:
            return neighbor_size<Language>(a, rule);
    }
}

// Any rule's size, after success.
template <class Language, class Row>
Bytes any_size(Row row, Ledger& ledger, const Word* words) {
    const SizeRule rule = row.facts.size_rule;
    const Arguments<Language, Row> a{row, words, &ledger};
    if (rule == SizeRule::none) return 0;
    // Each side of an exchange may be nobody for itself.
    if (!exchanges(rule) && (a.is_null_peer(Role::dest) || a.is_null_peer(Role::source))) return 0;
    if (a.is_null_peer(Role::target) || a.is_null_peer(Role::root)) return 0;
    const Pair pair = simple_pair(rule);
    if (pair.count == Role::none) return message_size<Language>(row, ledger, words);
    return library.is_known() ? a.elements(pair.type, a.count(pair.count)) : 0;
}

}  // namespace mpiprof::mpi
