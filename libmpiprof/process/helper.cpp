// Made once by start(), asleep almost always. Signals are blocked before it is made and stay so: those of the program
// reach the program's threads, and a write beyond a file size limit is an error here. Of a thread of libc's, those two
// stay open by which libc speaks to its threads.
#include "libmpiprof/process/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "libmpiprof/base/arithmetic.h"
#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/kernel_files.h"
#include "libmpiprof/base/loader.h"
#include "libmpiprof/base/raw.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/host/processes.h"
#include "libmpiprof/process/rights.h"

// clone(2) itself: the name in libc is taken over by sanitizers, which take every clone for a fork. `top` is the end of
// the new thread's stack, where the function and its argument lie. Returns the thread's number, or -error.
extern "C" long mpiprof_clone(long flags, void* top, std::uint32_t* thread, std::uint32_t* clear_at_end);
#if defined(__x86_64__)
asm(R"(
    .text
    .local mpiprof_clone
    .type mpiprof_clone, @function
mpiprof_clone:
    .cfi_startproc
    movq %rcx, %r10
    xorl %r8d, %r8d
    movl $56, %eax
    syscall
    testq %rax, %rax
    jz 1f
    ret
1:  .cfi_undefined rip
    xorl %ebp, %ebp
    popq %rax
    popq %rdi
    call *%rax
    xorl %edi, %edi
    movl $60, %eax
    syscall
    hlt
    .cfi_endproc
    .size mpiprof_clone, .-mpiprof_clone
)");
#elif defined(__aarch64__)
asm(R"(
    .text
    .local mpiprof_clone
    .type mpiprof_clone, %function
mpiprof_clone:
    .cfi_startproc
    mov x4, x3
    mov x3, xzr
    mov x8, #220
    svc #0
    cbz x0, 1f
    ret
1:  .cfi_undefined x30
    mov x29, xzr
    ldp x1, x0, [sp], #16
    blr x1
    mov x0, xzr
    mov x8, #93
    svc #0
    brk #0
    .cfi_endproc
    .size mpiprof_clone, .-mpiprof_clone
)");
#else
long mpiprof_clone(long, void*, std::uint32_t*, std::uint32_t*) { return -ENOSYS; }
#endif

namespace mpiprof {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::size_t stack_bytes = 64 * 1024;
constexpr std::uint64_t patience_ns = second / 5;
constexpr std::uint64_t longest_pause_ns = 300 * second;  // however slow the disk: a profile that is hours old is none
constexpr std::size_t kernel_signal_bytes = 8;

// A thread that shares everything with the program but its stack. No CLONE_SETTLS: nothing it runs uses thread memory.
constexpr int like_a_thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                              CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

// libc's own functions, past those that others have put before them; found when they are needed, since before
// glibc 2.34 they live in a library that a program without threads does not have.
struct LibcsThreads {
    decltype(&pthread_create) create;
    decltype(&pthread_attr_init) init;
    decltype(&pthread_attr_destroy) destroy;
    decltype(&pthread_attr_setdetachstate) detach;
    decltype(&pthread_attr_setstacksize) set_stack;
    bool find_in(const char* library) {
        void* handle = loader().dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (!handle) return false;
        const auto in = [&](const char* name) { return loader().dlsym(handle, name); };
        create = reinterpret_cast<decltype(create)>(in("pthread_create"));
        init = reinterpret_cast<decltype(init)>(in("pthread_attr_init"));
        destroy = reinterpret_cast<decltype(destroy)>(in("pthread_attr_destroy"));
        detach = reinterpret_cast<decltype(detach)>(in("pthread_attr_setdetachstate"));
        set_stack = reinterpret_cast<decltype(set_stack)>(in("pthread_attr_setstacksize"));
        loader().dlclose(handle);
        return create && init && destroy && detach && set_stack;
    }
    bool find() { return loader().dlsym && loader().dlopen && (find_in("libc.so.6") || find_in("libpthread.so.0")); }
};
// Its thread memory lies in the stack, too, and some programs have much of it.
constexpr std::size_t least_libc_stack = 2 * stack_bytes, most_libc_stack = std::size_t{8} << 20;
constexpr std::uint64_t libcs_signals = 3ull << 31;  // 32 and 33: cancellation, and setuid() in all threads
constexpr std::uint64_t look_around_ns = second / 2;

long wait_on(std::uint32_t& word, std::uint32_t value, std::uint64_t ns) {
    const timespec t{static_cast<time_t>(ns / second), static_cast<long>(ns % second)};
    return raw(SYS_futex, raw_address(&word), FUTEX_WAIT, static_cast<long>(value), raw_address(&t));
}

}  // namespace

