// The rows of calls.def as the compiler sees them: an id each (a large-count twin has its own), checked one by one, and
// what the recorder is handed of them at run time. Used by the symbols of this room only.
#pragma once

#include <array>
#include <string_view>

#include "libmpiprof/calls/call.h"
#include "libmpiprof/record/ledger.h"

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

constexpr Call checked(const char* name, int arity, Treatment treatment, Traffic traffic, SizeRule rule, bool large, std::string_view words) {
    const Roles roles = parse_roles(words, arity);
    if (!size_rule_satisfied(rule, roles)) this_size_rule_needs_an_argument_that_the_row_lacks();
    return {name, Family::mpi, treatment, traffic, rule, large, static_cast<std::int8_t>(arity), 0, roles};
}

constexpr std::array<Call, calls> build_table() {
    std::array<Call, calls> table{{
#define MPI(Name, name, NAME, arity, treatment, traffic, rule, words) \
    checked("MPI_" #Name, arity, Treatment::treatment, Traffic::traffic, SizeRule::rule, false, words),
#define MPI_C(Name, name, NAME, arity, treatment, traffic, rule, words) \
    MPI(Name, name, NAME, arity, treatment, traffic, rule, words)       \
    checked("MPI_" #Name "_c", arity, Treatment::treatment, Traffic::traffic, SizeRule::rule, true, words),
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
// Holds pointers to the names: for constant expressions only. A run-time use would cost every process a relocation a row.
inline constexpr std::array<Call, calls> table = build_table();

constexpr Call row_of(Id id) { return table[static_cast<std::size_t>(id)]; }

// The recorder's view of the rows: names as offsets into one block of text.
[[gnu::visibility("hidden")]] extern const Catalogue catalogue;

}  // namespace mpiprof::mpi
