// The rings of the threads' traces -> their events, oldest first. A writer that is killed, or still at work, leaves a
// few events at the old end of its ring that are newer ones in part.
#include "report/read/reading.h"

#include <algorithm>

namespace mpiprof::report {
namespace {

// What an event may refer to, and its times.
struct TraceContext {
    TickScale scale;
    std::uint64_t origin = 0;                               // ticks at which MPI_Init ended
    bool is_final = true;                                   // nobody writes to it any more
    std::size_t sites = 0, communicators = 0, regions = 0;  // records of each
};

bool is_known(format::TraceKind kind) {
    return kind >= format::TraceKind::call && kind <= format::TraceKind::iteration;
}

Event event_of(const format::TraceEvent& record, const TraceContext& context) {
    const auto ns = [&](std::uint64_t ticks) { return context.scale.ns(ticks); };
    const auto index = [](auto value, std::size_t size) { return value < size ? value : decltype(value){0}; };
    Event event;
    event.begin_ns = record.begin > context.origin ? ns(record.begin - context.origin) : 0;
    // Of the whole, so that the ends of calls that follow each other do not cross by rounding.
    const std::uint64_t end = record.ticks < ~record.begin ? record.begin + record.ticks : record.begin;
    const std::uint64_t end_ns = end > context.origin ? ns(end - context.origin) : 0;
    event.duration_ns = end_ns - event.begin_ns;
    event.bytes = record.bytes;
    if (record.peer < format::peer_any) event.peer = record.peer;
    if (record.tag >= 0) event.tag = record.tag;
    event.number = record.sequence;
    event.site = index(record.site, context.sites);
    event.call = record.call;
    event.communicator = index(record.communicator, context.communicators);
    event.region = index(record.region, context.regions);
    event.kind = static_cast<EventKind>(record.kind);
    event.is_failed = record.flags & format::trace_failed;
    event.is_send = record.flags & format::trace_sends;
    event.is_receive = record.flags & format::trace_receives;
    event.is_collective = record.flags & format::trace_collective;
    return event;
}

// `records` are those of the table that lie in the file. The event's call is still the id that the file gives it.
ThreadTrace trace_of(ByteSpan records, const format::Table& table, const TraceContext& context) {
    ThreadTrace trace;
    const std::size_t present = records.size() / table.record_size;
    if (present < 2 || table.capacity < 2) return trace;
    const std::uint64_t written = load_prefix<format::TraceHead>(records.data(), table.record_size).written;
    const std::uint64_t capacity = table.capacity - std::uint64_t{1}, next = written % capacity;
    // Places behind those that the file holds, where it was cut, are passed over.
    const auto read = [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t place = from; place < std::min<std::uint64_t>(to, present - 1); ++place) {
            const std::byte* at = records.data() + (1 + place) * table.record_size;
            const auto record = load_prefix<format::TraceEvent>(at, table.record_size);
            if (is_known(record.kind)) trace.events.push_back(event_of(record, context));
        }
    };
    if (written >= capacity) read(context.is_final ? next : next + 1, capacity);  // else that one was to be overwritten
    read(0, next);
    // Events are in the order of their ends. What is newer than the newest was written since that was counted.
    if (!context.is_final && !trace.events.empty()) {
        const std::uint64_t last = trace.events.back().end_ns();
        std::size_t newer = 0;
        while (trace.events[newer].end_ns() > last) ++newer;
        trace.events.erase(trace.events.begin(), trace.events.begin() + static_cast<std::ptrdiff_t>(newer));
    }
    trace.lost = written - trace.events.size();
    return trace;
}

}  // namespace

void read_traces(Reading& r) {
    const TraceContext context{.scale = r.scale,
                               .origin = r.header.started.ticks,
                               .is_final = r.header.state != format::State::running,
                               .sites = r.profile.sites.size(),
                               .communicators = r.profile.communicators.size(),
                               .regions = r.profile.regions.size()};
    for (const format::Table& table : r.tables.all()) {
        if (table.type != format::TableType::trace) continue;
        const std::size_t length = std::size_t{table.used} * table.record_size;
        ThreadTrace trace = trace_of(r.tables.bytes().subspan(table.offset, length), table, context);
        trace.thread = r.threads.of(table.thread);
        for (Event& event : trace.events)
            if (event.kind <= EventKind::completed) event.call = r.calls.of(event.call);
        r.profile.traces.push_back(std::move(trace));
    }
}

}  // namespace mpiprof::report