bool Pace::slept(std::uint64_t wanted_ns, std::uint64_t slept_ns) {
    short_sleeps_ = slept_ns < wanted_ns / 2 ? short_sleeps_ + 1 : 0;
    return short_sleeps_ < short_sleeps_allowed;
}

std::uint64_t Pace::pause_after(std::uint64_t worked_ns) {
    // One write that stalls says little of the next one: the shorter of the last two counts.
    const std::uint64_t usual = worked_ns < before_ns_ ? worked_ns : before_ns_;
    before_ns_ = worked_ns;
    const std::uint64_t times = least_ns_ < period_ns_ ? 10 : 1000;
    std::uint64_t pause = usual > longest_pause_ns / times ? longest_pause_ns : usual * times;
    if (pause < least_ns_) pause = least_ns_;
    least_ns_ = pause < period_ns_ / 2 ? 2 * pause : period_ns_;
    if (pause > longest_ns_) longest_ns_ = pause;
    return pause;
}

bool has_threads() { return status_number("Threads:\t", 1) > 1; }

std::uint64_t Helper::sleep(std::uint64_t ns) {
    const std::uint64_t began = nanoseconds(CLOCK_MONOTONIC);
    if (kind_ != Kind::libcs) {
        wait_on(stop_, 0, ns);
        return nanoseconds(CLOCK_MONOTONIC) - began;
    }
    // libc ends a process whose main thread has left by pthread_exit() with its last thread: that must not be this one.
    for (std::uint64_t slept = 0; slept < ns && !is_told() && !is_alone(); slept = nanoseconds(CLOCK_MONOTONIC) - began)
        if (wait_on(stop_, 0, ns - slept < look_around_ns ? ns - slept : look_around_ns) == -EINVAL) break;
    return nanoseconds(CLOCK_MONOTONIC) - began;
}

bool Helper::is_alone() const {
    char program[2];  // of a process whose main thread has left there is none, and asking takes no descriptor
    if (kind_ != Kind::libcs || link_text("/proc/self/exe", program, sizeof program) != 0) return false;
    if (own_stat().state != 'Z') return false;
    bool is_any = false;
    each_entry("/proc/self/task", [&](const char* number) {
        std::uint32_t thread = 0;
        read_number(number, thread);
        char path[64] = "/proc/self/task/";
        append(path, number);
        append(path, "/stat");
        is_any |= thread != this->thread() && stat_at(path).state != 'Z';
    });
    return !is_any;
}

void Helper::work_until_told() {
    std::uint64_t pause = first_ns_;
    for (;;) {
        const std::uint64_t slept = pause == 0 ? 0 : sleep(pause);
        if (is_told() || is_alone() || !pace_.slept(pause, slept)) return;
        const std::uint64_t began = nanoseconds(CLOCK_MONOTONIC);
        const std::uint64_t most = work_(context_, pace_.period_ns());
        pause = pace_.pause_after(nanoseconds(CLOCK_MONOTONIC) - began);
        if (pause > most) pause = most;
    }
}

