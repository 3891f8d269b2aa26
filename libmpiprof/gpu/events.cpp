// The driver is asked outside the lock of the lists; only one thread harvests at a time, and the others do not wait for
// it.
#include "libmpiprof/gpu/events.h"

#include "libmpiprof/base/arithmetic.h"
#include "libmpiprof/base/clock.h"

namespace mpiprof::gpu {
namespace {

constexpr int invalid_context = 201;  // the thread has none: as those of libraries that end communicators

// The host's work is part of the time between events around a call if the stream was idle meanwhile; up to a fiftieth
// of it that is left in. An operation that was shorter than the host cannot have waited for it.
bool is_spoiled(const Pair& pair, std::uint64_t ns) {
    return pair.kernels == 0 && pair.held_ns != 0 && ns >= Events::long_ns && pair.held_ns > ns / 50;
}

// To the nearest one. Read from its bits, since arithmetic with it would raise flags that are the program's.
[[gnu::always_inline]] inline std::uint64_t nanoseconds_of(const float& ms) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &ms, sizeof bits);
    const std::uint32_t exponent = bits >> 23 & 0xff;
    if (bits >> 31 != 0 || exponent == 0 || exponent == 0xff) return 0;
    const std::uint64_t scaled = std::uint64_t{(bits & 0x7fffff) | 0x800000} * 1'000'000;  // below 2^44
    const int shift = 150 - static_cast<int>(exponent);
    if (shift > 0) return shift < 64 ? (scaled + (std::uint64_t{1} << (shift - 1))) >> shift : 0;
    return -shift < 20 ? scaled << -shift : ~std::uint64_t{0};
}

}  // namespace

Context* Events::context_of(const Driver& driver, Word stream) {
    const Word handle = driver.context_of(stream);
    if (handle == 0) {
        count_drop(not_timed.failed);
        return nullptr;
    }
    const unsigned long long id = driver.id_of(handle);
    const Guard guard(lock_);
    for (unsigned i = 0; i < context_count_; ++i)
        if (contexts_[i].handle == handle && contexts_[i].id == id) return &contexts_[i];
    if (context_count_ == most_contexts) {
        count_drop(not_timed.no_room);
        return nullptr;
    }
    int device = 0;
    {
        const InContext inside(driver, handle);
        driver.device(&device);
    }
    Context& context = contexts_[context_count_++];
    context.handle = handle;
    context.id = id;
    context.device = static_cast<std::uint32_t>(device);
    return &context;
}

[[gnu::always_inline]] inline Pair* Events::take_free(Context& context) {
    const Guard guard(lock_);
    Pair* pair = context.free;
    if (pair) context.free = pair->next;
    return pair;
}

// A free pair of that context, or a new one; null is counted.
Pair* Events::take(const Driver& driver, Context& context) {
    if (Pair* pair = take_free(context)) return pair;
    if (__atomic_load_n(&made_, __ATOMIC_RELAXED) == most_pairs) {
        count_drop(not_timed.no_room);
        return nullptr;
    }
    return make(driver, context);
}

// What is made and of no use is destroyed again.
Pair* Events::make(const Driver& driver, Context& context) {
    const Unnoticed unnoticed(driver);
    const InContext inside(driver, context.handle);
    Word begin = 0, end = 0;
    const bool has_begin = driver.make_event(&begin) == success;
    const bool has_end = has_begin && driver.make_event(&end) == success;
    if (Pair* pair = has_end ? keep(begin, end, context) : nullptr) return pair;
    if (has_begin) driver.destroy_event(begin);
    if (has_end)
        driver.destroy_event(end);
    else
        return failed(context), nullptr;
    count_drop(not_timed.no_room);
    return nullptr;
}

// Null: other threads were faster.
Pair* Events::keep(Word begin, Word end, Context& context) {
    const Guard guard(lock_);
    if (made_ == most_pairs) return nullptr;
    Pair& pair = pairs_[made_++];
    pair.begin = begin;
    pair.end = end;
    pair.context = &context;
    return &pair;
}

void Events::give_back(Pair& pair) {
    const Guard guard(lock_);
    pair.next = pair.context->free;
    pair.context->free = &pair;
}

void Events::succeeded(Context& context) {
    if (__atomic_load_n(&context.failures, __ATOMIC_RELAXED) != 0)
        __atomic_store_n(&context.failures, 0, __ATOMIC_RELAXED);
}

void Events::failed(Context& context) {
    __atomic_fetch_add(&context.failures, 1, __ATOMIC_RELAXED);
    count_drop(not_timed.failed);
}

// Records one of its events.
[[gnu::always_inline]] inline bool Events::is_usable(const Driver& driver, Pair& pair, Word stream, Word event) {
    if (driver.record_event(event, stream) == success) return succeeded(*pair.context), true;
    failed(*pair.context);
    return false;
}

// An error means that another stream is, and implicitly this one with it.
[[gnu::always_inline]] inline bool Events::is_captured(const Driver& driver, Word stream) {
    int status = 0;
    if (driver.is_capturing(stream, &status) == success && status == 0) return false;
    count_drop(not_timed.captured);
    return true;
}

