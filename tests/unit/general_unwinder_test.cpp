// The stack beyond a frame that our own unwinder cannot pass, as libunwind follows it: the callers that glibc's
// backtrace() finds; and where it must not be opened or asked.
#include "libmpiprof/record/general_unwinder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>
#include <thread>
#include <vector>

#include "libmpiprof/record/own_unwinder.h"

#if defined(__x86_64__)

// Frames by another register, and by an expression.
asm(R"(
    .text
    .type call_by_rbx, @function
call_by_rbx:
    .cfi_startproc
    pushq %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    movq %rsp, %rbx
    .cfi_def_cfa_register %rbx
    subq $32, %rsp
    call *%rdi
    movq %rbx, %rsp
    popq %rbx
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size call_by_rbx, . - call_by_rbx

    .type call_by_expression, @function
call_by_expression:
    .cfi_startproc
    subq $40, %rsp
    .cfi_escape 0x0f, 0x04, 0x77, 0x10, 0x23, 0x20
    call *%rdi
    addq $40, %rsp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size call_by_expression, . - call_by_expression

    .type call_undescribed, @function
call_undescribed:
    subq $8, %rsp
    call *%rdi
    addq $8, %rsp
    ret
    .size call_undescribed, . - call_undescribed
)");
using Call = void (*)(void (*)());
extern "C" void call_by_rbx(void (*)());
extern "C" void call_by_expression(void (*)());
extern "C" void call_undescribed(void (*)());
extern "C" void __register_frame(void*);

namespace mpiprof::test {
namespace {

CallStack followed;
bool is_longer;
std::vector<Word> expected;

[[gnu::noinline]] void follow() {
    void* addresses[CallStack::deepest + 2];
    const int n = backtrace(addresses, CallStack::deepest + 2);
    expected.clear();
    for (int i = 1; i < n && expected.size() < CallStack::deepest; ++i)
        expected.push_back(reinterpret_cast<Word>(addresses[i]));
    const auto* frame = static_cast<const Word*>(__builtin_frame_address(0)) + 1;
    followed = unwind(&own_unwinder, frame, reinterpret_cast<Word>(__builtin_return_address(0)), CallStack::deepest);
    is_longer = followed.is_cut && follow_by_libunwind(followed, CallStack::deepest, NativeStack::of_this_thread());
    for (unsigned i = 0; i < followed.depth; ++i) {
        ASSERT_NE(followed.place[i], nullptr);
        EXPECT_EQ(*followed.place[i], followed.address[i]) << "where it lies";
    }
}

std::vector<Word> found() { return {followed.address, followed.address + followed.depth}; }

// A page of code that calls what it is given, with its description as a compiler at run time registers it.
class Generated {
  public:
    Generated() {
        constexpr unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
        page_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memcpy(page_, code, sizeof code);
    }
    void describe() {
        unsigned char* at = static_cast<unsigned char*>(page_) + 1024;
        constexpr unsigned char shared[] = {20, 0,    0,  0, 0, 0,    0, 0, 1,    'z', 'R', 0,
                                            1,  0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1,   0,   0};
        memcpy(at, shared, sizeof shared);
        unsigned char* own = at + sizeof shared;
        const std::uint32_t length = 28, back = sizeof shared + 4;
        const std::uint64_t begin = reinterpret_cast<std::uint64_t>(page_), bytes = 11;
        constexpr unsigned char program[] = {0, 0x44, 0x0e, 16, 0x46, 0x0e, 8, 0};
        memcpy(own, &length, 4);
        memcpy(own + 4, &back, 4);
        memcpy(own + 8, &begin, 8);
        memcpy(own + 16, &bytes, 8);
        memcpy(own + 24, program, sizeof program);
        __register_frame(at);
    }
    Call call() const { return reinterpret_cast<Call>(page_); }

