// Single calls in the order in which they ended: what a rank's profile holds of its trace (MPIPROF_TRACE). Read only
// where it is asked for; an export shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mpiprof::report {

enum class EventKind : std::uint8_t {
    call = 1,
    received,   // what the call before this event received besides (Sendrecv)
    started,    // a persistent request, by the call that follows
    completed,  // a request; begin_ns is that of the call that posted or started it
    region_entered,
    region_left,
    iteration,  // a mark; `bytes` are the items of the iteration that ends there
};
struct Event {
    std::uint64_t begin_ns = 0;  // after MPI_Init
    std::uint64_t duration_ns = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint32_t> peer;  // rank of MPI_COMM_WORLD
    std::optional<std::int32_t> tag;
    // Of its kind on this communicator: messages sent to the peer with this tag, those received from there, or
    // collectives; from 1 on, 0 = not known.
    std::uint32_t number = 0;
    std::uint32_t site = 0;          // index into Profile::sites; 0 = not known
    std::uint16_t call = 0;          // index into Profile::calls
    std::uint16_t communicator = 0;  // index into Profile::communicators; 0 = none, or not known
    std::uint16_t region = 0;        // index into Profile::regions
    EventKind kind = EventKind::call;
    bool is_failed = false;
    bool is_send = false, is_receive = false, is_collective = false;

    std::uint64_t end_ns() const { return begin_ns + duration_ns; }
};

struct ThreadTrace {
    std::uint32_t thread = 0;   // index into Profile::threads
    std::uint64_t lost = 0;     // older events that made room for these
    std::vector<Event> events;  // by their ends
};

}  // namespace mpiprof::report
