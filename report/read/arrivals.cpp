// The collectives that are kept with their times. A rank that was killed while every second one was left out may have
// one twice, or one that is no longer kept: what the number of its calls says holds.
#include "report/read/reading.h"

#include <algorithm>
#include <cstddef>

#include "libmpiprof/format/arrivals.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t longest_ns = std::uint64_t{1}
                                     << 58;  // nine years: no run lasts longer, and sums of such stay numbers

// Shorter ones would make more of a file than it holds.
constexpr std::size_t least_record = offsetof(format::Arrival, site);

}  // namespace

std::int64_t moment_of(const Reading& r, std::uint64_t ticks) {
    const std::uint64_t from = r.header.started.ticks;
    const auto start = static_cast<std::int64_t>(std::min(r.profile.started_monotonic_ns, longest_ns));
    const std::uint64_t apart = std::min(r.scale.ns(ticks < from ? from - ticks : ticks - from), longest_ns);
    return ticks < from ? start - static_cast<std::int64_t>(apart) : start + static_cast<std::int64_t>(apart);
}

namespace {

KeptCall kept_call_of(Reading& r, const format::Arrival& record) {
    const auto kind = static_cast<std::uint8_t>(record.ticks_and_kind);
    return {.number = (record.number_and_call >> 16) - 1,
            .begin_ns = moment_of(r, record.begin),
            .time_ns = std::min(r.scale.ns(record.ticks_and_kind >> 16), longest_ns),
            .call = r.calls.of(static_cast<std::uint16_t>(record.number_and_call)),
            .bin = std::min<std::uint8_t>(static_cast<std::uint8_t>(record.ticks_and_kind >> 8), size_bins - 1),
            .buffer = kind <= static_cast<std::uint8_t>(Buffer::managed) ? static_cast<Buffer>(kind) : Buffer::host,
            .site = record.site,
            .root = record.root};
}

bool is_kept(std::uint64_t number, std::uint64_t collectives) {
    if (number >= collectives) return false;
    const unsigned level = format::arrival_level(collectives);
    return format::arrival_of_block(number >> level, level) == number;
}

}  // namespace

void read_arrivals(Reading& r) {
    for (const format::Table& table : r.tables.all()) {
        if (table.type != format::TableType::arrivals || table.record_size < least_record) continue;
        if (table.communicator == 0 || table.communicator >= r.profile.communicators.size()) continue;
        const std::uint64_t collectives = r.profile.communicators[table.communicator].collectives;
        KeptCalls kept{.communicator = static_cast<std::uint16_t>(table.communicator), .calls = {}};
        for (std::uint32_t i = 0; i < table.used; ++i) {
            const auto record = r.tables.record<format::Arrival>(table, i);
            const std::uint64_t number = record.number_and_call >> 16;
            if (number != 0 && is_kept(number - 1, collectives)) kept.calls.push_back(kept_call_of(r, record));
        }
        const auto by_number = [](const KeptCall& a, const KeptCall& b) { return a.number < b.number; };
        if (!std::is_sorted(kept.calls.begin(), kept.calls.end(), by_number))
            std::stable_sort(kept.calls.begin(), kept.calls.end(), by_number);
        const auto same = [](const KeptCall& a, const KeptCall& b) { return a.number == b.number; };
        kept.calls.erase(std::unique(kept.calls.begin(), kept.calls.end(), same), kept.calls.end());
        if (!kept.calls.empty()) r.profile.kept_calls.push_back(std::move(kept));
    }
}

}  // namespace mpiprof::report
