// Adding up: what calls moved and took, and which rank spent most. Included by whatever sums over cells, ranks or
// lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace mpiprof::report {

// The smaller of two figures of which either may be not known.
inline std::optional<std::uint64_t> least_of(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

// A number of calls with their bytes, time and errors: what a communicator's calls are counted by.
template <class T>
concept Counts = requires(T t) {
    t.calls += t.bytes + t.time_ns + t.errors;
};

template <Counts To, Counts From>
void add_counts(To& to, const From& from) {
    to.calls += from.calls;
    to.bytes += from.bytes;
    to.time_ns += from.time_ns;
    to.errors += from.errors;
}

// The same with extremes: a cell, a sum, a call site.
template <class T>
concept Tally = Counts<T> && requires(T t) {
    t.max_ns = std::max(t.max_ns, t.max_ns);
    t.min_ns = least_of(t.min_ns, t.min_ns);
};

template <Tally To, Tally From>
void add_tally(To& to, const From& from) {
    add_counts(to, from);
    to.min_ns = least_of(to.min_ns, from.min_ns);
    to.max_ns = std::max(to.max_ns, from.max_ns);
}

// Of the ranks that a row is of, the one that spent most, the lowest of several: `rank` spent `ns`. Called before the
// row's number of ranks counts it.
template <class Row>
void take_largest(Row& row, std::uint64_t ns, std::uint32_t rank) {
    const bool is_first = row.ranks == 0;
    if (!is_first && (ns < row.largest_ns || (ns == row.largest_ns && rank >= row.largest_rank))) return;
    row.largest_ns = ns;
    row.largest_rank = rank;
}

// What other rows of the same key knew of it; those that no rank has made say nothing.
template <class Row>
void take_largest(Row& row, const Row& from) {
    if (from.ranks != 0) take_largest(row, from.largest_ns, from.largest_rank);
}

}  // namespace mpiprof::report
