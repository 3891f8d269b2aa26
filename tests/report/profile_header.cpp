#include "tests/report/profile_header.h"

#include "tests/report/profile_tables.h"

namespace mpiprof::test {

std::uint64_t ticks_of(const ProfileSpec& spec, std::uint64_t ns) { return ns * spec.ticks_per_us / 1000; }

format::Anchor anchor_of(const ProfileSpec& spec, std::int64_t since_start_ns) {
    const std::uint64_t monotonic = boot_ns + static_cast<std::uint64_t>(since_start_ns + spec.clock_ahead_ns);
    return {ticks_of(spec, monotonic), monotonic, spec.start_realtime_ns + static_cast<std::uint64_t>(since_start_ns)};
}

std::size_t header_size(const ProfileSpec& spec) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(sizeof(format::Header)) + spec.header_growth);
}

format::Header header_of(const ProfileSpec& spec, std::uint64_t directory_offset, std::uint64_t image_bytes) {
    format::Header header{};
    set_text(header.first_line, format::first_line);
    header.byte_order = format::byte_order_mark;
    header.format_major = spec.format_major;
    header.format_minor = spec.format_minor;
    header.header_size = static_cast<std::uint32_t>(header_size(spec));
    header.directory_offset = directory_offset;
    header.image_bytes = image_bytes;
    header.state = spec.state;
    header.exit_code = spec.exit_code;
    header.rank = spec.rank;
    header.size = spec.size;
    header.pid = spec.pid;
    header.store = spec.store;
    header.store_period_ms = spec.store_period_ms;
    header.clock = spec.clock;
    header.mpi_family = spec.mpi_family;
    header.thread_level = spec.thread_level;
    header.flags = spec.flags;
    header.local_rank = spec.local_rank;
    header.loaded = anchor_of(spec, -static_cast<std::int64_t>(spec.init_ns));
    header.started = anchor_of(spec, 0);
    const format::Anchor end = anchor_of(spec, static_cast<std::int64_t>(spec.elapsed_ns));
    header.updated = spec.is_updated ? end : header.started;
    if (spec.state != format::State::running) header.ended = end;
    header.process_start_ns = spec.start_realtime_ns - spec.init_ns - spec.before_init_ns;
    header.init_ticks = ticks_of(spec, spec.init_ns);
    header.finalize_ticks = spec.state == format::State::finalized ? ticks_of(spec, spec.finalize_ns) : 0;
    header.paused_ticks = ticks_of(spec, spec.paused_ns);
    header.usage = spec.usage;
    header.usage_at_start = spec.usage_at_start;
    header.processor = spec.processor;
    header.memory_limit = spec.memory_limit;
    header.throttled_us_at_start = spec.throttled_us_at_start;
    header.throttled_us = spec.throttled_us;
    header.allowed = spec.allowed;
    header.drops = spec.drops;
    header.own_setup_ns = spec.own_setup_ns;
    header.own_ticks = spec.own_ns_of_16_calls;
    set_text(header.launch, spec.launch);
    set_text(header.job, spec.job);
    set_text(header.job_ids, spec.job_ids);
    set_text(header.node, spec.node.empty() ? "boot-" + spec.host : spec.node);
    set_text(header.host, spec.host);
    set_text(header.library, spec.library);
    set_text(header.mpi_library, spec.mpi_library);
    set_text(header.command, spec.command);
    set_text(header.executable, spec.executable);
    set_text(header.directory, spec.directory);
    set_text(header.launcher, spec.launcher);
    header.parent_pid = 1000;
    return header;
}

}  // namespace mpiprof::test
