// The steps of a launch, and the end of all of them.
#include "libmpiprof/gpu/launches.h"

#include <stdio.h>
#include <string.h>

#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/size_bins.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof::gpu {

constinit Launches launches{};

namespace {

// The launch that this thread has in hand.
constinit thread_local Launch* in_hand __attribute__((tls_model("initial-exec"))) = nullptr;

void at_exit(void*) { launches.end_of_process(); }
// The driver ends with a handler of its own, registered when it was initialised, and so may CUPTI: the one that is
// registered last comes first.
void end_before_the_driver() {
    using AtExit = int (*)(void (*)(void*), void*, void*);
    const auto register_handler = reinterpret_cast<AtExit>(loader().dlsym(RTLD_DEFAULT, "__cxa_atexit"));
    if (register_handler) register_handler(at_exit, nullptr, nullptr);
}

void before_the_end() { launches.end_of_profile(false); }

// What to enter to speak of a share's stream; 0: the current one is right. A default stream, which has a small number
// for a name, means that of the current context, and at the end of a group this may be another than when the operation
// was enqueued.
Word context_to_enter(const Launch& launch, const Share& share) {
    const bool is_default = static_cast<std::uintptr_t>(share.stream) <= 2;
    return launch.count > 1 || (launch.group != 0 && is_default) ? share.context->handle : 0;
}

}  // namespace

// ---- whether, and how ----

// Each change, up to some: a program may profile itself every hundredth step.
void Launches::note_source(const char* text) {
    if (changes_ == most_changes || strcmp(text, noted_source_) == 0) return;
    ++changes_;
    copy(noted_source_, text);
    runtime.note_fact("gpu_times", text);
}

Launches::Source Launches::decide() {
    if (!mpiprof::is_on(Setting::gpu)) {
        note_source("none: MPIPROF_GPU=off");
        return Source::none;
    }
    if (!driver_.find()) {
        note_source("none: no GPU driver in this process");
        return Source::none;
    }
    end_before_the_driver();
    runtime.ask_before_the_end(before_the_end);
    if (driver_.is_hip()) {
        note_source("HIP events");
        return Source::some;
    }
    const char first = value_of(Setting::cupti)[1];  // on, window, off
    wants_cupti_ = first == 'n' ? WantsCupti::always : first == 'i' ? WantsCupti::in_window : WantsCupti::never;
    if (wants_cupti_ == WantsCupti::always || (wants_cupti_ == WantsCupti::in_window && runtime.has_window()))
        try_cupti();
    else
        note_source("events");
    return Source::some;
}

// The caller holds the lock. Asked early, so that a window does not begin with what takes CUPTI seconds.
void Launches::try_cupti() {
    char text[80] = "";
    const bool was_there = the_cupti.is_there();
    if (!the_cupti.start(driver_))
        append(text, "events: ");
    else if (was_there)
        the_cupti.resume();
    else
        end_before_the_driver();
    append(text, the_cupti.text());
    if (the_cupti.is_lent()) copy(text, "events: CUPTI is in use by another tool");
    note_source(text);
    is_failure_noted_ = the_cupti.has_failed();
    if (gate_epoch() == 0) the_cupti.pause();  // before the window
}

// Where the time of the launch in hand is from: recording may have got a window since the last one.
void Launches::choose_source() {
    if (wants_cupti_ == WantsCupti::never || uses_cupti() || is_failure_noted_) return;
    if (wants_cupti_ == WantsCupti::in_window && !runtime.has_window()) return;
    const Guard guard(lock_);
    try_cupti();
}

void Launches::pass() {
    if (!uses_cupti()) return;
    const Guard guard(lock_);
    the_cupti.pause();
}

bool Launches::is_on() {
    Source source = source_.load(std::memory_order_acquire);
    if (source == Source::undecided) {
        if (!runtime.is_recording()) return false;
        const Guard guard(lock_);
        source = source_.load(std::memory_order_relaxed);
        if (source == Source::undecided) {
            source = decide();
            source_.store(source, std::memory_order_release);
        }
    }
    return source != Source::none && !__atomic_load_n(&is_over_, __ATOMIC_RELAXED);
}

