// The collectives that are kept with their times. A rank that was killed while every second one was left out may have
// one twice, or one that is no longer kept: what the number of its calls says holds.
#include "report/read/reading.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>

#include "libmpiprof/format/arrivals.h"

namespace mpiprof::report {
namespace {

constexpr std::uint64_t longest_ns = std::uint64_t{1}
                                     << 58;  // nine years: no run lasts longer, and sums of such stay numbers

// Shorter ones would make more of a file than it holds.
constexpr std::size_t least_record = offsetof(format::Arrival, site);

std::int64_t start_of(const Reading& r) {
    return static_cast<std::int64_t>(std::min(r.profile.started_monotonic_ns, longest_ns));
}

// `start` is the moment of the ticks `from`.
inline std::int64_t moment_of(const TickScale& scale, std::int64_t start, std::uint64_t from, std::uint64_t ticks) {
    const std::uint64_t apart = scale.ns(ticks < from ? from - ticks : ticks - from);
    const auto bounded = static_cast<std::int64_t>(apart < longest_ns ? apart : longest_ns);
    return ticks < from ? start - bounded : start + bounded;
}

}  // namespace

std::int64_t moment_of(const Reading& r, std::uint64_t ticks) {
    return moment_of(r.scale, start_of(r), r.header.started.ticks, ticks);
}

namespace {

// Which calls are kept follows from the level alone, so it is worked out once.
constexpr unsigned most_level = 63;
using KeptNumbers = std::array<std::uint64_t, format::arrivals_kept>;
const KeptNumbers& kept_numbers(unsigned level) {
    static std::array<std::once_flag, most_level + 1> is_known;
    static std::array<std::unique_ptr<KeptNumbers>, most_level + 1> known;
    std::call_once(is_known[level], [level] {
        known[level] = std::make_unique<KeptNumbers>();
        for (std::size_t i = 0; i < known[level]->size(); ++i) (*known[level])[i] = format::arrival_of_block(i, level);
    });
    return *known[level];
}

// `scale`: that of `r`, where nothing that is written here can change it.
void take(Reading& r, const TickScale& scale, const format::Arrival& record, std::int64_t start, std::uint64_t from,
          KeptCall& call) {
    const auto kind = static_cast<std::uint8_t>(record.ticks_and_kind);
    const std::uint64_t time_ns = scale.ns(record.ticks_and_kind >> 16);
    const auto bin = static_cast<std::uint8_t>(record.ticks_and_kind >> 8);
    call.number = (record.number_and_call >> 16) - 1;
    call.begin_ns = moment_of(scale, start, from, record.begin);
    call.time_ns = time_ns < longest_ns ? time_ns : longest_ns;
    call.call = r.calls.of(static_cast<std::uint16_t>(record.number_and_call));
    call.bin = bin < size_bins ? bin : std::uint8_t{size_bins - 1};
    if (kind <= static_cast<std::uint8_t>(Buffer::managed)) call.buffer = static_cast<Buffer>(kind);
    call.site = record.site;
    call.root = record.root;
}

void read_table(Reading& r, const format::Table& table, std::uint64_t collectives, unsigned thinned,
                std::vector<KeptCall>& calls) {
    const std::int64_t start = start_of(r);
    const std::uint64_t from = r.header.started.ticks;
    const TickScale scale = r.scale;
    const unsigned level = std::min(format::arrival_level(collectives) + thinned, most_level);
    const KeptNumbers& kept = kept_numbers(level);
    bool is_ascending = true;
    calls.reserve(std::min<std::uint64_t>(table.used, (collectives >> level) + 1));
    std::uint64_t next = 0;  // the least number that is behind those before
    const std::byte* at = r.tables.bytes().data() + table.offset;
    for (std::uint32_t i = 0; i < table.used; ++i, at += table.record_size) {
        std::uint64_t number;
        std::memcpy(&number, at + offsetof(format::Arrival, number_and_call), sizeof number);
        number = (number >> 16) - 1;  // that of none is larger than any
        if (number >= collectives || kept[number >> level] != number) continue;
        is_ascending &= number >= next;
        next = number + 1;
        take(r, scale, load_prefix<format::Arrival>(at, table.record_size), start, from, calls.emplace_back());
    }
    if (is_ascending) return;
    std::stable_sort(calls.begin(), calls.end(),
                     [](const KeptCall& a, const KeptCall& b) { return a.number < b.number; });
    const auto same = [](const KeptCall& a, const KeptCall& b) { return a.number == b.number; };
    calls.erase(std::unique(calls.begin(), calls.end(), same), calls.end());
}

}  // namespace

void read_arrivals(Reading& r, const Thinning& thinning) {
    for (const format::Table& table : r.tables.all()) {
        if (table.type != format::TableType::arrivals || table.record_size < least_record) continue;
        if (table.communicator == 0 || table.communicator >= r.profile.communicators.size()) continue;
        const Communicator& communicator = r.profile.communicators[table.communicator];
        const unsigned thinned = thinning ? thinning(r.profile, communicator) : 0;
        if (thinned >= no_kept_calls) continue;
        KeptCalls kept{.communicator = static_cast<std::uint16_t>(table.communicator), .calls = {}};
        read_table(r, table, communicator.collectives, thinned, kept.calls);
        if (!kept.calls.empty()) r.profile.kept_calls.push_back(std::move(kept));
    }
}

}  // namespace mpiprof::report
