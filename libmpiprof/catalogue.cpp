// The rows of all libraries in one catalogue, as the recorder is handed them at run time: names as offsets into one
// block of text, plain records, no pointers, since each would be a relocation in every process. Above the rooms of the
// rows, which do not know each other; built by the compiler.
#include <array>
#include <string_view>

#include "libmpiprof/mpi/catalogue.h"
#include "libmpiprof/nccl/catalogue.h"
#include "libmpiprof/record/ledger.h"

namespace mpiprof {
namespace {

// Each row of all libraries with its id: the one place that lists the libraries.
template <class Visit>
constexpr void for_each_row(Visit visit) {
    for (std::size_t i = 0; i < mpi::calls; ++i) visit(i, mpi::table[i]);
    for (std::size_t i = 0; i < nccl::calls; ++i) visit(nccl::first_id + i, nccl::table[i]);
}

constexpr std::size_t calls = [] {
    std::size_t n = 0;
    for_each_row([&](std::size_t id, const Call&) { n = id + 1; });
    return n;
}();
static_assert(calls < Catalogue::barrier_before, "Records::in_dictionary has a bit per id");

constexpr bool ids_ascend() {
    std::size_t next = 0;
    bool ascend = true;
    for_each_row([&](std::size_t id, const Call&) {
        ascend &= id >= next;
        next = id + 1;
    });
    return ascend;
}
static_assert(ids_ascend(), "ids share one number space: a library's first_id lies behind the last of the one before");

constexpr std::size_t bytes_of_names() {
    std::size_t bytes = 0;
    for_each_row([&](std::size_t, const Call& call) { bytes += std::string_view(call.name).size() + 1; });
    return bytes;
}
static_assert(bytes_of_names() < 65536);

constexpr auto build_names() {
    std::array<char, bytes_of_names()> names{};
    std::size_t at = 0;
    for_each_row([&](std::size_t, const Call& call) {
        for (const char c : std::string_view(call.name)) names[at++] = c;
        ++at;
    });
    return names;
}

constexpr std::uint8_t arguments_of(const Call& call) {
    const auto has = [&](Role role) { return find(call.roles, role) >= 0; };
    const bool completes = call.traffic == Traffic::completion && call.treatment == Treatment::timed;
    std::uint32_t arguments = 0;
    if (has(Role::dest)) arguments |= format::has_dest;
    // Nobody waits in a call that polls: MPI_Iprobe does not show whom it asks for.
    if (has(Role::source) && call.treatment != Treatment::polled) arguments |= format::has_source;
    if (has(Role::root)) arguments |= format::has_root;
    if (completes && (has(Role::request) || has(Role::requests))) arguments |= format::has_requests;
    if (call.family == Family::mpi && mpi::is_ordered(call)) arguments |= format::is_ordered;
    if (call.family == Family::nccl && nccl::is_ordered(call)) arguments |= format::is_ordered | format::is_posted;
    if (has(Role::newrequest)) arguments |= format::is_posted;
    if (call.family == Family::mpi && mpi::waits_for_all(call)) arguments |= format::waits_for_all;
    if (call.family == Family::mpi && mpi::waits_for_root(call)) arguments |= format::waits_for_root;
    if (call.family == Family::mpi && mpi::root_waits(call)) arguments |= format::root_waits;
    return static_cast<std::uint8_t>(arguments);
}

constexpr auto build_infos() {
    std::array<CallInfo, calls> infos{};
    for (CallInfo& nobody : infos)
        nobody.treatment = Treatment::timed;  // ids between two libraries: no counter is theirs
    std::size_t at = 0;
    for_each_row([&](std::size_t id, const Call& call) {
        infos[id] = {static_cast<std::uint16_t>(at),
                     call.family,
                     call.treatment,
                     call.traffic,
                     call.size_rule,
                     call.counter,
                     arguments_of(call),
                     call.bus};
        at += std::string_view(call.name).size() + 1;
    });
    return infos;
}

constexpr std::size_t counters = [] {
    std::size_t n = 0;
    for_each_row([&](std::size_t, const Call& call) {
        if (call.treatment != Treatment::timed) n = call.counter + 1u;
    });
    return n;
}();
static_assert(counters <= Catalogue::most_counted, "a ledger has a place for each: raise it");

constexpr bool counters_ascend() {
    std::size_t next = 0;
    bool ascend = true;
    for_each_row([&](std::size_t, const Call& call) {
        if (call.treatment == Treatment::timed) return;
        ascend &= call.counter >= next;
        next = call.counter + 1u;
    });
    return ascend;
}
static_assert(counters_ascend(), "counters share one table: a library's first_counter lies behind the last before it");

constexpr bool names_fit() {
    bool fit = true;
    for_each_row([&](std::size_t, const Call& call) {
        fit &= std::string_view(call.name).size() < sizeof(format::CallRecord::name);
    });
    return fit;
}
static_assert(names_fit(), "a CallRecord holds the name");

constexpr auto names = build_names();
constexpr auto infos = build_infos();

}  // namespace

constinit const Catalogue whole_catalogue{names.data(), infos.data(), static_cast<std::uint16_t>(calls),
                                          static_cast<std::uint16_t>(counters)};

}  // namespace mpiprof
