// The stack as our own unwinder follows it: the callers that glibc's backtrace() finds, and an end, not a crash, where
// a stack ends early or its description is wrong.
#include "libmpiprof/record/own_unwinder.h"

#include <errno.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <thread>
#include <vector>

namespace mpiprof::test {
namespace {

#if defined(__x86_64__)

std::vector<Word> followed;
int reason;
bool is_in_handler;  // what was interrupted has no return address

[[gnu::noinline]] void follow() {
    followed.clear();
    reason = own_unwinder.backtrace(
        [](void* context, void*) {
            const auto address = static_cast<Word>(own_unwinder.ip(context));
            const auto* place = reinterpret_cast<const Word*>(own_unwinder.cfa(context)) - 1;
            EXPECT_TRUE(is_in_handler || *place == address) << "where it lies";
            followed.push_back(address);
            return followed.size() < 100 ? 0 : 5;
        },
        nullptr);
    asm volatile("" ::: "memory");
}

// The callers of the function that it is called in.
[[gnu::noinline]] std::vector<Word> callers_by_glibc() {
    void* addresses[100];
    const int n = backtrace(addresses, 100);
    std::vector<Word> found;
    for (int i = 2; i < n; ++i) found.push_back(reinterpret_cast<Word>(addresses[i]));
    return found;
}

[[gnu::noinline]] void compare() {
    const std::vector<Word> expected = callers_by_glibc();
    follow();
    ASSERT_GE(followed.size(), 2u);
    // The first two are the unwinder's return to follow(), and that one's to here.
    EXPECT_EQ(std::vector<Word>(followed.begin() + 2, followed.end()), expected);
}

[[gnu::noinline]] void deeper(int n) {
    if (n == 0)
        compare();
    else
        deeper(n - 1);
    asm volatile("" ::: "memory");
}

// Large registers' worth of alignment, and a size that is not known: the frame is found through a word in the stack.
[[gnu::noinline]] void aligned(int n) {
    alignas(64) volatile char fixed[64];
    auto* sized = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(n)));
    fixed[0] = 1;
    sized[0] = 1;
    compare();
    asm volatile("" ::"r"(fixed), "r"(sized) : "memory");
}

TEST(own_unwinder, finds_the_callers_that_glibc_finds) {
    deeper(0);
    deeper(20);
    for (const int n : {1, 100, 5000}) aligned(n);
}

TEST(own_unwinder, finds_them_through_a_library_that_calls_back) {
    int numbers[] = {2, 1};
    qsort(numbers, 2, sizeof *numbers, [](const void*, const void*) {
        compare();
        return 0;
    });
}

// As the ledger asks: from the frame of a call, below frames of ours, whose way is remembered.
[[gnu::noinline]] void follow_call() {
    const std::vector<Word> expected = callers_by_glibc();
    const auto* frame = static_cast<const Word*>(__builtin_frame_address(0)) + 1;
    const auto return_address = reinterpret_cast<Word>(__builtin_return_address(0));
    const CallStack stack = unwind(&own_unwinder, frame, return_address, CallStack::deepest);
    EXPECT_EQ(std::vector<Word>(stack.address, stack.address + stack.depth), expected);
    EXPECT_EQ(stack.place[0], frame);
    for (unsigned i = 0; i < stack.depth; ++i) EXPECT_EQ(*stack.place[i], stack.address[i]) << "where it lies";
    EXPECT_NE(stack.moment.adds, 0u);
}

[[gnu::noinline]] void call_deeper(int n) {
    if (n == 0)
        follow_call();
    else
        call_deeper(n - 1);
    asm volatile("" ::: "memory");
}

TEST(own_unwinder, finds_the_callers_of_a_call_each_time) {
    for (const int n : {0, 0, 5, 0, 5}) call_deeper(n);
    follow_call();
    for (int i = 0; i < 2; ++i) follow_call();
}

// Ways that part and meet again, in frames of several kinds: whatever is remembered of the walks before, each finds its
// own callers.
unsigned way;
void call_on_the_way();

template <int N>
[[gnu::noinline]] void by_plain_frame() {
    volatile char room[N * 24];
    room[0] = N;
    call_on_the_way();
    asm volatile("" ::"r"(room), "i"(N) : "memory");
}
// With %rbp as the frame's, and at a distance that differs.
template <int N>
[[gnu::noinline]] void by_sized_frame() {
    auto* room = static_cast<volatile char*>(__builtin_alloca((way >> 8) % 5 * 40 + 8));
    room[0] = N;
    call_on_the_way();
    asm volatile("" ::"r"(room), "i"(N) : "memory");
}
// With registers of the caller's saved.
template <int N>
[[gnu::noinline]] void by_frame_that_saves_registers() {
    asm volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
    call_on_the_way();
    asm volatile("" ::"i"(N) : "memory", "rbx");
}
[[gnu::noinline]] void call_on_the_way() {
    static constexpr void (*frames[])() = {by_plain_frame<1>,
                                           by_plain_frame<2>,
                                           by_sized_frame<3>,
                                           by_sized_frame<4>,
                                           by_frame_that_saves_registers<5>,
                                           by_frame_that_saves_registers<6>};
    const unsigned next = way % 7;
    way /= 7;
    if (next == 6 || way == 0)
        follow_call();
    else
        frames[next]();
    asm volatile("" ::: "memory");
}

