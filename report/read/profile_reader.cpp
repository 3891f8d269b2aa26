// A profile's header is accepted, and its tables are read one after the other.
#include "report/read/profile_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "libmpiprof/format/collective_order.h"
#include "libmpiprof/format/layout.h"
#include "libmpiprof/format/size_bins.h"
#include "report/read/header.h"
#include "report/read/mpitrace_text.h"
#include "report/read/reading.h"

namespace mpiprof::report {
namespace {

// The model has its own words for what the file's numbers mean; they agree.
constexpr bool bins_agree() {
    for (unsigned bin = 0; bin < format::size_bins; ++bin)
        if (format::bin_max_bytes(bin) != report::bin_max_bytes(bin)) return false;
    return format::size_bins == report::size_bins;
}
static_assert(bins_agree());
static_assert(static_cast<int>(format::Traffic::start) == static_cast<int>(report::Traffic::start));
static_assert(static_cast<int>(format::Traffic::sync) == static_cast<int>(report::Traffic::sync));
static_assert(static_cast<int>(format::Traffic::file) == static_cast<int>(report::Traffic::file));
static_assert(static_cast<int>(format::Treatment::counted) == static_cast<int>(report::Treatment::counted));
static_assert(static_cast<int>(format::State::exited) == static_cast<int>(report::State::exited));
static_assert(static_cast<int>(format::BufferKind::managed) == static_cast<int>(report::Buffer::managed));

static_assert(format::order_factor == report::order_factor);

Result<std::monostate> collect_tables(Reading& r) {
    if (r.tables.is_cut())
        r.note(fmt::format("rank {}: the disk was full: {} of {} bytes were kept, newer calls are missing",
                           r.header.rank, r.tables.bytes().size(), r.header.image_bytes));
    return r.tables.collect();
}

// Each finds what it refers to in what was read before it.
Result<std::monostate> read_tables(Reading& r, const Thinning& thinning) {
    read_calls(r);
    read_threads(r);
    read_requests(r);
    read_cells(r);
    read_counters(r);
    if (auto ok = read_histograms(r); !ok) return ok;
    if (auto ok = read_regions(r); !ok) return ok;
    read_communicators(r);
    read_arrivals(r, thinning);
    read_enqueued(r);
    read_enqueued_peers(r);
    read_peers(r);
    read_left_over(r);
    read_modules(r);
    read_sites(r);
    read_settings(r);
    read_labels(r);
    read_facts(r);
    read_node_counters(r);
    read_network_use(r);
    read_nccl_operations(r);
    read_activity(r);
    return read_gpu(r);
}

}  // namespace

Result<Head> read_head(ByteSpan bytes, std::uint64_t file_size, std::string_view path) {
    const auto header = read_header(bytes, file_size, path);
    if (!header) return tl::make_unexpected(header.error());
    return Head{.launch = std::string(text_of(header->launch)),
                .job = std::string(text_of(header->job)),
                .job_ids = std::string(text_of(header->job_ids)),
                .command = std::string(text_of(header->command)),
                .mpi_library = std::string(text_of(header->mpi_library)),
                .rank = header->rank,
                .size = header->size,
                .started_at_ns = started_at(*header),
                .image_bytes = header->image_bytes,
                .is_spawned = (header->flags & format::world_is_spawned) != 0};
}

std::uint64_t image_bytes_of(ByteSpan bytes) {
    constexpr std::size_t at = offsetof(format::Header, image_bytes);
    std::uint64_t used = 0;
    if (bytes.size() < at + sizeof used || looks_like_mpitrace(bytes)) return 0;
    std::memcpy(&used, bytes.data() + at, sizeof used);
    return used;
}

Result<Profile> read_profile(ByteSpan bytes, std::string_view path, Detail detail, const Thinning& thinning) {
    if (looks_like_mpitrace(bytes)) return read_mpitrace(bytes, path);
    const auto header = read_header(bytes, bytes.size(), path);
    if (!header) return tl::make_unexpected(header.error());
    Reading reading(bytes, path, *header);
    reading.profile.path = path;
    read_identity(reading);
    if (auto ok = collect_tables(reading); !ok) return tl::make_unexpected(ok.error());
    read_times(reading);
    if (auto ok = read_tables(reading, thinning); !ok) return tl::make_unexpected(ok.error());
    if (detail == Detail::events) read_traces(reading);
    return std::move(reading.profile);
}

}  // namespace mpiprof::report
