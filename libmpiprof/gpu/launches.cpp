// The steps of a launch, and the end of all of them.
#include "libmpiprof/gpu/launches.h"

#include "libmpiprof/base/clock.h"
#include "libmpiprof/format/size_bins.h"

namespace mpiprof::gpu {

constinit Launches launches{};
constinit thread_local Launch* in_hand = nullptr;
constinit thread_local Lone lone{};

namespace {

// This thread launches something for others that has no time, which was counted where that was found.
constinit thread_local bool is_counted_without __attribute__((tls_model("initial-exec"))) = false;

// What a group sends and receives is one kernel.
constexpr std::uint64_t sent_and_received = 1;

bool is_default(Word stream) { return static_cast<std::uintptr_t>(stream) <= 2; }

// What to enter to speak of a share's stream; 0: the current one is right. A default stream, which has a small number
// for a name, means that of the current context, and at the end of a group this may be another than when the operation
// was enqueued.
Word context_to_enter(const Launch& launch, const Share& share) {
    return launch.count > 1 || (launch.group != 0 && is_default(share.stream)) ? share.context->handle : 0;
}

}  // namespace

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
            launch.is_pushed = launch.is_elsewhere = false;
            launch.launched = nullptr;
            launch.since = 0;
            return &launch;
        }
    count_drop(events_.not_timed.no_room);
    return nullptr;
}

void Launches::drop() {
    if (lone.is_in_hand) drop_lone();
    if (!in_hand) return;
    if (in_hand->is_pushed) the_cupti.end();
    for (unsigned i = 0; i < in_hand->count; ++i) {
        if (Pair* pair = in_hand->shares[i].pair) events_.cancel(*pair);
        if (in_hand->shares[i].traced) the_cupti.cancel(in_hand->shares[i].traced);
    }
    in_hand->is_taken.store(false, std::memory_order_release);
    in_hand = nullptr;
}

void Launches::drop_lone() {
    lone.is_in_hand = false;
    if (lone.pair) events_.cancel(*lone.pair);
    lone.pair = nullptr;
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
    share = {stream, context, nullptr, false, 0, 0, 0, {}, {}};
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
        share.is_awaited = awaits_kernels(share.calls);
        if (share.is_awaited) continue;
        if (launch.since == 0) launch.since = nanoseconds(CLOCK_MONOTONIC);
        const InContext inside(driver_, context_to_enter(launch, share));
        share.pair = events_.begin(driver_, *share.context, share.stream);
    }
}

void Launches::begin_alone(Word stream, std::uint16_t call) {
    drop();
    choose_source();
    if (begin_lone(stream, bit_of(call))) return;
    const OwnErrors errors(driver_);
    if (!may_ask(errors) || !(in_hand = take())) return;
    if (Share* share = share_on(*in_hand, stream)) share->calls = bit_of(call);
    begin(*in_hand);
}

// Whether NCCL tells of what a thread of its own launches.
bool Launches::is_told_elsewhere() const { return is_told_.load(std::memory_order_relaxed) && !uses_cupti(); }

// NCCL 2.23 says "success" where it should say "in progress".
bool Launches::is_missed(const Operation& operation) {
    if (!operation.is_nonblocking || is_told_elsewhere()) return false;
    count_drop(events_.not_timed.nonblocking);
    return true;
}

void Launches::end_real_call(Outcome outcome) {
    if (lone.is_in_hand && outcome != Outcome::enqueued) drop_lone();
    if (!in_hand) return;
    if (in_hand->is_pushed) the_cupti.end();
    in_hand->is_pushed = false;
    if (outcome == Outcome::in_progress && !is_told_elsewhere()) count_drop(events_.not_timed.nonblocking);
    if (outcome != Outcome::enqueued) return drop();
    const OwnErrors errors(driver_);  // after the real call
    if (!may_ask(errors)) return drop();
    for (unsigned i = 0; i < in_hand->count; ++i) {
        Share& share = in_hand->shares[i];
        if (!share.pair || share.pair->kernels != 0) continue;
        const InContext inside(driver_, context_to_enter(*in_hand, share));
        if (!events_.end(driver_, *share.pair, share.stream)) share.pair = nullptr;
    }
    look_whether_held_up(*in_hand);
    harvest_if_due();
}

