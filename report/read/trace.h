// The ring of a thread's trace -> its events, oldest first. Safe for any bytes: what cannot be is left out.
// Used by the profile reader only, which knows what the numbers in it mean.
#pragma once

#include <cstdint>

#include "libmpiprof/format/layout.h"
#include "report/model/trace.h"
#include "report/read/bytes.h"
#include "report/read/tick_scale.h"

namespace mpiprof::report {

// What an event may refer to, and its times.
struct TraceContext {
    TickScale scale;
    std::uint64_t origin = 0;                               // ticks at which MPI_Init ended
    bool is_final = true;                                   // nobody writes to it any more
    std::size_t sites = 0, communicators = 0, regions = 0;  // records of each
};

// `records` are those of the table that lie in the file. The event's call is still the id that the file gives it.
ThreadTrace trace_of(ByteSpan records, const format::Table& table, const TraceContext& context);

}  // namespace mpiprof::report
