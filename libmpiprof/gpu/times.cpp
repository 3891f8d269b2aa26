// Records are found again by what they are of; a record that finds no room loses its times, and the drop counter says
// so.
#include "libmpiprof/gpu/times.h"

namespace mpiprof::gpu {

constinit Times times{};

namespace {

using namespace format;

Image& image() { return runtime.records().image; }

bool is_of(const GpuTime& record, const Booked& what, GpuSource source) {
    return record.call == what.call && record.bin == what.bin && record.source == source &&
           record.communicator == what.communicator && record.flags == what.flags;
}

// Its first eight bytes, and where one of them is not used the source.
std::uint64_t key_of(const Booked& what, GpuSource source) {
    static_assert(offsetof(Booked, bin) == 2 && offsetof(Booked, communicator) == 4 && offsetof(Booked, flags) == 6);
    std::uint64_t key;
    __builtin_memcpy(&key, &what, sizeof key);
    constexpr int unused = 24;
    constexpr std::uint64_t rest = ~(std::uint64_t{0xff} << unused);
    return (key & rest) | std::uint64_t{static_cast<std::uint8_t>(source)} << unused;
}

}  // namespace

GpuTime* Times::record(const Booked& what, GpuSource source) {
    const std::uint64_t hash = mix(key_of(what, source)) >> 53;
    if (GpuTime** known = known_.find(hash, [&](const GpuTime* time) { return is_of(*time, what, source); }))
        return *known;
    GpuTime* fresh = known_.make_room(never_moves) ? rows_.next(image()) : nullptr;
    if (!fresh) return nullptr;
    fresh->call = what.call;
    fresh->bin = what.bin;
    fresh->source = source;
    fresh->communicator = what.communicator;
    fresh->flags = what.flags;
    fresh->min_ns = ~std::uint64_t{0};
    rows_.publish();
    known_.insert(hash, fresh);
    return fresh;
}

GpuSequence* Times::sequence(std::uint16_t communicator) {
    for (unsigned i = 0; i < sequence_count_; ++i)
        if (sequences_[i]->communicator == communicator) return sequences_[i];
    if (communicator == 0 || sequence_count_ == most_sequences) return nullptr;
    Rows<GpuSequence, 1> rows;  // each has a table of its own: not many have that many communicators
    GpuSequence* fresh = rows.next(image());
    if (!fresh) return nullptr;
    fresh->communicator = communicator;
    rows.publish();
    return sequences_[sequence_count_++] = fresh;
}

inline GpuTime* Times::record_again(const Booked& what, GpuSource source) {
    const std::uint64_t key = key_of(what, source);
    Last& last = last_records_[short_hash<4>(key ^ key >> 32)];
    if (last.key != key || !last.record) [[unlikely]]
        last = {key, record(what, source)};
    return last.record;
}

inline GpuSequence* Times::sequence_again(std::uint16_t communicator) {
    GpuSequence*& last = last_sequences_[communicator % (sizeof last_sequences_ / sizeof last_sequences_[0])];
    if (!last || last->communicator != communicator) [[unlikely]]
        last = sequence(communicator);
    return last;
}

std::uint64_t Times::enqueue(std::uint16_t communicator) {
    const Guard guard(lock_);
    GpuSequence* s = sequence_again(communicator);
    if (!s) return 0;
    __atomic_store_n(&s->us16[s->enqueued % gpu_sequence_length], 0, __ATOMIC_RELAXED);
    add(s->enqueued, 1);
    return s->enqueued;
}

[[gnu::always_inline]] inline void Times::remember(const Booked& what, GpuSource source, std::uint64_t ns) {
    GpuSequence* s = sequence_again(what.numbered_by);
    if (!s || s->enqueued - what.number >= gpu_sequence_length) return;
    const std::uint64_t us16 = (ns * 16 + 500) / 1000;
    s->source = source;
    __atomic_store_n(&s->us16[(what.number - 1) % gpu_sequence_length],
                     us16 == 0                  ? 1
                     : us16 > ~std::uint32_t{0} ? ~std::uint32_t{0}
                                                : static_cast<std::uint32_t>(us16),
                     __ATOMIC_RELAXED);
}

void Times::book(const Booked& what, GpuSource source, std::uint64_t ns, std::uint64_t kernels) {
    const Guard guard(lock_);
    if (what.number != 0) remember(what, source, ns);
    GpuTime* t = record_again(what, source);
    if (!t) return count_drop(image().header().drops.histograms);
    add(t->operations, 1);
    add(t->bytes, what.bytes);
    if (what.others != 0) add(t->others_bytes, what.others);
    add(t->ns, ns);
    if (ns < t->min_ns) relaxed(t->min_ns, ns);
    if (ns > t->max_ns) relaxed(t->max_ns, ns);
    add(t->kernels, kernels);
    durations_.count(image(), t->histogram, ns);
}

void Times::count(const Booked& what, std::uint64_t operations) {
    const Guard guard(lock_);
    GpuTime* t = record_again(what, GpuSource::none);
    if (!t) return count_drop(image().header().drops.histograms);
    add(t->operations, operations);
    add(t->bytes, what.bytes);
}

// The shortest of several stays: what the second one was is not kept.
void Times::prolong(const Booked& what, GpuSource source, std::uint64_t booked_ns, std::uint64_t ns,
                    std::uint64_t kernels) {
    const Guard guard(lock_);
    if (what.number != 0) remember(what, source, ns);
    GpuTime* t = record(what, source);
    if (!t || t->operations == 0) return;  // it found no room
    add(t->ns, ns - booked_ns);
    if (ns > t->max_ns) relaxed(t->max_ns, ns);
    if (t->operations == 1) relaxed(t->min_ns, ns);
    add(t->kernels, kernels);
    if (ns != booked_ns) durations_.correct(image(), t->histogram, booked_ns, ns);
}

void Times::work(const Worked& what) {
    const Guard guard(lock_);
    GpuWork* w = nullptr;
    for (unsigned i = 0; i < work_count_ && !w; ++i)
        if (work_[i]->kind == what.kind && work_[i]->device == what.device) w = work_[i];
    if (!w) {
        w = work_count_ == most_work ? nullptr : work_rows_.next(image());
        if (!w) return;
        w->kind = what.kind;
        w->device = what.device;
        work_rows_.publish();
        work_[work_count_++] = w;
    }
    add(w->count, what.count);
    add(w->bytes, what.bytes);
    add(w->ns, what.ns);
    add(w->overlapped_ns, what.overlapped_ns);
    add(w->in_graphs, what.in_graphs);
}

}  // namespace mpiprof::gpu