void Launches::look_whether_held_up(Launch& launch) {
    if (launch.since == 0) return;
    const std::uint64_t ns = nanoseconds(CLOCK_MONOTONIC) - launch.since;
    if (ns < Events::long_ns) return;
    for (unsigned i = 0; i < launch.count; ++i)
        if (Pair* pair = launch.shares[i].pair; pair && pair->kernels == 0) events_.held_up(driver_, *pair, ns);
}

// ---- kernels of which NCCL tells ----

// A default stream has the same name on every GPU.
bool Launches::is_here(const Share& share) const {
    return !is_default(share.stream) || driver_.context_of(share.stream) == share.context->handle;
}

// By now the device is the right one: NCCL has made it current.
void Launches::begin_kernel(Word stream, bool is_in_a_call) {
    if (!is_on() || uses_cupti()) return;
    if (!is_in_a_call) return begin_kernel_elsewhere(stream);
    if (lone.is_in_hand) return begin_lone_kernel(stream);
    if (!in_hand || in_hand->is_elsewhere) return;  // that it has no time was counted
    for (unsigned i = 0; i < in_hand->count; ++i) {
        Share& share = in_hand->shares[i];
        if (share.stream != stream || !(share.pair || share.is_awaited) || !is_here(share)) continue;
        const OwnErrors errors(driver_);
        share.pair = may_ask(errors) ? pair_of_kernel(share) : nullptr;
        share.is_awaited = false;
        learn_that_told(share.calls);
        if (share.pair) in_hand->launched = &share;
        return;
    }
}

// Of several functions in one kernel NCCL may tell for the sake of one.
void Launches::learn_that_told(std::uint64_t calls) {
    const bool is_one = (calls & (calls - 1)) == 0;
    if (is_one && (calls & ~told_calls_.load(std::memory_order_relaxed)) != 0)
        told_calls_.fetch_or(calls, std::memory_order_relaxed);
}

// With its first half recorded; null if that is not possible.
Pair* Launches::pair_of_kernel(Share& share) {
    if (!share.is_awaited) return events_.begin_again(driver_, *share.pair, share.stream) ? share.pair : nullptr;
    Pair* pair = events_.begin(driver_, *share.context, share.stream);
    if (pair) pair->kernels = 1;
    return pair;
}

// A launch of its own, of which NCCL says what it was when it has been made.
void Launches::begin_kernel_elsewhere(Word stream) {
    end_of_kernels(0);
    drop();
    const OwnErrors errors(driver_);
    is_counted_without = true;
    if (!may_ask(errors) || !(in_hand = take())) return;
    in_hand->is_elsewhere = true;
    Share* share = share_on(*in_hand, stream);
    if (!share) return drop();
    share->is_awaited = true;
    share->pair = pair_of_kernel(*share);
    share->is_awaited = false;
    if (!share->pair) return drop();
    in_hand->launched = share;
    is_counted_without = false;
}

void Launches::end_kernel_in_hand() {
    if (!in_hand || !in_hand->launched) return;
    Share& share = *in_hand->launched;
    in_hand->launched = nullptr;
    const OwnErrors errors(driver_);
    if (!may_ask(errors) || !events_.end(driver_, *share.pair, share.stream)) share.pair = nullptr;
}

// ---- what it consists of ----

namespace {

void add_to(Share& share, const Operation& operation) {
    Booked& what = share.what;
    share.calls |= operation.is_collective() ? bit_of(operation.call) : sent_and_received;
    if (share.operations++ == 0)
        what = {operation.call, operation.bin, operation.communicator, 0, 0, 0, 0, 0};
    else if (what.communicator != operation.communicator)
        what.communicator = 0;
    share.moved.add(operation);
    what.bytes = share.moved.bytes();
}

// Several collectives that end together have one time, which the first stands for.
void number(Booked& what, const Operation& operation) {
    if (!operation.is_collective()) return;
    const std::uint64_t number = times.enqueue(operation.communicator);
    if (what.number != 0 || !operation.needs_all) return;
    what.number = number;
    what.numbered_by = operation.communicator;
}

// A group of several operations has the group's end for its name: it is launched and ends as a whole.
void name_as_group(Share& share, std::uint16_t group_end) {
    Booked& what = share.what;
    what.call = group_end;
    what.bin = static_cast<std::uint8_t>(format::size_bin(what.bytes));
    if (share.moved.collective != 0) return;
    what.flags |= format::exchange;
    what.others = share.moved.others.larger();
}

}  // namespace