  private:
    void* page_;
};

class general_unwinder : public testing::Test {
  protected:
    void SetUp() override {
        void* library = dlopen("libunwind-x86_64.so.8", RTLD_NOW | RTLD_LOCAL);
        if (!library) GTEST_SKIP() << "libunwind is not installed";
        dlclose(library);
    }
};

void expect_all_callers(Call call) {
    call(follow);
    EXPECT_TRUE(followed.is_cut);
    EXPECT_TRUE(is_longer);
    ASSERT_GE(expected.size(), 5u);
    EXPECT_EQ(found(), expected);
}

TEST_F(general_unwinder, follows_a_frame_by_another_register) { expect_all_callers(call_by_rbx); }
TEST_F(general_unwinder, follows_a_frame_by_an_expression) { expect_all_callers(call_by_expression); }
TEST_F(general_unwinder, follows_them_on_the_stack_of_a_thread) {
    std::thread([] {
        expect_all_callers(call_by_rbx);
        expect_all_callers(call_by_expression);
    }).join();
}

TEST_F(general_unwinder, follows_code_that_was_registered_at_run_time) {
    static Generated generated;
    generated.describe();
    expect_all_callers(generated.call());
}

// Nothing is guessed.
TEST_F(general_unwinder, ends_where_nothing_is_known_of_the_code) {
    const Generated generated;
    for (const Call call : {static_cast<Call>(call_undescribed), generated.call()}) {
        call(follow);
        EXPECT_TRUE(followed.is_cut);
        EXPECT_FALSE(is_longer);
        EXPECT_EQ(followed.depth, 1u);
    }
}

// In processes of their own: what they change, lasts.
void ask_in_vain() {
    for (int i = 0; i < 64; ++i) call_undescribed(follow);
    call_by_rbx(follow);
    _exit(followed.is_cut && !is_longer ? 0 : 1);
}
void ask_below_a_handler() {
    struct sigaction action {};
    action.sa_handler = [](int) { call_by_rbx(follow); };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    const bool was_longer = is_longer, was_opened = dlopen("libunwind-x86_64.so.8", RTLD_NOW | RTLD_NOLOAD);
    call_by_rbx(follow);
    _exit(!was_longer && !was_opened && is_longer ? 0 : 1);
}
// libgcc may be at the registered code that it would be asked for.
const Generated* in_handler;
void ask_for_generated_code_below_a_handler() {
    static Generated generated;
    generated.describe();
    in_handler = &generated;
    call_by_rbx(follow);  // opens it
    const bool is_open = is_longer;
    struct sigaction action {};
    action.sa_handler = [](int) { in_handler->call()(follow); };
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
    const bool was_longer = is_longer;
    generated.call()(follow);
    _exit(is_open && !was_longer && is_longer ? 0 : 1);
}
TEST_F(general_unwinder, asks_libgcc_for_nothing_below_a_signal_handler) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(ask_for_generated_code_below_a_handler(), testing::ExitedWithCode(0), "");
}
TEST_F(general_unwinder, is_asked_no_more_where_it_never_helps) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(ask_in_vain(), testing::ExitedWithCode(0), "");
}
// As sigaction() leaves it on the stack.
TEST_F(general_unwinder, is_opened_where_the_stack_holds_a_stale_way_back) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    struct {
        unsigned long handler, flags, restorer, mask;
    } kernels{};
    ASSERT_EQ(syscall(SYS_rt_sigaction, SIGUSR1, nullptr, &kernels, 8), 0);
    volatile unsigned long left[64]{};
    left[3] = kernels.restorer;
    ASSERT_NE(left[3], 0u);
    expect_all_callers(call_by_rbx);
}
TEST_F(general_unwinder, is_not_opened_below_a_signal_handler) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(ask_below_a_handler(), testing::ExitedWithCode(0), "");
}

ucontext_t outside;
TEST_F(general_unwinder, is_not_asked_on_a_fibers_stack) {
    static char stack[256 << 10];
    ucontext_t inside;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(
        &inside, [] { call_by_rbx(follow); }, 0);
    ASSERT_EQ(swapcontext(&outside, &inside), 0);
    EXPECT_TRUE(followed.is_cut);
    EXPECT_FALSE(is_longer);
}

TEST_F(general_unwinder, is_not_asked_where_little_of_the_stack_is_left) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 40 << 10);
    pthread_t thread;
    const auto run = [](void*) -> void* {
        call_by_rbx(follow);
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, nullptr), 0);
    pthread_join(thread, nullptr);
    EXPECT_FALSE(is_longer);
}

std::size_t descriptors() {
    std::size_t n = 0;
    DIR* directory = opendir("/proc/self/fd");
    while (readdir(directory)) ++n;
    closedir(directory);
    return n;
}

TEST_F(general_unwinder, leaves_descriptors_and_signals_as_they_are) {
    sigset_t blocked, after;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
    const std::size_t before = descriptors();
    expect_all_callers(call_by_rbx);
    EXPECT_EQ(descriptors(), before);
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    EXPECT_EQ(sigismember(&after, SIGUSR2), 1);
    EXPECT_EQ(sigismember(&after, SIGUSR1), 0);
}

// Of the same libunwind, whose caches and spaces are its own.
TEST_F(general_unwinder, leaves_a_program_alone_that_uses_libunwind_itself) {
    void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr);
    const auto unw_backtrace = reinterpret_cast<int (*)(void**, int)>(dlsym(library, "unw_backtrace"));
    ASSERT_NE(unw_backtrace, nullptr);
    std::atomic<bool> is_over = false;
    std::atomic<int> shortest = 100;
    std::thread other([&] {
        do {
            void* addresses[100];
            const int n = unw_backtrace(addresses, 100);
            if (n < shortest) shortest = n;
        } while (!is_over);
    });
    for (int i = 0; i < 300; ++i) expect_all_callers(i % 2 ? call_by_rbx : call_by_expression);
    is_over = true;
    other.join();
    EXPECT_GE(shortest, 3);
}

}  // namespace
}  // namespace mpiprof::test

#endif
