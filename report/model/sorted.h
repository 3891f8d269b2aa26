// Lists that are sorted by members of what is in them: sorting, finding, adding in place. For merging and whoever looks
// things up in a Job; knows nothing of what is sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace mpiprof::report {

// Orders things by these members, the first one first: ordered_by(&Entries::group, &Entries::rank).
template <class... Members>
auto ordered_by(Members... members) {
    return [=](const auto& a, const auto& b) { return std::tie(a.*members...) < std::tie(b.*members...); };
}

template <class T, class... Members>
void sort_by(std::vector<T>& list, Members... members) {
    std::sort(list.begin(), list.end(), ordered_by(members...));
}

// Of a list that is sorted by rank, one entry each; null: none is of this rank.
template <class List>
auto* find_rank(List& list, std::uint32_t rank) {
    const auto found = std::lower_bound(list.begin(), list.end(), rank,
                                        [](const auto& entry, std::uint32_t wanted) { return entry.rank < wanted; });
    return found != list.end() && found->rank == rank ? &*found : nullptr;
}

// Adds `value` to the sorted list, or to the one that is equal to it.
template <class T, class Less, class Add>
void add_sorted(std::vector<T>& list, const T& value, Less less, Add add) {
    const auto at = std::lower_bound(list.begin(), list.end(), value, less);
    if (at != list.end() && !less(value, *at))
        add(*at, value);
    else
        list.insert(at, value);
}

}  // namespace mpiprof::report
