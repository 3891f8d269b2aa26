// The arguments of a call by their roles, and what is asked of the library about them. The words are read only where
// they are significant at this rank. Used by the size rules and by what is stored before a call.
#pragma once

#include "libmpiprof/mpi/library.h"

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
    // Asked of the library, and remembered for quick_group() until its end, where that will be told: no array of the
    // program's is read as far as another communicator goes.
    CommInfo comm() const {
        const Word handle = Language::handle(word<Role::comm>());
        const CommInfo info = library.communicator(Language::c_comm(handle));
        if (!info.inter && info.is_told)
            ledger->groups.remember(
                {Language::group_key(handle), info.rank, info.size, info.in_degree, info.out_degree});
        return info;
    }
    const Group* quick_group() const {
        return ledger->groups.find(Language::group_key(Language::handle(word<Role::comm>())));
    }
    template <Role R>
    bool is_null_peer() const {
        return Language::integer(word<R>()) == profiled.facts.proc_null;
    }
    // How this rank takes part in a rooted collective.
    enum class Part { root, member, bystander };
    Part part(const CommInfo& comm) const {
        const int root = Language::integer(word<Role::root>());
        if (comm.inter)
            return root == profiled.facts.root        ? Part::root
                   : root == profiled.facts.proc_null ? Part::bystander
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

}  // namespace mpiprof::mpi
