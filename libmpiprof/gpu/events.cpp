// The driver is asked outside the lock of the lists; only one thread harvests at a time, and the others do not wait for
// it.
#include "libmpiprof/gpu/events.h"

#include "libmpiprof/base/arithmetic.h"

namespace mpiprof::gpu {

Context* Events::context_of(const Driver& driver, Word stream) {
    const Word handle = driver.context_of(stream);
    if (handle == 0) {
        count_drop(not_timed.failed);
        return nullptr;
    }
    const Guard guard(lock_);
    for (unsigned i = 0; i < context_count_; ++i)
        if (contexts_[i].handle == handle) return &contexts_[i];
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
    context.device = static_cast<std::uint32_t>(device);
    return &context;
}

// A free pair of that context, or a new one; null is counted.
Pair* Events::take(const Driver& driver, Context& context) {
    {
        const Guard guard(lock_);
        if (Pair* pair = context.free) {
            context.free = pair->next;
            return pair;
        }
        if (made_ == most_pairs) {
            count_drop(not_timed.no_room);
            return nullptr;
        }
    }
    return make(driver, context);
}

// What is made and of no use is destroyed again.
Pair* Events::make(const Driver& driver, Context& context) {
    const Unnoticed unnoticed(driver);
    const InContext inside(driver, context.handle);
    Word begin = 0, end = 0;
    const bool has_begin = driver.create_event(&begin, 0) == success;
    const bool has_end = has_begin && driver.create_event(&end, 0) == success;
    if (Pair* pair = has_end ? keep(begin, end, context) : nullptr) return pair;
    if (has_begin) driver.destroy_event(begin);
    if (has_end)
        driver.destroy_event(end);
    else
        kill(context);
    count_drop(has_end ? not_timed.no_room : not_timed.failed);
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

void Events::kill(Context& context) { __atomic_store_n(&context.is_dead, true, __ATOMIC_RELAXED); }

// An error means that another stream is, and implicitly this one with it.
bool Events::is_capturing(const Driver& driver, Word stream) {
    int status = 0;
    if (driver.is_capturing(stream, &status) == success && status == 0) return false;
    count_drop(not_timed.captured);
    return true;
}

Pair* Events::begin(const Driver& driver, Context& context, Word stream) {
    if (__atomic_load_n(&context.is_dead, __ATOMIC_RELAXED)) {
        count_drop(not_timed.failed);
        return nullptr;
    }
    if (is_capturing(driver, stream)) return nullptr;
    Pair* pair = take(driver, context);
    if (!pair) return nullptr;
    pair->stream = stream;
    if (driver.record_event(pair->begin, stream) == success) return pair;
    kill(context);
    count_drop(not_timed.failed);
    return nullptr;
}

bool Events::end(const Driver& driver, Pair& pair, Word stream) {
    if (driver.record_event(pair.end, stream) == success) return true;
    kill(*pair.context);
    count_drop(not_timed.failed);
    return false;
}

void Events::commit(Pair& pair, const Booked& what) {
    const Guard guard(lock_);
    pair.what = what;
    pair.next = nullptr;
    if (youngest_)
        youngest_->next = &pair;
    else
        oldest_ = &pair;
    youngest_ = &pair;
}

Events::Outcome Events::look_at(const Driver& driver, Pair& pair) {
    if (__atomic_load_n(&pair.context->is_dead, __ATOMIC_RELAXED)) {
        count_drop(not_timed.failed);
        return Outcome::lost;
    }
    if (const Driver::Stream stream = driver.look_at(pair.stream); stream != Driver::Stream::fine) {
        if (stream == Driver::Stream::captured) return Outcome::not_yet;
        count_drop(not_timed.failed);
        return Outcome::missed;
    }
    const int happened = driver.query_event(pair.end);
    if (happened == not_ready) return Outcome::not_yet;
    std::uint64_t ns = 0;
    const bool is_told = happened == success && with_own_arithmetic([&] {
                             float ms = 0;
                             if (driver.elapsed_time(&ms, pair.begin, pair.end) != success) return false;
                             ns = ms > 0 ? static_cast<std::uint64_t>(static_cast<double>(ms) * 1e6 + 0.5) : 0;
                             return true;
                         });
    if (!is_told) {
        kill(*pair.context);
        count_drop(not_timed.failed);
        return Outcome::lost;
    }
    times.book(pair.what, GpuSource::events, ns, 0);
    return Outcome::booked;
}

void Events::harvest(const Driver& driver, unsigned most) {
    if (!__atomic_load_n(&oldest_, __ATOMIC_RELAXED) || !harvesting_.try_lock()) return;
    const Unnoticed unnoticed(driver);
    Pair* before = nullptr;  // stays in the list
    unsigned under_way = 0;
    lock_.lock();
    Pair* pair = oldest_;
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
    harvesting_.unlock();
}

void Events::count_unfinished() {
    const Guard guard(lock_);
    not_timed.unfinished = 0;
    for (const Pair* pair = oldest_; pair; pair = pair->next) not_timed.unfinished += 1;
}

}  // namespace mpiprof::gpu