void Helper::run(Helper* self) {
    use_plain_arithmetic();  // a new thread has the traps of whoever made it
    // Of what the program may do it needs nothing; and the program may give up any of it, each thread for itself.
    if (self->kind_ != Kind::once) keep_capabilities(self->kind_ == Kind::bare ? 0 : rights_to_change);
    raw(SYS_prctl, PR_SET_NAME, raw_address("mpiprof"));
    const int lowest = 0;  // SCHED_BATCH: waking up never takes the processor from whoever computes; and never a
                           // program's realtime class
    raw(SYS_sched_setscheduler, 0, SCHED_BATCH, raw_address(&lowest));
    if (self->kind_ == Kind::once) {  // whoever waits for it opens nothing meanwhile
        self->work_(self->context_, 0);
        return;
    }
    open_with_care();
    self->work_until_told();
}

void* Helper::run_of_libc(void* argument) {
    auto* self = static_cast<Helper*>(argument);
    __atomic_store_n(&self->thread_, static_cast<std::uint32_t>(raw(SYS_gettid)), __ATOMIC_RELEASE);
    run(self);
    __atomic_store_n(&self->thread_, 0, __ATOMIC_RELEASE);
    raw(SYS_futex, raw_address(&self->thread_), FUTEX_WAKE, 1);
    return nullptr;
}

bool Helper::make_bare() {
    if (!stack_) stack_ = private_pages(stack_bytes);
    if (!stack_) return false;
    (void)raw(SYS_madvise, raw_address(stack_), static_cast<long>(stack_bytes), MADV_DONTFORK);
    void** top = reinterpret_cast<void**>(static_cast<char*>(stack_) + stack_bytes) - 2;
    top[0] = reinterpret_cast<void*>(&Helper::run);
    top[1] = this;
    return mpiprof_clone(like_a_thread, top, &thread_, &thread_) > 0;
}

bool Helper::make_of_libc() {
    LibcsThreads libc{};
    pthread_attr_t attributes;
    if (!libc.find() || libc.init(&attributes) != 0) return false;
    libc.detach(&attributes, PTHREAD_CREATE_DETACHED);
    thread_ = not_yet_known;
    int error = EINVAL;
    for (std::size_t stack = least_libc_stack; error == EINVAL && stack <= most_libc_stack; stack *= 2) {
        pthread_t thread;
        libc.set_stack(&attributes, stack);
        error = libc.create(&thread, &attributes, run_of_libc, this);
    }
    libc.destroy(&attributes);
    return error == 0;
}

bool Helper::start(Work work, void* context, std::uint64_t period_ns, std::uint64_t first_ns,
                   std::uint64_t growing_from_ns, Kind kind) {
    if (!has_raw_calls || is_running()) return false;
    kind_ = kind;
    work_ = work;
    context_ = context;
    pace_ = Pace(period_ns, growing_from_ns);
    first_ns_ = first_ns;
    stop_ = 0;
    const std::uint64_t all = kind == Kind::libcs ? ~libcs_signals : ~std::uint64_t{0};
    std::uint64_t before = 0;
    if (raw(SYS_rt_sigprocmask, SIG_BLOCK, raw_address(&all), raw_address(&before), kernel_signal_bytes) != 0)
        return false;
    const bool made = kind == Kind::libcs ? make_of_libc() : make_bare();
    raw(SYS_rt_sigprocmask, SIG_SETMASK, raw_address(&before), 0, kernel_signal_bytes);
    if (!made) thread_ = 0;
    return made;
}

void Helper::stop() {
    __atomic_store_n(&stop_, 1, __ATOMIC_RELEASE);
    raw(SYS_futex, raw_address(&stop_), FUTEX_WAKE, 1);
    ends_within(patience_ns);
}

bool Helper::ends_within(std::uint64_t ns) {
    const std::uint64_t until = nanoseconds(CLOCK_MONOTONIC) + ns;
    for (;;) {
        const std::uint32_t thread = state();
        const std::uint64_t now = nanoseconds(CLOCK_MONOTONIC);
        if (thread == 0) return true;
        if (now >= until) return false;
        wait_on(thread_, thread, until - now);
    }
}

bool Helper::do_once(Work work, void* context, std::uint64_t patience_ns) {
    if (is_running()) return false;
    if (start(work, context, second, 0, 0, Kind::once)) return ends_within(patience_ns);
    work(context, 0);
    return true;
}

}  // namespace mpiprof
