// The rows of calls.def as the compiler sees them, an id each, checked one by one. Used by the symbols of this room,
// and by libmpiprof/catalogue.cpp, which hands the recorder what it needs of them.
#pragma once

#include <array>
#include <string_view>

#include "libmpiprof/calls/call.h"

namespace mpiprof::nccl {

// Ids and counters of all libraries share one number space; MPI's come first (libmpiprof/catalogue.cpp holds it to
// that).
inline constexpr std::uint16_t first_id = 608;
inline constexpr std::uint16_t first_counter = 320;

enum class Id : std::uint16_t {
    before_first = first_id - 1,
#define NCCL(Name, ...) Name,
#define NCCL_SPECIAL(Name, ...) Name,
#define NCCL_PASSED(...)
#include "libmpiprof/nccl/calls.def"
#undef NCCL
#undef NCCL_SPECIAL
#undef NCCL_PASSED
    end
};
inline constexpr std::size_t calls = static_cast<std::size_t>(Id::end) - first_id;

constexpr std::array<Call, calls> build_table() {
    std::array<Call, calls> table{{
#define NCCL(Name, arity, treatment, traffic, rule, ...)                                                     \
    checked(Family::nccl, "nccl" #Name, arity, Treatment::treatment, Traffic::traffic, SizeRule::rule, true, \
            __VA_ARGS__),
#define NCCL_SPECIAL(...) NCCL(__VA_ARGS__)
#define NCCL_PASSED(...)
#include "libmpiprof/nccl/calls.def"
#undef NCCL
#undef NCCL_SPECIAL
#undef NCCL_PASSED
    }};
    std::uint16_t counter = first_counter;
    for (Call& call : table)
        if (call.treatment != Treatment::timed) call.counter = counter++;
    return table;
}
// It is for constant expressions only, as mpi/catalogue.h says.
inline constexpr std::array<Call, calls> table = build_table();

constexpr Call row_of(Id id) { return table[static_cast<std::size_t>(id) - first_id]; }

// Calls that all members of their communicator make in one order.
constexpr bool is_ordered(const Call& row) { return row.traffic == Traffic::collective; }

}  // namespace mpiprof::nccl
