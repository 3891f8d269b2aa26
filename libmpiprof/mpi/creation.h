// What a call that makes a communicator, type or window, or names one, tells of it, read from its arguments: of a
// communicator who the parent is, and on what its id depends. Included by sizes.h; asks nothing itself.
#pragma once

#include "libmpiprof/mpi/library.h"

namespace mpiprof::mpi {

template <class Handles>
[[gnu::noinline]] void Mpi::follow_type(Word made, bool is_freed_by_program, Ledger& ledger, std::uint64_t key) {
    if (!library.is_known() || made == 0) return;
    const Word handle = Handles::c_type(Handles::handle_at(made, 0));
    library.end_of_type(handle);
    if (is_freed_by_program && ledger.records().types.made(ledger.records().image, handle, key))
        ledger.know_site(address_of(key));
}
template <class Handles>
[[gnu::noinline]] void Mpi::follow_window(Word made) {
    if (library.is_known() && made != 0) library.end_of_window(Handles::c_win(Handles::handle_at(made, 0)));
}

template <class Language, class Row>
[[gnu::noinline]] void Mpi::follow_communicator(Row row, const Word* words, std::uint64_t made_from) {
    const Facts& facts = row.facts;
    const int parent = facts.at(Role::comm), newcomm = facts.at(Role::newcomm);
    if (!library.is_known()) return;
    const Word from = parent >= 0 ? Language::c_comm(Language::handle(words[parent])) : profiled.facts.comm_null;
    if (newcomm < 0) return library.communicators.renamed(from);
    const Word made = words[newcomm];
    const Word handle = made ? Language::c_comm(Language::handle_at(made, 0)) : profiled.facts.comm_null;
    std::uint64_t tag = 0;
    if (facts.tag >= 0) tag = static_cast<std::uint64_t>(Language::integer(words[facts.tag])) & 0xffffffff;
    auto making = facts.making;
    if (facts.reorder >= 0 && Language::integer(words[facts.reorder]) == 0)  // in Fortran .FALSE.
        making = Communicators::Making::alike;
    const Communicators::WereStale stale =
        library.communicators.made(runtime.records(), making, made_from, from, handle, tag);
    if (stale.handle) library.end_of_communicator(handle);
    if (stale.parent) library.end_of_communicator(from);
}

}  // namespace mpiprof::mpi
