// The rows of calls.def as the compiler sees them: an id each (a large-count twin has its own), checked one by one.
// Used by the symbols of this room, and by libmpiprof/catalogue.cpp, which hands the recorder what it needs of them.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>

#include "libmpiprof/calls/call.h"

namespace mpiprof::mpi {

enum class Id : std::uint16_t {
#define MPI(Name, ...) Name,
#define MPI_C(Name, ...) Name, Name##_c,
#define MPI_SPECIAL(Name, ...) Name,
#define MPI_PASSED(...)
#include "libmpiprof/mpi/calls.def"
#undef MPI
#undef MPI_C
#undef MPI_SPECIAL
#undef MPI_PASSED
    count
};
inline constexpr std::size_t calls = static_cast<std::size_t>(Id::count);

constexpr std::array<Call, calls> build_table() {
    std::array<Call, calls> table{{
#define MPI(Name, name, arity, treatment, traffic, rule, ...)                                                \
    checked(Family::mpi, "MPI_" #Name, arity, Treatment::treatment, Traffic::traffic, SizeRule::rule, false, \
            __VA_ARGS__),
#define MPI_C(Name, name, arity, treatment, traffic, rule, ...)                                                  \
    MPI(Name, name, arity, treatment, traffic, rule, __VA_ARGS__)                                                \
    checked(Family::mpi, "MPI_" #Name "_c", arity, Treatment::treatment, Traffic::traffic, SizeRule::rule, true, \
            __VA_ARGS__),
#define MPI_SPECIAL(...) MPI(__VA_ARGS__)
#define MPI_PASSED(...)
#include "libmpiprof/mpi/calls.def"
#undef MPI
#undef MPI_C
#undef MPI_SPECIAL
#undef MPI_PASSED
    }};
    std::uint16_t counter = 0;
    for (Call& call : table)
        if (call.treatment != Treatment::timed) call.counter = counter++;
    return table;
}
// Holds pointers to the names: for constant expressions only. A run-time use would cost every process a relocation a
// row.
inline constexpr std::array<Call, calls> table = build_table();

constexpr Call row_of(Id id) { return table[static_cast<std::size_t>(id)]; }

// Calls that all members of their communicator make in one order: collectives, and what makes communicators, windows,
// files and persistent collectives. Not MPI_Comm_create_group, which only some members make.
constexpr bool is_ordered(const Call& row) {
    const auto has = [&](Role role) { return find(row.roles, role) >= 0; };
    if (row.treatment != Treatment::timed || !has(Role::comm)) return false;
    if (row.traffic == Traffic::collective || row.traffic == Traffic::sync) return true;
    if (row.traffic == Traffic::file) return has(Role::newfile);
    if (row.traffic != Traffic::setup || std::string_view(row.name) == "MPI_Comm_create_group") return false;
    return has(Role::newcomm) || has(Role::newwin) || has(Role::newrequest);
}
constexpr bool is_ordered(Id id) { return is_ordered(row_of(id)); }

constexpr bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    if (name.ends_with("_c")) name.remove_suffix(2);
    for (const std::string_view one : names)
        if (name == one) return true;
    return false;
}
// Nobody leaves it before all have entered it. Of the calls with a count for each member one may be 0, so that two of
// them have nothing to do with each other.
constexpr bool waits_for_all(const Call& row) {
    return is_one_of(row.name,
                     {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block"});
}
// Nobody who gets something leaves it before the root has entered it.
constexpr bool waits_for_root(const Call& row) {
    return is_one_of(row.name, {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"});
}
// The root gets something of all members.
constexpr bool root_waits(const Call& row) { return is_one_of(row.name, {"MPI_Reduce", "MPI_Gather"}); }

}  // namespace mpiprof::mpi