bool Events::is_capturing(const Driver& driver, Word stream) { return is_captured(driver, stream); }

[[gnu::always_inline]] inline Pair* Events::begin_in(const Driver& driver, Context& context, Word stream) {
    if (context.is_dead()) {
        count_drop(not_timed.failed);
        return nullptr;
    }
    if (is_captured(driver, stream)) return nullptr;
    Pair* pair = take_free(context);
    if (!pair && !(pair = take(driver, context))) [[unlikely]]
        return nullptr;
    pair->stream = stream;
    pair->kernels = 0;
    pair->held_ns = 0;
    return is_usable(driver, *pair, stream, pair->begin) ? pair : nullptr;
}

Pair* Events::begin(const Driver& driver, Context& context, Word stream) { return begin_in(driver, context, stream); }

Pair* Events::begin_on(const Driver& driver, Word stream, Context*& last) {
    Word handle = 0;
    unsigned long long id = 0;
    const bool is_the_last = last && driver.of_stream(stream, &handle) == success && last->handle == handle &&
                             (!driver.context_id || (driver.context_id(handle, &id) == success && last->id == id));
    if (!is_the_last) last = context_of(driver, stream);
    return last ? begin_in(driver, *last, stream) : nullptr;
}

bool Events::begin_again(const Driver& driver, Pair& pair, Word stream) {
    return pair.kernels++ != 0 || is_usable(driver, pair, stream, pair.begin);
}

bool Events::end(const Driver& driver, Pair& pair, Word stream) { return is_usable(driver, pair, stream, pair.end); }

void Events::held_up(const Driver& driver, Pair& pair, std::uint64_t ns) {
    const Unnoticed unnoticed(driver);
    if (driver.look_at(pair.stream) == Driver::Stream::fine && driver.query_event(pair.begin) == success)
        pair.held_ns = ns;
}

[[gnu::always_inline]] inline Events::Outcome Events::take_time(const Driver& driver, Pair& pair) {
    float ms = 0;
    if (driver.elapsed_time(&ms, pair.begin, pair.end) != success) return failed(*pair.context), Outcome::lost;
    const std::uint64_t ns = nanoseconds_of(ms);
    succeeded(*pair.context);
    if (is_spoiled(pair, ns))
        count_drop(not_timed.held_up);
    else
        times.book(pair.what, pair.kernels ? GpuSource::launches : GpuSource::events, ns, pair.kernels);
    return Outcome::booked;
}

[[gnu::always_inline]] inline Events::Outcome Events::look_at(const Driver& driver, Pair& pair) {
    if (pair.context->is_dead()) {
        count_drop(not_timed.failed);
        return Outcome::lost;
    }
    if (const Driver::Stream stream = driver.is_hip() ? driver.look_at(pair.stream) : Driver::Stream::fine;
        stream != Driver::Stream::fine) {
        if (stream == Driver::Stream::captured) return Outcome::not_yet;
        count_drop(not_timed.failed);
        return Outcome::missed;
    }
    int happened = driver.query_event(pair.end);
    if (happened == invalid_context) {
        const InContext inside(driver, pair.context->handle);
        happened = driver.query_event(pair.end);
        if (happened == success) return take_time(driver, pair);
    }
    if (happened == not_ready) return succeeded(*pair.context), Outcome::not_yet;
    if (happened == success) return take_time(driver, pair);
    failed(*pair.context);
    return Outcome::lost;
}

void Events::harvest(const Driver& driver, unsigned most) {
    if (!__atomic_load_n(&oldest_, __ATOMIC_RELAXED) || !harvesting_.try_lock()) return;
    const Unnoticed unnoticed(driver);
    with_own_arithmetic([&] { harvest_some(driver, most); });  // the driver's milliseconds are its own
    harvesting_.unlock();
}

void Events::harvest_some(const Driver& driver, unsigned most) {
    Pair* before = nullptr;  // stays in the list
    unsigned under_way = 0;
    lock_.lock();
    Pair* pair = oldest_;
    __atomic_store_n(&waiting_, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&looked_, counter(), __ATOMIC_RELAXED);
    lock_.unlock();
    for (unsigned looked = 0; pair && looked < most; ++looked) {
        const Outcome outcome = look_at(driver, *pair);
        const Guard guard(lock_);
        Pair* next = pair->next;
        if (outcome == Outcome::not_yet) {
            before = pair;
            if (++under_way == patience && most != all) break;
        } else {
            (before ? before->next : oldest_) = next;
            if (youngest_ == pair) youngest_ = before;
            if (outcome != Outcome::lost) {
                pair->next = pair->context->free;
                pair->context->free = pair;
            }
        }
        pair = next;
    }
}

void Events::count_unfinished() {
    const Guard guard(lock_);
    not_timed.unfinished = 0;
    for (const Pair* pair = oldest_; pair; pair = pair->next) not_timed.unfinished += 1;
}

}  // namespace mpiprof::gpu
