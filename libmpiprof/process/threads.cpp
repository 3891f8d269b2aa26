// The ledgers of threads: opened at a thread's first call, handed on when it has ended, closed to forked children. Once
// per thread and epoch.
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmpiprof/base/raw.h"
#include "libmpiprof/process/runtime.h"
#include "libmpiprof/process/say.h"
#include "libmpiprof/process/settings.h"
#include "libmpiprof/record/ledger.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// libc's own hooks under their stable names: pthread_atfork is a static stub around the first; the second is how C++
// registers thread_local destructors, here without libstdc++.
extern "C" int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void*) __attribute__((weak));
extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*) __attribute__((weak));

namespace mpiprof {
namespace {

using format::ThreadKind;

void thread_ends(void* ledger) {
    thread_state.ledger = nullptr;
    thread_state.epoch = ~std::uint64_t{0};
    static_cast<Ledger*>(ledger)->in_use.store(false, std::memory_order_release);
}

bool is_alive(std::uint32_t thread) { return raw(SYS_tgkill, getpid(), static_cast<long>(thread), 0) != -ESRCH; }

void close_in_child() { __atomic_store_n(&gate.epoch, 0, __ATOMIC_RELAXED); }

}  // namespace

Ledger* Runtime::open(ThreadState& state) {
    const std::uint64_t epoch = __atomic_load_n(&gate.epoch, __ATOMIC_ACQUIRE);
    if (epoch == 0) return nullptr;
    if (phase() == Phase::mpi_ended) [[unlikely]]
        begin_after_mpi();
    if (!state.ledger) state.ledger = new_ledger();
    if (!state.ledger) {
        count_drop(records_.image.header().drops.threads);
        return nullptr;
    }
    state.ledger->enter_epoch(epoch);
    // The fast form reads the processor's counter, and traces nothing: else a thread never finds its epoch current.
    if (!state.ledger->is_monotonic() && !state.ledger->trace) state.epoch = epoch;
    return state.ledger;
}

bool Runtime::knows_call(std::uint16_t call) {
    if (!is_recording())
        return phase() == Phase::off || has_started();  // off, or a child: never recorded, so nothing to know
    records_.publish_call(call);
    return true;
}

Ledger* Runtime::new_ledger() {
    const Guard guard(lock_);
    const auto thread = static_cast<std::uint32_t>(raw(SYS_gettid));
    const ThreadKind kind = static_cast<int>(thread) == owner_ ? ThreadKind::main : ThreadKind::other;
    Ledger* ledger = nullptr;
    for (Ledger* l = ledgers_; l && !ledger; l = l->next)
        if (l->kind() == kind && !l->in_use.exchange(true, std::memory_order_acquire)) ledger = l;
    // A thread may call MPI once more after its ledger was given back (from a later destructor): nobody says when it
    // ends. Two are asked after for each new thread: all in turn, without a look at each of thousands each time.
    for (int asked = 0; asked < 2 && !ledger && ledgers_; ++asked) {
        if (!suspect_) suspect_ = ledgers_;
        if (suspect_->kind() == kind && !is_alive(suspect_->os_thread())) ledger = suspect_;
        suspect_ = suspect_->next;
    }
    if (ledger) {
        ledger->adopt(thread);
    } else {
        ledger = Ledger::create(records_, ledger_count_ + 1, kind);
        if (!ledger) return nullptr;
        __atomic_store_n(&ledger_count_, ledger_count_ + 1, __ATOMIC_RELAXED);
        say_how_much_is_traced(*ledger);
        ledger->next = ledgers_;
        ledgers_ = ledger;
    }
    if (__cxa_thread_atexit_impl)
        __cxa_thread_atexit_impl(thread_ends, ledger, this);  // any address of ours names the library
    return ledger;
}

void Runtime::say_how_much_is_traced(Ledger& ledger) {
    const std::uint32_t kept = ledger.trace ? ledger.trace->capacity() : 0;
    if (kept >= records_.trace_events) return;
    const format::Header& header = records_.image.header();
    const bool is_first_here = header.local_rank == 0 || header.local_rank == format::no_local_rank;
    // One line a node: ranks share a disk, and threads are many.
    if (!is_trace_cut_ && (is_first_here || is_on(Setting::verbose)))
        say("no room for a trace of %u events: rank %u keeps its last %u", records_.trace_events, header.rank, kept);
    is_trace_cut_ = true;
}

// A forked child must find the gate closed, whichever way it was made (fork, _Fork, clone).
bool Runtime::guard_against_fork() {
    if (raw(SYS_madvise, raw_address(&gate), sizeof gate, MADV_WIPEONFORK) == 0) return true;
    return __register_atfork && __register_atfork(nullptr, nullptr, close_in_child, nullptr) == 0;  // before Linux 4.14
}

}  // namespace mpiprof
