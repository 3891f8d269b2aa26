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

// The table of one communicator. `scale` is that of `r`, where nothing that is written here can change it.
class KeptReader {
  public:
    KeptReader(Reading& r, const format::Table& table, std::uint64_t collectives, unsigned thinned)
        : r_(r),
          scale_(r.scale),
          start_(start_of(r)),
          from_(r.header.started.ticks),
          records_(r.tables.bytes().data() + table.offset),
          record_size_(table.record_size),
          used_(table.used),
          collectives_(collectives),
          level_(format::arrival_level(collectives)),
          wanted_level_(std::min(level_ + thinned, most_level)),
          wanted_(kept_numbers(wanted_level_)) {}

    std::vector<KeptCall> read() {
        calls_.reserve(std::min<std::uint64_t>(used_, (collectives_ >> wanted_level_) + 1));
        if (!read_where_they_belong()) search();
        return std::move(calls_);
    }

  private:
    std::uint64_t number_of(std::uint64_t record) const {
        std::uint64_t number;
        std::memcpy(&number, records_ + record * record_size_ + offsetof(format::Arrival, number_and_call),
                    sizeof number);
        return (number >> 16) - 1;  // that of none is larger than any
    }
    // The recorder puts the one that it keeps of a block at that place.
    bool read_where_they_belong() {
        std::size_t count = 0;
        for (; count < wanted_.size() && wanted_[count] < collectives_; ++count)
            if (wanted_[count] >> level_ >= used_ || number_of(wanted_[count] >> level_) != wanted_[count])
                return false;
        for (std::size_t i = 0; i < count; ++i) take(wanted_[i] >> level_);
        return true;
    }
    void search();
    void take(std::uint64_t record);

    Reading& r_;
    const TickScale scale_;
    const std::int64_t start_;
    const std::uint64_t from_;
    const std::byte* const records_;
    const std::uint32_t record_size_, used_;
    const std::uint64_t collectives_;
    const unsigned level_, wanted_level_;
    const KeptNumbers& wanted_;
    std::vector<KeptCall> calls_;
};

void KeptReader::take(std::uint64_t record) {
    const auto arrival = load_prefix<format::Arrival>(records_ + record * record_size_, record_size_);
    const auto kind = static_cast<std::uint8_t>(arrival.ticks_and_kind);
    const std::uint64_t time_ns = scale_.ns(arrival.ticks_and_kind >> 16);
    const auto bin = static_cast<std::uint8_t>(arrival.ticks_and_kind >> 8);
    KeptCall& call = calls_.emplace_back();
    call.number = (arrival.number_and_call >> 16) - 1;
    call.begin_ns = moment_of(scale_, start_, from_, arrival.begin);
    call.time_ns = time_ns < longest_ns ? time_ns : longest_ns;
    call.call = r_.calls.of(static_cast<std::uint16_t>(arrival.number_and_call));
    call.bin = bin < size_bins ? bin : std::uint8_t{size_bins - 1};
    if (kind <= static_cast<std::uint8_t>(Buffer::managed)) call.buffer = static_cast<Buffer>(kind);
    call.site = arrival.site;
    call.root = arrival.root;
}

// Some are missing, or lie elsewhere.
void KeptReader::search() {
    bool is_ascending = true;
    std::uint64_t next = 0;  // the least number that is behind those before
    for (std::uint32_t record = 0; record < used_; ++record) {
        const std::uint64_t number = number_of(record);
        if (number >= collectives_ || wanted_[number >> wanted_level_] != number) continue;
        is_ascending &= number >= next;
        next = number + 1;
        take(record);
    }
    if (is_ascending) return;
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const KeptCall& a, const KeptCall& b) { return a.number < b.number; });
    const auto same = [](const KeptCall& a, const KeptCall& b) { return a.number == b.number; };
    calls_.erase(std::unique(calls_.begin(), calls_.end(), same), calls_.end());
}

}  // namespace

void read_arrivals(Reading& r, const Thinning& thinning) {
    for (const format::Table& table : r.tables.all()) {
        if (table.type != format::TableType::arrivals || table.record_size < least_record) continue;
        if (table.communicator == 0 || table.communicator >= r.profile.communicators.size()) continue;
        const Communicator& communicator = r.profile.communicators[table.communicator];
        const unsigned thinned = thinning ? thinning(r.profile, communicator) : 0;
        if (thinned >= no_kept_calls) continue;
        KeptCalls kept{.communicator = static_cast<std::uint16_t>(table.communicator),
                       .calls = KeptReader(r, table, communicator.collectives, thinned).read()};
        if (!kept.calls.empty()) r.profile.kept_calls.push_back(std::move(kept));
    }
}

}  // namespace mpiprof::report
