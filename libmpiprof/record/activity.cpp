// Once a bin at most: nothing here is hot.
#include "libmpiprof/record/activity.h"

namespace mpiprof {
namespace {

using format::activity_bins;

// Some 25 ms by the processor's counter, 67 ms by the other clock: the first 128 last for seconds.
constexpr std::uint32_t first_log2_width = 26;

}  // namespace

void Activity::open(Image& image, std::uint32_t thread, Ticks origin, format::TableType type) {
    format::Table* table = image.add_table(type, sizeof(format::Activity), 1, thread);
    if (!table) return;
    record_ = &image.as<format::Activity>(table->offset);
    record_->origin = origin;
    record_->log2_width = first_log2_width;
    Image::publish(table);
    ends_ = origin + (Ticks{1} << first_log2_width);
}

std::uint32_t Activity::index(Ticks moment) const {
    const std::uint64_t bin = moment > record_->origin ? (moment - record_->origin) >> record_->log2_width : 0;
    return static_cast<std::uint32_t>(bin < activity_bins ? bin : activity_bins - 1);
}

// `changes` is odd meanwhile, since a process may be killed, and its profile written, at any moment.
void Activity::halve() {
    __atomic_store_n(&record_->changes, record_->changes + 1, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < activity_bins; ++i) {
        const auto of = [&](unsigned at) { return at < activity_bins ? record_->bins[at] : format::ActivityBin{0, 0}; };
        record_->bins[i] = {of(2 * i).ticks + of(2 * i + 1).ticks, of(2 * i).bytes + of(2 * i + 1).bytes};
    }
    record_->current /= 2;
    record_->log2_width += 1;
    __atomic_store_n(&record_->changes, record_->changes + 1, __ATOMIC_SEQ_CST);
}

void Activity::make_room(Ticks last) {
    while (last > record_->origin && (last - record_->origin) >> record_->log2_width >= activity_bins) halve();
}

void Activity::turn(Ticks since, Ticks ticks, Bytes bytes, Booked total) {
    format::ActivityBin& before = record_->bins[record_->current];
    add(before.ticks, total.ticks - booked_.ticks - ticks);
    add(before.bytes, total.bytes - booked_.bytes - bytes);
    booked_ = total;
    const Ticks end = since + ticks;
    make_room(end);
    const std::uint32_t last = index(end);
    for (std::uint32_t i = index(since); i <= last; ++i) {
        const Ticks begins = record_->origin + (Ticks{i} << record_->log2_width);
        const Ticks from = i == index(since) ? since : begins;
        const Ticks to = i == last ? end : begins + (Ticks{1} << record_->log2_width);
        add(record_->bins[i].ticks, to - from);
    }
    add(record_->bins[last].bytes, bytes);
    record_->current = last;
    ends_ = record_->origin + (Ticks{last + 1} << record_->log2_width);
}

}  // namespace mpiprof
