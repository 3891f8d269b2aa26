// What a call that makes a communicator, type or window, or names one, tells of it, read from its arguments: of a
// communicator who the parent is, and on what its id depends. Included by sizes.h; asks nothing itself.
#pragma once

#include "libmpiprof/mpi/library.h"

namespace mpiprof::mpi {

constexpr Communicators::Making making_of(Id id) {
    using Making = Communicators::Making;
    switch (id) {
        case Id::Comm_create_group:
        case Id::Intercomm_create:
            return Making::by_members;
        case Id::Comm_dup:
        case Id::Comm_dup_with_info:
            return Making::copied;
        case Id::Comm_idup:
        case Id::Comm_idup_with_info:
            return Making::later;
        case Id::Comm_create_from_group:  // no parent; there may be no world
        case Id::Intercomm_create_from_groups:
        case Id::Comm_spawn:  // with processes of another world
        case Id::Comm_spawn_multiple:
        case Id::Comm_accept:
        case Id::Comm_connect:
        case Id::Comm_join:
            return Making::unknown;
        default:
            return Making::by_parent;
    }
}

// Which argument is the tag that tells communicators of the same members apart; -1: none.
constexpr int tag_of(Id id) { return id == Id::Comm_create_group ? 2 : id == Id::Intercomm_create ? 4 : -1; }

// Which argument says whether a member may get another rank than it had; -1: it may, or its like is the parent's.
constexpr int reorder_of(Id id) {
    switch (id) {
        case Id::Cart_create:
        case Id::Graph_create:
            return 4;
        case Id::Dist_graph_create:
            return 7;
        case Id::Dist_graph_create_adjacent:
            return 8;
        default:
            return -1;
    }
}

template <Id I, class Language>
[[gnu::noinline]] void Mpi::follow_made(Ledger& ledger, std::uint64_t key, const Word* words) {
    constexpr Roles roles = row_of(I).roles;
    constexpr int type = find(roles, Role::newtype), win = find(roles, Role::newwin);
    if (!library.is_known()) return;
    if constexpr (type >= 0) {
        if (words[type] == 0) return;
        const Word handle = Language::c_type(Language::handle_at(words[type], 0));
        library.end_of_type(handle);
        if constexpr (is_freed_by_the_program(I))
            if (ledger.records().types.made(ledger.records().image, handle, key)) ledger.know_site(address_of(key));
    } else if constexpr (win >= 0) {
        if (words[win] != 0) library.end_of_window(Language::c_win(Language::handle_at(words[win], 0)));
    } else {
        runtime.forget_handles();
    }
}

template <Id I, class Language>
[[gnu::noinline]] void Mpi::follow_communicator(const Word* words, [[maybe_unused]] std::uint64_t made_from) {
    constexpr Call row = row_of(I);
    constexpr int parent = find(row.roles, Role::comm);
    constexpr int made = find(row.roles, Role::newcomm);
    if (!library.is_known()) return;
    Word from = profiled.facts.comm_null;
    if constexpr (parent >= 0) from = Language::c_comm(Language::handle(words[parent]));
    if constexpr (made < 0) {
        library.communicators.renamed(from);
    } else {
        const Word handle =
            words[made] ? Language::c_comm(Language::handle_at(words[made], 0)) : profiled.facts.comm_null;
        std::uint64_t tag = 0;
        if constexpr (tag_of(I) >= 0)
            tag = static_cast<std::uint64_t>(Language::integer(words[tag_of(I)])) & 0xffffffff;
        auto making = making_of(I);
        constexpr int reorder = reorder_of(I);
        if constexpr (reorder >= 0)
            if (Language::integer(words[reorder]) == 0)  // in Fortran .FALSE.
                making = Communicators::Making::alike;
        const Communicators::WereStale stale =
            library.communicators.made(runtime.records(), making, made_from, from, handle, tag);
        if (stale.handle) library.end_of_communicator(handle);
        if (stale.parent) library.end_of_communicator(from);
    }
}

}  // namespace mpiprof::mpi
