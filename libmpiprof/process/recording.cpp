// Whether anything is recorded at this moment, and under which region: the gate, pauses, the window in time, the marks
// that the program makes. The other half of the runtime's life is in runtime.cpp.
#include "libmpiprof/base/text.h"
#include "libmpiprof/process/compat.h"
#include "libmpiprof/process/runtime.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/process/standard_error.h"
#include "libmpiprof/record/ledger.h"

namespace mpiprof {

// ---- the gate ----

// A new epoch: every thread looks up what changed before it books its next call.
void Runtime::move_gate() {
    epochs_ += 1;
    __atomic_store_n(&gate.epoch, epochs_, __ATOMIC_RELEASE);
}

// One in which nothing that memos know is true any more.
void Runtime::open_gate() {
    // Behind what became untrue: a thread that comes here for an older epoch's sake finds that changed, too.
    __atomic_store_n(&records_.forgets, records_.forgets + 1, __ATOMIC_RELEASE);
    move_gate();
}

void Runtime::close_gate() { __atomic_store_n(&gate.epoch, 0, __ATOMIC_RELEASE); }

void Runtime::forget_handles() {
    const Guard guard(lock_);
    if (gate.epoch != 0) open_gate();
}

// The thread that ends it forgets it here and now. The others are told, if there are any that may know it.
void Runtime::end_of(const EndedHandle& handle) {
    if (gate_epoch() == 0 && !is_recording()) return;  // a forked child finds the gate closed
    if (handle.kind == HandleKind::type) records_.types.ended(handle.c);
    Ledger* own = thread_state.ledger;
    if (own) own->end_of(handle);
    const std::uint32_t others = __atomic_load_n(&ledger_count_, __ATOMIC_RELAXED) - (own ? 1 : 0);
    if (others == 0) return;
    if (handle.kind == HandleKind::type && !records_.ended.may_be_held_by_others(handle.c, own ? own->id() : 0)) return;
    const Guard guard(lock_);
    const std::uint64_t before = gate.epoch;
    records_.ended.publish(handle);
    if (before == 0) return;
    move_gate();
    if (!own || thread_state.epoch != before) return;
    own->has_caught_up(epochs_);
    thread_state.epoch = epochs_;
}

// The gate is closed in a forked child, too, which has no ledger to look into.
void Runtime::end_of_type(Word type) {
    Ledger* own = thread_state.ledger;
    const bool is_alone = own && __atomic_load_n(&ledger_count_, __ATOMIC_RELAXED) == 1;
    if (!is_alone || gate_epoch() == 0) [[unlikely]]
        return end_of({HandleKind::type, type, 0});
    records_.types.ended(type);
    own->memos.forget_type(type);
}

void Runtime::shut(Reason reason) {
    const std::uint32_t before = shut_;
    shut_ |= reason;
    if (before != 0) return;
    paused_at_ = take_anchor(records_.clock).ticks;
    close_gate();
}

void Runtime::unshut(Reason reason) {
    const std::uint32_t before = shut_;
    shut_ &= ~static_cast<std::uint32_t>(reason);
    if (before == 0 || shut_ != 0) return;
    count_pause();
    paused_at_ = 0;
    open_gate();
}

// A pause counts while it lasts: who is killed in one, or looked at, was not recorded so long.
void Runtime::count_pause() {
    if (paused_at_ == 0) return;
    const Ticks now = take_anchor(records_.clock).ticks, ticks = now > paused_at_ ? now - paused_at_ : 0;
    format::Header& header = records_.image.header();
    add(header.paused_ticks, ticks);
    if (pauses_.is_open()) pauses_.turn(paused_at_, ticks, 0, {header.paused_ticks, 0});
    paused_at_ = now;
}

// ---- pauses ----

// Opened before the first pause, whose end the helper may find: the image grows in the program's threads alone.
void Runtime::open_pauses() {
    if (!pauses_.is_open())
        pauses_.open(records_.image, 0, records_.image.header().started.ticks, format::TableType::pauses);
}

void Runtime::pause() {
    if (!is_recording()) return;
    const Guard guard(lock_);
    was_paused_ = true;
    open_pauses();
    shut(paused);
}

void Runtime::resume() {
    if (!is_recording()) return;
    const Guard guard(lock_);
    unshut(paused);
}

// ---- the window: MPIPROF_BEGIN_TIME, MPIPROF_END_TIME ----

void Runtime::set_window(std::uint64_t started_ns) {
    const std::uint64_t begin = seconds_of(Setting::begin_time, 0);
    const std::uint64_t end = seconds_of(Setting::end_time, ~std::uint64_t{0});
    if (begin != 0) begins_at_ns_ = started_ns + begin;
    if (end != ~std::uint64_t{0}) ends_at_ns_ = started_ns + end;
    if (begin != 0) shut_ |= outside_window;
    if (!compat_begins_paused()) return;
    was_paused_ = true;
    shut_ |= paused;
}

// By the helper thread, which waits for nobody: who holds the lock is at start or end, where the window does not
// matter. Returns how long it is to the next edge.
std::uint64_t Runtime::obey_window() {
    constexpr std::uint64_t soon = 1'000'000;
    const std::uint64_t now = kernel_nanoseconds(CLOCK_MONOTONIC);
    if (begins_at_ns_ == 0 && ends_at_ns_ == ~std::uint64_t{0}) return Helper::when_asked;
    if (!lock_.try_lock()) return soon;
    if (now >= begins_at_ns_ && now < ends_at_ns_)
        unshut(outside_window);
    else
        shut(outside_window);
    lock_.unlock();
    const std::uint64_t edge = now < begins_at_ns_ ? begins_at_ns_ : ends_at_ns_;
    return now >= edge || edge - now > Helper::when_asked ? Helper::when_asked : edge - now;
}

// ---- regions and iterations ----

// A call belongs to the region that it began in. What the threads remember of their calls leads to the cells of the
// region before: it is forgotten.
template <class Change>
void Runtime::change_region(Change change) {
    Ledger* traced = traced_ledger();
    if (!is_recording()) return;
    const Guard guard(lock_);
    if (is_finished()) return;
    const std::uint16_t before = records_.regions.current();
    const format::Anchor now = take_anchor(records_.clock);
    change(records_.regions, records_.image, now);
    const std::uint16_t after = records_.regions.current();
    if (gate.epoch != 0) open_gate();
    if (!traced) return;
    const bool is_entered = records_.regions.is_inside(after, before);
    traced->trace->region(is_entered ? format::TraceKind::region_entered : format::TraceKind::region_left,
                          is_entered ? after : before, now.ticks, 0);
}

// The trace of the calling thread; null: it has none, or nothing is recorded. Not under the lock.
Ledger* Runtime::traced_ledger() {
    if (records_.trace_events == 0 || gate_epoch() == 0) return nullptr;
    Ledger* ledger = open(thread_state);
    return ledger && ledger->trace ? ledger : nullptr;
}

void Runtime::begin_region(const char* name) {
    change_region([&](Regions& regions, Image& image, const format::Anchor& now) { regions.begin(image, name, now); });
}

void Runtime::end_region(const char* name) {
    change_region([&](Regions& regions, Image& image, const format::Anchor& now) {
        static bool said = false;
        if (regions.end(image, name, now.ticks) || said || image.header().rank != 0) return;
        said = true;
        say("mpiprof_region_end(\"%s\") without a begin is ignored", name ? name : "");
    });
}

void Runtime::new_region() {
    change_region([](Regions& regions, Image& image, const format::Anchor& now) { regions.reset(image, now); });
}

void Runtime::end_iteration(std::uint64_t items) {
    Ledger* traced = traced_ledger();
    if (!is_recording()) return;
    const Guard guard(lock_);
    if (is_finished()) return;
    const format::Anchor now = take_anchor(records_.clock);
    if (shut_ != 0) return records_.regions.pass_iteration(now);  // warm-up, for one
    records_.regions.iterate(records_.image, items, records_.image.header().started, now);
    if (traced) traced->trace->region(format::TraceKind::iteration, records_.regions.current(), now.ticks, items);
}

// ---- labels ----

// Some programs know what they are before they begin MPI.
void Runtime::set_label(const char* key, const char* value) {
    if (is_child() || !key || !value) return;
    standard_error.remember();
    const Guard guard(lock_);
    if (has_started())
        labels_.set(records_.image, key, length_of(key), value, length_of(value));
    else if (phase() != Phase::off)
        labels_.keep(key, value);
}

}  // namespace mpiprof
