// Where the times of launches come from: whether they are taken, by events or by CUPTI, for how long CUPTI may stay on,
// and what the profile says of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/gpu/launches.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof::gpu {
namespace {

void at_exit(void*) { launches.end_of_process(); }
// The driver ends with a handler of its own, registered when it was initialised, and so may CUPTI: the one that is
// registered last comes first.
void end_before_the_driver() {
    using AtExit = int (*)(void (*)(void*), void*, void*);
    const auto register_handler = reinterpret_cast<AtExit>(loader().dlsym(RTLD_DEFAULT, "__cxa_atexit"));
    if (register_handler) register_handler(at_exit, nullptr, nullptr);
}

void before_the_end() { launches.end_of_profile(false); }

}  // namespace

// Each change, up to some: a program may profile itself every hundredth step.
void Launches::note_source(const char* text) {
    if (changes_ == most_changes || strcmp(text, noted_source_) == 0) return;
    ++changes_;
    copy(noted_source_, text);
    runtime.note_fact(format::facts::gpu_times, text);
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
        note_events();
        return Source::some;
    }
    switch (value_of(Setting::cupti)[1]) {  // on, sample, window, off
        case 'n':
            wants_cupti_ = WantsCupti::always;
            break;
        case 'a':
            wants_cupti_ = WantsCupti::as_sample;
            break;
        case 'i':
            wants_cupti_ = WantsCupti::in_window;
            break;
    }
    cupti_ns_ = seconds_of(Setting::cupti_time, 0);
    if (const char* other = getenv("CUDA_INJECTION64_PATH"); other && *other && wants_cupti_ != WantsCupti::never) {
        wants_cupti_ = WantsCupti::never;
        note_source("events: CUDA_INJECTION64_PATH names another tool");
        return Source::some;
    }
    const bool is_its_time =
        wants_cupti_ == WantsCupti::always || (wants_cupti_ == WantsCupti::in_window && runtime.has_window());
    if (is_its_time && cupti_ns_ != 0)
        try_cupti();
    else
        note_events();
    return Source::some;
}

void Launches::note_events() {
    const bool is_told = is_told_.load(std::memory_order_relaxed);
    note_source(driver_.is_hip() ? is_told ? "HIP events at kernel launches" : "HIP events"
                : is_told        ? "events at kernel launches"
                                 : "events");
}

// NCCL makes a communicator.
void Launches::will_be_told() {
    if (is_told_.exchange(true, std::memory_order_relaxed)) return;
    const Guard guard(lock_);
    if (source_.load(std::memory_order_relaxed) == Source::some && strstr(noted_source_, "events") &&
        !strstr(noted_source_, "CUPTI"))
        note_events();
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
    // Whether there is a window changes with the epoch alone, and HIP's errors have to be looked at around each
    // question.
    const bool is_wanted = wants_cupti_ != WantsCupti::never && !is_failure_noted_;
    const bool may_come = is_wanted && (wants_cupti_ != WantsCupti::in_window || runtime.has_window());
    if (!may_come && !the_cupti.is_there() && !driver_.last_error)
        __atomic_store_n(&without_cupti_, gate_epoch(), __ATOMIC_RELAXED);
    if (!is_wanted) return;
    const bool is_its_turn = is_cuptis_turn();
    if (uses_cupti()) return;
    the_cupti.drain();
    if (!is_its_turn) return;
    const Guard guard(lock_);
    try_cupti();
}

// A run or a window may have no end, and a sample is over soon: then CUPTI is switched off here.
bool Launches::is_cuptis_turn() {
    if (wants_cupti_ == WantsCupti::in_window && !runtime.has_window()) return false;
    const Guard guard(lock_);
    if (is_turn_over_) return false;
    const bool is_sample = wants_cupti_ == WantsCupti::as_sample;
    const std::uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (since_ns_ == 0) since_ns_ = now;
    if (uses_cupti() && looked_ns_ != 0) used_ns_ += now - looked_ns_;
    looked_ns_ = now;
    if (used_ns_ >= (is_sample ? cupti_ns_ / 12 : cupti_ns_)) return end_cuptis_turn(), false;
    if (!is_sample) return true;
    // Who else comes is not waited for.
    if (used_ns_ != 0 && !uses_cupti()) return end_cuptis_turn(), false;
    return now - since_ns_ >= cupti_ns_;
}

void Launches::end_cuptis_turn() {
    is_turn_over_ = true;
    the_cupti.pause();
    note_source(is_told_ ? "events at kernel launches, after a time of CUPTI" : "events, after a time of CUPTI");
}

void Launches::pass() {
    if (!uses_cupti()) return the_cupti.drain();
    const Guard guard(lock_);
    the_cupti.pause();
}

bool Launches::is_on_now() {
    if (!runtime.is_recording()) return false;
    const Guard guard(lock_);
    if (source_.load(std::memory_order_relaxed) == Source::undecided)
        source_.store(decide(), std::memory_order_release);
    return source_.load(std::memory_order_relaxed) != Source::none && !__atomic_load_n(&is_over_, __ATOMIC_RELAXED);
}

// ---- what has no time ----

void Launches::note_number(const char* name, std::uint64_t number, std::uint64_t& noted) {
    if (number == noted) return;
    noted = number;
    char text[32];
    snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(number));
    runtime.note_fact(name, text);
}

std::uint64_t Launches::not_answered() const {
    const std::uint64_t answered = answered_.load(std::memory_order_relaxed);
    const std::uint64_t handed_over = handed_over_.load(std::memory_order_relaxed);
    return handed_over > answered ? handed_over - answered : 0;
}

void Launches::note_what_is_missing() {
    const auto note = [&](const char* why, std::uint64_t number, std::uint64_t& noted) {
        char name[48];
        snprintf(name, sizeof name, "%s.%s", format::facts::gpu_not_timed, why);
        note_number(name, number, noted);
    };
    const NotTimed& n = events_.not_timed;
    note(format::facts::captured, n.captured, noted_.captured);
    note("nonblocking", n.nonblocking, noted_.nonblocking);
    note("no room", n.no_room, noted_.no_room);
    note("failed", n.failed, noted_.failed);
    note("held up", n.held_up, noted_.held_up);
    note("untold", n.untold + not_answered(), noted_.untold);
    note("unfinished", n.unfinished + the_cupti.unfinished(), noted_.unfinished);
    note_number(format::facts::gpu_records_dropped, the_cupti.dropped, dropped_);
}

}  // namespace mpiprof::gpu
