// What is done for the profile beside the calls: the helper thread's work, whether there may be one, and what the
// report has to know of the circumstances. The rest of the runtime's life is in runtime.cpp.
#include <errno.h>
#include <stdio.h>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/format/facts.h"
#include "libmpiprof/format/tick_rate.h"
#include "libmpiprof/host/facts.h"
#include "libmpiprof/process/rights.h"
#include "libmpiprof/process/runtime.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/process/standard_error.h"

namespace mpiprof {
namespace {

// How old a profile may be after a kill, where its file system says nothing else and nobody set a period.
constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t period_on_own_disk = second;
constexpr std::uint64_t period_on_shared_storage = 10 * second;
// A job that is killed early has less to lose: the first pause between two writes, and the next ones are longer.
constexpr std::uint64_t first_pause = second / 20;

}  // namespace

// ---- the helper thread ----

// By the helper thread, once a period: what no call writes, and in the written store the file.
std::uint64_t Runtime::refresh(void* self, std::uint64_t period_ns) {
    Runtime& r = *static_cast<Runtime*>(self);
    const std::uint64_t next_ns = r.obey_window();
    format::Header& header = r.records_.image.header();
    if (r.lock_.try_lock()) {
        r.count_pause();
        r.lock_.unlock();
    }
    header.updated = take_anchor(r.records_.clock);
    r.measurements_.refresh(r.measured());
    if (!r.records_.image.is_mapped()) header.store_period_ms = static_cast<std::uint32_t>(period_ns / 1'000'000);
    if (r.helper_.is_told()) return next_ns;  // the end of the profile is written by whoever told it
    if (__atomic_load_n(&r.awaits_file_, __ATOMIC_ACQUIRE)) return next_ns;
    const int error = r.file_.update(r.records_.image);
    if (error != 0 && error != ECANCELED) count_drop(header.drops.write_errors);
    return next_ns;
}

// A mapping needs it only to say how long the job has lived. That is not worth a first thread in a process that has
// none: Python warns of forks then. What is not mapped is written by it from the first write on: the program's own
// thread would wait within MPI_Init for a disk that hangs.
void Runtime::start_helper() {
    format::Header& header = records_.image.header();
    const bool is_written = !records_.image.is_mapped();
    const bool shared = file_.is_on_shared_storage();
    std::uint64_t period = seconds_of(Setting::period, shared ? period_on_shared_storage : period_on_own_disk);
    const bool has_window = begins_at_ns_ != 0 || ends_at_ns_ != ~std::uint64_t{0};
    if (!has_window && (awaits_file_ || period == 0 || (!is_written && !has_threads()))) return;
    if (period == 0) period = Helper::when_asked;
    const bool is_free = may_change_rights();  // to become another user, in whom no thread of the first one may stay
    if (is_free && !has_threads()) return do_without_helper();
    const Helper::Kind kind = is_free ? Helper::Kind::libcs : Helper::Kind::bare;
    // Thousands of ranks that begin together do not write together ever after: pauses that grow from between half and
    // all of the first one lead anywhere into the period.
    const std::uint64_t of_1024 = shared ? mix(header.rank + 1u) >> 54 : 0;
    const std::uint64_t first = has_window || is_written ? 0 : period - period / 1024 * of_1024;
    const bool grows = is_written && period != Helper::when_asked;
    const std::uint64_t growing_from = grows ? first_pause - first_pause / 2048 * of_1024 : 0;
    const bool starts = helper_.start(refresh, this, period, first, growing_from, kind);
    if (starts && grows) header.store_period_ms = static_cast<std::uint32_t>(period / 1'000'000);
    if (!starts && !helper_.is_running() && is_free) do_without_helper();
}

// The window in time needs one: better all of the run is recorded than nothing.
void Runtime::do_without_helper() {
    if (!is_noted_no_helper_)
        record_fact(records_.image, format::FactKind::process, format::facts::no_helper_thread,
                    format::facts::may_change_rights);
    is_noted_no_helper_ = true;
    if (begins_at_ns_ == 0 && ends_at_ns_ == ~std::uint64_t{0}) return;
    begins_at_ns_ = 0;
    ends_at_ns_ = ~std::uint64_t{0};
    unshut(outside_window);
    if (records_.image.header().rank == 0)
        say("MPIPROF_BEGIN_TIME and MPIPROF_END_TIME need a thread of ours, which a process without threads that may "
            "become another user does not get: all of the run is recorded");
}

void Runtime::note_what_was_not_said() {
    if (is_noted_not_said_ || !standard_error.unsaid()[0]) return;
    record_fact(records_.image, format::FactKind::process, format::facts::not_said, standard_error.unsaid());
    is_noted_not_said_ = true;
}

// A machine that slept, or another library that moves the program's clocks, makes times that nobody can explain: the
// report has to know.
void Runtime::note_clocks() {
    if (are_clocks_noted_) return;
    are_clocks_noted_ = true;
    constexpr std::uint64_t noticeable = second / 100;
    const format::Header& header = records_.image.header();
    const auto note = [&](const char* name, std::uint64_t first, std::uint64_t other) {
        char text[64];
        snprintf(text, sizeof text, other ? "%llu %llu" : "%llu", static_cast<unsigned long long>(first),
                 static_cast<unsigned long long>(other));
        record_fact(records_.image, format::FactKind::process, name, text);
    };
    const std::uint64_t slept = slept_ns() - slept_before_ns_;
    if (slept > noticeable && slept < ~std::uint64_t{0} / 2) note(format::facts::slept_ns, slept, 0);
    const std::uint64_t programs = nanoseconds(CLOCK_MONOTONIC) - setup_began_ns_;
    const std::uint64_t kernels = header.ended.monotonic_ns - loaded_.monotonic_ns;
    const std::uint64_t apart = programs > kernels ? programs - kernels : kernels - programs;
    if (apart > noticeable + kernels / 1000) note(format::facts::clock_moved, programs, kernels);
    const format::Anchor anchors[] = {header.loaded, header.started, header.ended};
    if (const auto rate = format::tick_rate(anchors, 3); !rate.is_steady)
        if (const std::uint64_t khz = named_rate_khz(records_.clock)) note(format::facts::counter_khz, khz, 0);
}

}  // namespace mpiprof
