// What the header says of the rank: who it is, how it ended, what it used of the machine, and its times.
#include "report/read/reading.h"

#include <fmt/format.h>
#include <array>
#include <charconv>

#include "libmpiprof/format/facts.h"

#include "report/read/header.h"

namespace mpiprof::report {
namespace {

Usage usage_of(const format::ResourceUse& use) {
    return {.user_ns = use.user_us * 1000,
            .system_ns = use.system_us * 1000,
            .max_resident_bytes = use.max_resident_kib * 1024,
            .minor_faults = use.minor_faults,
            .major_faults = use.major_faults,
            .blocks_in = use.blocks_in,
            .blocks_out = use.blocks_out,
            .voluntary_switches = use.voluntary_switches,
            .involuntary_switches = use.involuntary_switches};
}

std::string_view family_name(format::MpiFamily family) {
    switch (family) {
        case format::MpiFamily::open_mpi:
            return "Open MPI";
        case format::MpiFamily::mpich:
            return "MPICH";
        case format::MpiFamily::standard_abi:
            return "MPI standard ABI";
        case format::MpiFamily::none:
            return "none";
        case format::MpiFamily::unknown:
            break;
    }
    return "";
}

Drops drops_of(const format::Drops& drops) {
    return {.threads = drops.threads,
            .write_errors = drops.write_errors,
            .cells = drops.cells,
            .backwards = drops.backwards,
            .histograms = drops.histograms,
            .requests = drops.requests,
            .sites = drops.sites,
            .communicators = drops.communicators,
            .strings = drops.strings};
}

void read_state(Reading& r) {
    Profile& p = r.profile;
    p.state = static_cast<State>(r.header.state);
    p.exit_code = r.header.exit_code;
    if (r.header.state < format::State::running || r.header.state > format::State::exited) {
        r.note(fmt::format("rank {} ended in a way this version does not know ({})", r.header.rank,
                           static_cast<std::uint32_t>(r.header.state)));
        p.state = State::running;
    }
    // Without MPI there is no Finalize: a process that exits has ended as it should.
    if (r.header.mpi_family == format::MpiFamily::none && p.state == State::exited) p.state = State::finalized;
}

void read_usage(Reading& r) {
    Profile& p = r.profile;
    p.usage = usage_of(r.header.usage);
    p.usage.ran_ns = r.header.processor.first_ran_ns;
    p.usage.waited_ns = r.header.processor.first_waited_ns;
    p.usage.others_waited_ns = r.header.processor.others_waited_ns;
    p.usage_at_start = usage_of(r.header.usage_at_start);
    p.memory_limit = r.header.memory_limit;
    if (const format::AllowedProcessors& a = r.header.allowed; a.processors != 0 && a.span_us != 0) {
        const auto of_span = [&](std::uint64_t us) { return static_cast<double>(us) / static_cast<double>(a.span_us); };
        p.allowed = {of_span(a.user_us), of_span(a.idle_us), of_span(a.own_us), of_span(a.stolen_us), true};
    }
    if (r.header.throttled_us > r.header.throttled_us_at_start)
        p.throttled_ns = (r.header.throttled_us - r.header.throttled_us_at_start) * 1000;
}

}  // namespace

void read_identity(Reading& r) {
    Profile& p = r.profile;
    p.rank = r.header.rank;
    p.size = r.header.size;
    p.pid = r.header.pid;
    p.parent_pid = r.header.parent_pid;
    p.launch = text_of(r.header.launch);
    p.job = text_of(r.header.job);
    p.job_ids = text_of(r.header.job_ids);
    p.node = text_of(r.header.node);
    p.host = text_of(r.header.host);
    p.library_version = text_of(r.header.library);
    p.mpi_library = text_of(r.header.mpi_library);
    p.mpi_family = family_name(r.header.mpi_family);
    p.command = text_of(r.header.command);
    p.executable = text_of(r.header.executable);
    p.directory = text_of(r.header.directory);
    p.launcher = text_of(r.header.launcher);
    p.thread_level = r.header.thread_level;
    if (r.header.local_rank != format::no_local_rank) p.local_rank = r.header.local_rank;
    p.is_spawned = r.header.flags & format::world_is_spawned;
    p.has_several_mpis = r.header.flags & format::several_mpis;
    p.is_behind_a_tool = r.header.flags & format::behind_a_tool;
    p.is_begun_by_another = r.header.flags & format::another_thread_began;
    p.has_no_world = r.header.flags & format::no_world;
    p.is_written = r.header.store == format::StoreKind::written;
    p.store_period_ns = std::uint64_t{r.header.store_period_ms} * 1'000'000;
    p.drops = drops_of(r.header.drops);
    read_state(r);
    read_usage(r);
}

namespace {

// What the library noticed of the clocks at the end.
struct ClockFacts {
    std::uint64_t slept_ns = 0, counter_khz = 0;
    bool is_moved = false;
};
ClockFacts clock_facts(const Reading& r) {
    ClockFacts seen;
    Texts texts(r.tables.bytes());
    r.tables.each<format::Fact>(format::TableType::facts, [&](const format::Fact& record, const format::Table&) {
        if (record.kind != format::FactKind::process) return;
        const std::string_view name = text_of(record.name);
        const std::string_view value = texts.at(record.value_offset, record.value_length);
        const auto number = [&](std::uint64_t& into) {
            (void)std::from_chars(value.data(), value.data() + value.size(), into);
        };
        if (name == format::facts::slept_ns) number(seen.slept_ns);
        if (name == format::facts::counter_khz) number(seen.counter_khz);
        seen.is_moved |= name == format::facts::clock_moved;
    });
    return seen;
}

void take_scale(Reading& r) {
    const std::array anchors{r.header.loaded, r.header.started, r.header.updated, r.header.ended};
    const ClockFacts seen = clock_facts(r);
    const auto scale = TickScale::from(anchors, seen.counter_khz);
    const bool counts_ns = r.header.clock == format::ClockKind::monotonic;
    if (counts_ns) {  // ticks are the program's nanoseconds, which may be others than the kernel's
        constexpr double whole = 1e9;
        const double off = scale ? scale->ns_exact(std::uint64_t{1'000'000'000}) / whole - 1 : 0;
        if (off > 1e-3 || off < -1e-3) r.scale = *scale;
    } else if (scale) {
        r.scale = *scale;
    } else {
        r.note(fmt::format("rank {}: the clock's rate is not known, times are in ticks", r.profile.rank));
    }
    if (seen.slept_ns)
        r.note(
            fmt::format("the machine was suspended during the run, for {:.0f} s: calls at that time include it; the "
                        "time of the run does not",
                        static_cast<double>(seen.slept_ns) * 1e-9));
    if (seen.is_moved)
        r.note(
            "another library that is preloaded moves the program's clock (MPI_Wtime, clock_gettime): the times here "
            "are the kernel's");
    if (scale && !scale->is_steady() && !seen.slept_ns)
        r.note(
            "the system clock and the processor's counter drifted apart, as when a machine or container is "
            "suspended: times in MPI are by the counter, the time of the run is by the clock");
}

}  // namespace

void read_times(Reading& r) {
    Profile& p = r.profile;
    take_scale(r);
    const format::Anchor& begin = r.header.started;
    const format::Anchor& end = r.header.ended.monotonic_ns ? r.header.ended : r.header.updated;
    if (begin.monotonic_ns && end.monotonic_ns > begin.monotonic_ns)
        p.elapsed_ns = end.monotonic_ns - begin.monotonic_ns;
    p.usage_span_ns = p.elapsed_ns;
    p.started_at_ns = started_at(r.header);
    p.started_monotonic_ns = begin.monotonic_ns;
    p.updated_at_ns = updated_at(r.header);
    if (r.header.process_start_ns && p.updated_at_ns > r.header.process_start_ns)
        p.process_ns = p.updated_at_ns - r.header.process_start_ns;
    p.init_ns = r.scale.ns(r.header.init_ticks);
    p.finalize_ns = r.scale.ns(r.header.finalize_ticks);
    p.paused_ns = r.scale.ns(r.header.paused_ticks);
    p.setup_ns = r.header.own_setup_ns;
    p.own_call_ns = static_cast<double>(r.scale.ns(r.header.own_ticks)) / format::calls_of_own_cost;
    p.tells_its_life = r.header.updated.monotonic_ns > r.header.started.monotonic_ns;
    p.is_in_finalize = r.header.state == format::State::finalized && r.header.finalize_ticks == 0;
}

}  // namespace mpiprof::report