// ---- a launch ----

bool Launches::may_ask(const OwnErrors& errors) {
    if (!errors.may_ask()) count_drop(events_.not_timed.failed);
    return errors.may_ask();
}

Launch* Launches::take() {
    for (Launch& launch : launches_)
        if (!launch.is_taken.exchange(true, std::memory_order_acquire)) {
            launch.count = 0;
            launch.group = 0;
            launch.is_pushed = false;
            return &launch;
        }
    count_drop(events_.not_timed.no_room);
    return nullptr;
}

void Launches::drop() {
    if (!in_hand) return;
    if (in_hand->is_pushed) the_cupti.end();
    for (unsigned i = 0; i < in_hand->count; ++i) {
        if (Pair* pair = in_hand->shares[i].pair) events_.cancel(*pair);
        if (in_hand->shares[i].traced) the_cupti.cancel(in_hand->shares[i].traced);
    }
    in_hand->is_taken.store(false, std::memory_order_release);
    in_hand = nullptr;
}

// Null: what lies there is not timed.
Share* Launches::share_on(Launch& launch, Word stream) {
    Context* context = events_.context_of(driver_, stream);
    for (unsigned i = 0; i < launch.count; ++i)
        if (context && is_same(launch.shares[i], stream, *context)) return &launch.shares[i];
    if (!context) return nullptr;
    if (launch.count == Launch::most_shares) {
        count_drop(events_.not_timed.no_room);
        return nullptr;
    }
    Share& share = launch.shares[launch.count++];
    share = {stream, context, nullptr, 0, 0, {}};
    return &share;
}

// CUPTI tells devices apart, and no streams by a name that we know.
bool Launches::is_same(const Share& share, Word stream, const Context& context) const {
    return uses_cupti() ? share.context->device == context.device : share.stream == stream && share.context == &context;
}

void Launches::begin_traced(Launch& launch) {
    std::uint32_t devices[Launch::most_shares];
    for (unsigned i = 0; i < launch.count; ++i) {
        const InContext inside(driver_, context_to_enter(launch, launch.shares[i]));
        if (events_.is_capturing(driver_, launch.shares[i].stream)) return;
        devices[i] = launch.shares[i].context->device;
    }
    const std::uint64_t first = launch.count != 0 ? the_cupti.begin(devices, launch.count) : 0;
    for (unsigned i = 0; i < launch.count; ++i) launch.shares[i].traced = first ? first + i : 0;
    launch.is_pushed = first != 0;
    if (first == 0 && launch.count != 0) count_drop(events_.not_timed.failed);
}

void Launches::begin(Launch& launch) {
    if (uses_cupti()) return begin_traced(launch);
    for (unsigned i = 0; i < launch.count; ++i) {
        Share& share = launch.shares[i];
        const InContext inside(driver_, context_to_enter(launch, share));
        share.pair = events_.begin(driver_, *share.context, share.stream);
    }
}

void Launches::begin_alone(Word stream) {
    drop();
    choose_source();
    const OwnErrors errors(driver_);
    if (!may_ask(errors) || !(in_hand = take())) return;
    share_on(*in_hand, stream);
    begin(*in_hand);
}

void Launches::end_real_call(bool is_launched, bool is_elsewhere) {
    if (!in_hand) return;
    if (in_hand->is_pushed) the_cupti.end();
    in_hand->is_pushed = false;
    if (is_elsewhere) count_drop(events_.not_timed.nonblocking);
    if (!is_launched || is_elsewhere) return drop();
    const OwnErrors errors(driver_);  // after the real call
    if (!may_ask(errors)) return drop();
    for (unsigned i = 0; i < in_hand->count; ++i) {
        Share& share = in_hand->shares[i];
        if (!share.pair) continue;
        const InContext inside(driver_, context_to_enter(*in_hand, share));
        if (!events_.end(driver_, *share.pair, share.stream)) share.pair = nullptr;
    }
    events_.harvest(driver_, Events::a_few);
}

// ---- what it consists of ----