void Launches::count_only(std::uint16_t communicator) { times.enqueue(communicator); }

void Launches::enqueue(std::uint64_t group, Word stream, const Operation& operation) {
    if (in_hand && in_hand->group != group) drop();
    if (operation.is_told_elsewhere) [[unlikely]]
        hand_over();
    Share* share = nullptr;
    if (!in_hand) choose_source();
    const OwnErrors errors(driver_);
    if (operation.has_kernel && !is_missed(operation) && may_ask(errors) && (in_hand || (in_hand = take()))) {
        in_hand->group = group;
        share = share_on(*in_hand, stream);
    }
    if (share)
        add_to(*share, operation), number(share->what, operation);
    else if (operation.is_collective())
        count_only(operation.communicator);
}

void Launches::begin_group(std::uint64_t group) {
    if (lone.is_in_hand) drop_lone();
    if (in_hand && in_hand->group != group) drop();
    if (!in_hand) return;
    const OwnErrors errors(driver_);
    if (!may_ask(errors)) return drop();
    begin(*in_hand);
}

// NCCL was to tell of its kernel, and has not.
void Launches::miss(std::uint64_t calls) {
    silent_calls_.fetch_or(calls, std::memory_order_relaxed);
    count_drop(events_.not_timed.untold);
}

void Launches::book(Launch& launch, std::uint16_t group_end) {
    for (unsigned i = 0; i < launch.count; ++i) {
        Share& share = launch.shares[i];
        if (share.is_awaited) miss(share.calls);
        share.is_awaited = false;
        if (share.operations > 1) name_as_group(share, group_end);
        if (share.pair) events_.commit(*share.pair, share.what);
        if (share.traced) the_cupti.describe(share.traced, share.what);
        share.pair = nullptr;
        share.traced = 0;
    }
    drop();
}

// Told of, with its times, in the thread that launches it; the call itself may have returned behind that.
void Launches::leave_elsewhere(Share& share, const Operation& operation) {
    share.is_awaited = false;
    if (share.pair && share.pair->kernels != 0) return;
    if (operation.is_told_elsewhere) hand_over();
    if (share.pair) events_.cancel(*share.pair);
    share.pair = nullptr;
}

// To a thread of NCCL's, that will tell of it.
void Launches::hand_over() {
    if (is_told_elsewhere()) handed_over_.fetch_add(1, std::memory_order_relaxed);
}

// Told of by NCCL, with its launch or without a time for another reason.
void Launches::answer(const Operation& operation) {
    if (operation.is_told_elsewhere && is_told_elsewhere()) answered_.fetch_add(1, std::memory_order_relaxed);
}

void Launches::describe(const Operation& operation) {
    if (in_hand && in_hand->count == 1 && in_hand->group == 0 && operation.has_kernel && !is_missed(operation)) {
        Share& share = in_hand->shares[0];
        if (operation.is_nonblocking && is_told_elsewhere()) leave_elsewhere(share, operation);
        add_to(share, operation);
        number(share.what, operation);
        return book(*in_hand, operation.call);
    }
    drop();
    if (operation.is_told_elsewhere) hand_over();
    if (operation.is_collective()) count_only(operation.communicator);
}

void Launches::describe_group(std::uint16_t call) {
    if (in_hand) book(*in_hand, call);
}

void Launches::kernel_did(const Operation& operation) {
    const bool has_time = in_hand && in_hand->is_elsewhere;
    if (has_time) add_to(in_hand->shares[0], operation);
    if (has_time || is_counted_without) answer(operation);
}

void Launches::end_of_kernels(std::uint16_t group_end) {
    is_counted_without = false;
    if (!in_hand || !in_hand->is_elsewhere) return;
    const unsigned operations = in_hand->shares[0].operations;
    if (operations == 0) {  // nobody said what it was
        count_drop(events_.not_timed.nonblocking);
        return drop();
    }
    if (operations > 1) runtime.records().publish_call(group_end);
    book(*in_hand, group_end);
    const OwnErrors errors(driver_);
    if (errors.may_ask()) harvest_if_due();
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
    __atomic_store_n(&without_cupti_, ~std::uint64_t{0}, __ATOMIC_RELAXED);
}

}  // namespace mpiprof::gpu
