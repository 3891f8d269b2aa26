// What becomes of the profile's file in the life of a process: when it is begun, under which name, whether there is to
// be one at all, and how it is saved at the end. The rest of the runtime's life is in runtime.cpp.
#include <errno.h>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/process/choice.h"
#include "libmpiprof/process/runtime.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/record/ledger.h"

namespace mpiprof {

// Most processes that MPIPROF_MIN_TIME is for end before it: they get memory alone.
bool Runtime::open_file(const format::Header& described) {
    const Share share = share_of_rank(described.size);
    awaits_file_ = seconds_of(Setting::min_time, 0) != 0;
    if (!awaits_file_)
        return file_.open(records_.image, {described.job, described.host, described.rank, &described}, share);
    __atomic_store_n(&records_.sometimes, &begin_file_when_due, __ATOMIC_RELAXED);
    return file_.open_without_file(records_.image, share);
}

// By whichever thread's call is the first behind MPIPROF_MIN_TIME. It waits for nobody: who holds the lock is at start
// or end, and the next call asks again.
void Runtime::begin_file_when_due() {
    const int saved = errno;
    if (runtime.is_recording() && runtime.lock_.try_lock()) {
        if (runtime.awaits_file_ && !runtime.leaves_nothing()) {
            runtime.begin_file();
            runtime.start_helper();
        }
        runtime.lock_.unlock();
    }
    errno = saved;
}

// The helper thread, if a window in time needs one, writes nothing until the file is whole.
void Runtime::begin_file() {
    (void)file_.take_name(records_.image, name());
    rank_in_path_ = records_.image.header().rank;
    __atomic_store_n(&awaits_file_, false, __ATOMIC_RELEASE);
    __atomic_store_n(&records_.sometimes, nullptr, __ATOMIC_RELAXED);
}

// The helper thread writes by the path, so it rests meanwhile.
void Runtime::move_file() {
    if (records_.image.header().rank == rank_in_path_ || helper_.is_running()) return;
    if (file_.move(name())) rank_in_path_ = records_.image.header().rank;
}

// `import h5py` and configure tests are worlds of one that move nothing: they leave no file. A program that marks its
// parts wants to be seen: it is the serial run that others are compared with.
bool Runtime::moved_nothing() const {
    const format::Header& header = records_.image.header();
    if (header.size != 1 || (header.flags & format::world_is_spawned) || records_.regions.has_any()) return false;
    for (const Ledger* l = ledgers_; l; l = l->next)
        if (l->has_moved_data()) return false;
    return true;
}

// Nor does one that MPIPROF_MIN_TIME calls too short.
bool Runtime::leaves_nothing() const {
    if (moved_nothing()) return true;
    const std::uint64_t ran = kernel_nanoseconds(CLOCK_MONOTONIC) - records_.image.header().started.monotonic_ns;
    return awaits_file_ && ran < seconds_of(Setting::min_time, 0);
}

std::uint64_t Runtime::write_to_the_end(void* self, std::uint64_t) {
    auto& of = *static_cast<Runtime*>(self);
    of.last_error_ = of.file_.save(of.records_.image);
    return Helper::when_asked;
}

// A file system that stands still keeps no rank for long: a thread waits for it, and the rank for that one.
int Runtime::save() {
    if (file_.is_used_up()) return 0;
    constexpr std::uint64_t patience_ns = 10'000'000'000, more_per_mib = 10'000'000'000;
    if (!file_.is_on_shared_storage() || !records_.image.has_unsaved()) {
        last_error_ = file_.save(records_.image);
    } else {
        const std::uint64_t patience = patience_ns + more_per_mib * (records_.image.bytes() >> 20);
        if (!last_write_.do_once(write_to_the_end, this, patience)) last_error_ = ProfileFile::no_answer;
    }
    const int error = last_error_;
    return error == 0 ? 0 : file_.save_elsewhere(records_.image, name(), error);
}

}  // namespace mpiprof