void go_many_ways() {
    unsigned random = 1;
    for (int i = 0; i < 3000 && !testing::Test::HasFailure(); ++i) {
        random = random * 1664525u + 1013904223u;
        way = i % 3 == 0 ? random >> 4 : random >> 22;
        call_on_the_way();
    }
}
TEST(own_unwinder, finds_each_walks_callers_whatever_those_before_found) { go_many_ways(); }
TEST(own_unwinder, finds_them_on_the_stack_of_another_thread) { std::thread(go_many_ways).join(); }

// By its description the frame is behind %rbp, which it uses for something else.
asm(R"(
    .text
    .type call_with_wrong_rules, @function
call_with_wrong_rules:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa %rbp, 16
    .cfi_offset %rbp, -16
    movq %rsi, %rbp
    call *%rdi
    popq %rbp
    ret
    .cfi_endproc
    .size call_with_wrong_rules, . - call_with_wrong_rules
)");
extern "C" void call_with_wrong_rules(void (*function)(), std::uintptr_t rbp);

TEST(own_unwinder, ends_where_the_description_is_wrong) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    for (const std::uintptr_t rbp : {std::uintptr_t{0}, std::uintptr_t{16}, ~std::uintptr_t{0}, here - (64 << 10), here,
                                     here + 1, here + (4 << 20), std::uintptr_t{1} << 62}) {
        call_with_wrong_rules(follow, rbp);
        EXPECT_GE(followed.size(), 1u) << "the call itself";
        EXPECT_LE(followed.size(), 100u);
    }
}

// A stack whose neighbours nobody may read.
struct Fenced {
    static constexpr std::size_t size = 256 << 10, fence = 64 << 10;
    char* all = static_cast<char*>(mmap(nullptr, size + 2 * fence, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char* stack = all + fence;
    Fenced() { EXPECT_EQ(mprotect(stack, size, PROT_READ | PROT_WRITE), 0); }
    ~Fenced() { munmap(all, size + 2 * fence); }
};
ucontext_t outside;

void fiber() {
    deeper(3);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    for (const std::uintptr_t above : {Fenced::fence / 2, Fenced::size}) call_with_wrong_rules(follow, here + above);
}

TEST(own_unwinder, ends_at_the_end_of_a_fibers_stack) {
    const Fenced fenced;
    ucontext_t inside;
    getcontext(&inside);
    inside.uc_stack.ss_sp = fenced.stack;
    inside.uc_stack.ss_size = Fenced::size;
    inside.uc_link = &outside;
    makecontext(&inside, fiber, 0);
    ASSERT_EQ(swapcontext(&outside, &inside), 0);
    EXPECT_GE(followed.size(), 1u);
}

unsigned frames_of_call;
[[gnu::noinline]] unsigned follow_a_call() {
    const auto* frame = static_cast<const Word*>(__builtin_frame_address(0)) + 1;
    return unwind(&own_unwinder, frame, reinterpret_cast<Word>(__builtin_return_address(0)), CallStack::deepest).depth;
}

TEST(own_unwinder, goes_on_from_an_alternate_signal_stack_to_what_was_interrupted) {
    const Fenced fenced;
    stack_t alternate{}, before{};
    alternate.ss_sp = fenced.stack;
    alternate.ss_size = Fenced::size;
    ASSERT_EQ(sigaltstack(&alternate, &before), 0);
    struct sigaction action {
    }, old{};
    action.sa_handler = [](int) {
        follow();
        frames_of_call = follow_a_call();
    };
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, &old);
    is_in_handler = true;
    raise(SIGUSR1);
    is_in_handler = false;
    sigaction(SIGUSR1, &old, nullptr);
    sigaltstack(&before, nullptr);
    EXPECT_GE(followed.size(), 8u) << "the test's own callers";
    EXPECT_EQ(reason, Unwinder::end_of_stack);
    EXPECT_LE(frames_of_call, 3u) << "a call's callers are those on its stack: the handler and what called it";
}

TEST(own_unwinder, finds_what_a_signal_interrupted) {
    struct sigaction action {
    }, old{};
    action.sa_handler = [](int) { compare(); };
    sigaction(SIGUSR1, &action, &old);
    is_in_handler = true;
    raise(SIGUSR1);
    is_in_handler = false;
    sigaction(SIGUSR1, &old, nullptr);
    EXPECT_EQ(reason, Unwinder::end_of_stack);
    EXPECT_GE(followed.size(), 8u) << "the test's own callers";
}

// As in a container that forbids to read other processes.
void forbid_to_read_processes() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

// On a stack with a fence: a word in the fence is asked for, which is mapped and may not be read.
void follow_into_the_fence() {
    const Fenced fenced;
    forbid_to_read_processes();
    deeper(3);
    ucontext_t inside;
    getcontext(&inside);
    inside.uc_stack.ss_sp = fenced.stack;
    inside.uc_stack.ss_size = Fenced::size;
    inside.uc_link = &outside;
    makecontext(&inside, fiber, 0);
    swapcontext(&outside, &inside);
    _exit(followed.empty() || testing::Test::HasFailure() ? 1 : 0);
}

TEST(own_unwinder, follows_and_ends_where_the_kernel_may_not_be_asked) {
    EXPECT_EXIT(follow_into_the_fence(), testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace mpiprof::test