namespace {

void add_to(Share& share, const Operation& operation) {
    Booked& what = share.what;
    if (share.operations++ == 0)
        what = {operation.call, operation.bin, operation.communicator, 0, 0, 0, 0};
    else if (what.communicator != operation.communicator)
        what.communicator = 0;
    what.bytes += operation.bytes;
    if (!operation.is_collective) return;
    // Several collectives that end together have one time, which the first stands for.
    const std::uint64_t number = times.enqueue(operation.communicator);
    if (what.number != 0) return;
    what.number = number;
    what.numbered_by = operation.communicator;
}

}  // namespace

void Launches::count_only(std::uint16_t communicator) { times.enqueue(communicator); }

void Launches::enqueue(std::uint64_t group, Word stream, const Operation& operation) {
    if (in_hand && in_hand->group != group) drop();
    Share* share = nullptr;
    if (!in_hand) choose_source();
    const OwnErrors errors(driver_);
    if (may_ask(errors) && (in_hand || (in_hand = take()))) {
        in_hand->group = group;
        share = share_on(*in_hand, stream);
    }
    if (share)
        add_to(*share, operation);
    else if (operation.is_collective)
        count_only(operation.communicator);
}

void Launches::begin_group(std::uint64_t group) {
    if (in_hand && in_hand->group != group) drop();
    if (!in_hand) return;
    const OwnErrors errors(driver_);
    if (!may_ask(errors)) return drop();
    begin(*in_hand);
}

// A group of several operations has the group's end for its name: it is launched and ends as a whole.
void Launches::book(Launch& launch, std::uint16_t group_end) {
    for (unsigned i = 0; i < launch.count; ++i) {
        Share& share = launch.shares[i];
        if (share.operations > 1) {
            share.what.call = group_end;
            share.what.bin = static_cast<std::uint8_t>(format::size_bin(share.what.bytes));
        }
        if (share.pair) events_.commit(*share.pair, share.what);
        if (share.traced) the_cupti.describe(share.traced, share.what);
        share.pair = nullptr;
        share.traced = 0;
    }
    drop();
}

void Launches::is_of(const Operation& operation) {
    if (in_hand && in_hand->count == 1 && in_hand->group == 0) {
        add_to(in_hand->shares[0], operation);
        return book(*in_hand, operation.call);
    }
    drop();
    if (operation.is_collective) count_only(operation.communicator);
}

void Launches::group_is_of(std::uint16_t call) {
    if (in_hand) book(*in_hand, call);
}

// ---- the end ----

void Launches::harvest_all() {
    const OwnErrors errors(driver_);
    if (errors.may_ask()) events_.harvest(driver_, Events::all);
}

void Launches::settle() {
    if (source_.load(std::memory_order_acquire) != Source::some || is_over_ || !runtime.is_recording()) return;
    harvest_all();
    the_cupti.flush();
}

void Launches::note_what_is_missing() {
    NotTimed n = events_.not_timed;
    n.unfinished += the_cupti.unfinished();
    if (the_cupti.dropped != dropped_) {
        char text[32];
        dropped_ = the_cupti.dropped;
        snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(dropped_));
        runtime.note_fact("gpu_records_dropped", text);
    }
    if (n == noted_) return;
    noted_ = n;
    char text[160];
    snprintf(text, sizeof text, "captured %llu, nonblocking %llu, no room %llu, failed %llu, unfinished %llu",
             static_cast<unsigned long long>(n.captured), static_cast<unsigned long long>(n.nonblocking),
             static_cast<unsigned long long>(n.no_room), static_cast<unsigned long long>(n.failed),
             static_cast<unsigned long long>(n.unfinished));
    runtime.note_fact("gpu_not_timed", text);
}

void Launches::end_of_profile(bool forced) {
    if (source_.load(std::memory_order_acquire) != Source::some || is_over_ || !runtime.is_recording()) return;
    harvest_all();
    events_.count_unfinished();
    the_cupti.finish(forced);
    note_what_is_missing();
}

// By exit(), before the driver's own handler.
void Launches::end_of_process() {
    end_of_profile(true);
    __atomic_store_n(&is_over_, true, __ATOMIC_RELAXED);
}

}  // namespace mpiprof::gpu
