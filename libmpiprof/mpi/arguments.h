// The arguments of a call by their roles, and what is asked of the library about them. The words are read only where
// they are significant at this rank. Used by the size rules and by what is stored before a call.
#pragma once

#include "libmpiprof/mpi/library.h"

namespace mpiprof::mpi {

// The arguments of one call by role. `words` are as the caller passed them.
template <class Language, class Row>
struct Arguments {
    using Binding = Language;
    Row row;
    const Word* words;
    Ledger* ledger;

    bool has(Role role) const { return row.facts.has(role); }
    Word word(Role role) const { return words[row.facts.at(role)]; }
    Word handle(Role role) const { return Language::handle(word(role)); }
    int integer(Role role) const { return Language::integer(word(role)); }
    std::int64_t count(Role role) const { return Language::count(word(role)); }
    std::int64_t count_at(Role role, std::int64_t i) const { return Language::count_at(word(role), i); }
    // n elements of the type: its size is asked only if there are any.
    Bytes elements(Role type, std::int64_t n) const {
        return n <= 0 ? 0 : static_cast<Bytes>(n) * library.type_size(*ledger, Language::c_type(handle(type)));
    }
    // Asked of the library, and remembered for quick_group() until its end, where that will be told: no array of the
    // program's is read as far as another communicator goes.
    CommInfo comm() const {
        const Word key = handle(Role::comm);
        const CommInfo info = library.communicator(Language::c_comm(key));
        if (!info.inter && info.is_told)
            ledger->groups.remember({Language::group_key(key), info.rank, info.size, info.in_degree, info.out_degree});
        return info;
    }
    const Group* quick_group() const { return ledger->groups.find(Language::group_key(handle(Role::comm))); }
    // Whether it talks to MPI_PROC_NULL there; false where it names nobody.
    bool is_null_peer(Role role) const { return has(role) && integer(role) == profiled.facts.proc_null; }
    // How this rank takes part in a rooted collective.
    enum class Part { root, member, bystander };
    Part part(const CommInfo& comm) const {
        const int root = integer(Role::root);
        if (comm.inter)
            return root == profiled.facts.root        ? Part::root
                   : root == profiled.facts.proc_null ? Part::bystander
                                                      : Part::member;
        return root == comm.rank ? Part::root : Part::member;
    }
};

template <class A>
[[gnu::always_inline]] inline std::int64_t sum_of(const A& a, Role counts, int n) {
    std::int64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += a.count_at(counts, i);
    return sum;
}

inline Bytes mean(Bytes sum, int n) { return n > 0 ? sum / static_cast<Bytes>(n) : 0; }

template <class Language, class A>
Bytes mean_of_blocks(const A& a, Role counts, Role types, int n) {
    Bytes sum = 0;
    for (int i = 0; i < n; ++i) {
        const std::int64_t count = a.count_at(counts, i);
        if (count <= 0) continue;
        const Word type = Language::handle_at(a.word(types), i);
        sum += static_cast<Bytes>(count) * library.type_size(*a.ledger, Language::c_type(type));
    }
    return mean(sum, n);
}

}  // namespace mpiprof::mpi
