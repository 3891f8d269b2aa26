// Communicators, and which of them calls and requests in hand were given.
#include "report/read/reading.h"

#include <unordered_map>

namespace mpiprof::report {
namespace {

using Handles = std::unordered_map<std::uint64_t, std::uint16_t>;

// A handle that is an int is in a register without its sign, and in memory with it.
std::uint64_t without_sign(std::uint64_t handle) {
    constexpr std::uint64_t negative = 0xffffffff80000000;
    return (handle & negative) == negative ? handle & 0xffffffff : handle;
}

void find_communicators_in_hand(Reading& r, const Handles& of_handle) {
    const auto find = [&](std::uint64_t handle, std::uint16_t& communicator) {
        if (const auto found = of_handle.find(without_sign(handle)); found != of_handle.end())
            communicator = found->second;
    };
    for (std::size_t t = 0; t < r.handle_of_call.size(); ++t)
        find(r.handle_of_call[t], r.profile.threads[t].in_communicator);
    for (std::size_t t = 0; t < r.handles_of_requests.size(); ++t)
        for (std::size_t i = 0; i < r.handles_of_requests[t].size(); ++i)
            find(r.handles_of_requests[t][i], r.profile.threads[t].open_requests[i].communicator);
}

}  // namespace

void read_communicators(Reading& r) {
    Handles of_handle;
    r.profile.communicators.reserve(r.tables.records(format::TableType::communicators));
    r.tables.each<format::Communicator>(
        format::TableType::communicators, [&](const format::Communicator& record, const format::Table&) {
            r.profile.communicators.push_back(
                {.id = record.id,
                 .parent = record.parent,
                 .size = record.size,
                 .rank = record.rank,
                 .is_inter = (record.flags & format::is_intercommunicator) != 0,
                 .is_id_ambiguous = (record.flags & format::id_by_members) != 0,
                 .origin = record.how <= format::origin_made ? static_cast<Origin>(record.how) : Origin::unknown,
                 .made_by = {},
                 .name = std::string(text_of(record.name)),
                 .is_unused = (record.flags & format::is_not_used) != 0,
                 .collectives = record.collectives,
                 .order = record.order});
            // MPI's world of one in a job of several, each of which has one of its own.
            if (record.how == format::origin_world && record.size == 1 && r.profile.size > 1)
                r.profile.communicators.back().origin = Origin::self;
            if (record.how == format::origin_made) r.profile.communicators.back().made_by = r.calls.of(record.made_by);
            const auto index = static_cast<std::uint16_t>(r.profile.communicators.size() - 1);
            // A handle may have meant several communicators in turn: the last one counts.
            for (const std::uint64_t handle : {record.handle, record.fortran_handle})
                of_handle[without_sign(handle)] = index;
        });
    of_handle.erase(0);  // those that were freed
    find_communicators_in_hand(r, of_handle);
    for (Cell& cell : r.profile.cells)
        if (cell.communicator >= r.profile.communicators.size()) cell.communicator = 0;
}

}  // namespace mpiprof::report
