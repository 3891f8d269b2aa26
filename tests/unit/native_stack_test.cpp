// The bounds of a thread's own stack: known for the first thread and for libc's, whoever made their stacks; of no other
// stack is anything known.
#include "libmpiprof/record/native_stack.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <thread>
#include <vector>

namespace mpiprof::test {
namespace {

#if defined(__x86_64__) && defined(__GLIBC__)

// How far the stack that this is called on goes on, as libc says.
std::size_t words_by_libc(const Word* here) {
    pthread_attr_t attributes;
    void* begin;
    std::size_t bytes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    return static_cast<std::size_t>(static_cast<Word*>(begin) + bytes / sizeof(Word) - here);
}

[[gnu::noinline]] void compare() {
    const NativeStack stack = NativeStack::of_this_thread();
    const Word here = 0;
    const std::size_t known = stack.words_above(&here), by_libc = words_by_libc(&here);
    EXPECT_TRUE(stack.holds(&here));
    EXPECT_GE(known + 8192, by_libc) << "less what libc has at its top";
    if (raw(SYS_gettid) == getpid()) {
        const Word last =
            *const_cast<const volatile Word*>(&here + known - 1);  // arguments and environment are its own
        EXPECT_EQ(last, last);
    } else {
        EXPECT_LE(known, by_libc);
    }
}

[[gnu::noinline]] void deeper(int n) {
    volatile char room[1000];
    room[0] = 1;
    if (n == 0)
        compare();
    else
        deeper(n - 1);
    asm volatile("" ::"r"(room) : "memory");
}

TEST(native_stack, the_first_one_is_known_however_deep) {
    for (const int n : {0, 10, 1000, 10}) deeper(n);
}

void* compare_in_thread(void*) {
    deeper(3);
    return nullptr;
}

TEST(native_stack, those_of_threads_are_known) {
    std::thread([] { deeper(100); }).join();
    for (const std::size_t bytes : {32 << 10, 64 << 10, 1 << 20, 64 << 20}) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, bytes);
        ASSERT_EQ(pthread_create(&thread, &attributes, compare_in_thread, nullptr), 0);
        pthread_join(thread, nullptr);
    }
}

char* mapped(std::size_t bytes) {
    return static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void* ask_below(void* below) {
    compare();
    const NativeStack stack = NativeStack::of_this_thread();
    EXPECT_FALSE(stack.holds(static_cast<Word*>(below))) << "which another stack may be";
    return nullptr;
}

TEST(native_stack, one_that_the_program_made_ends_where_the_program_says) {
    constexpr std::size_t bytes = 128 << 10;
    char* pool = mapped(3 * bytes);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstack(&attributes, pool + bytes, bytes), 0);
    ASSERT_EQ(pthread_create(&thread, &attributes, ask_below, pool + bytes - 64), 0);
    pthread_join(thread, nullptr);
    ASSERT_EQ(pthread_create(&thread, &attributes, ask_below, pool + 2 * bytes), 0);
    pthread_join(thread, nullptr);
    munmap(pool, 3 * bytes);
}

// What a fiber, or a handler on a stack of its own, finds of where it is.
bool is_held;
[[gnu::noinline]] void ask() {
    const Word here = 0;
    is_held = NativeStack::of_this_thread().holds(&here);
}
ucontext_t outside;
void ask_in_fiber(char* stack, std::size_t bytes) {
    ucontext_t fiber;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = bytes;
    fiber.uc_link = &outside;
    makecontext(&fiber, ask, 0);
    ASSERT_EQ(swapcontext(&outside, &fiber), 0);
}

void ask_in_fibers() {
    constexpr std::size_t bytes = 64 << 10;
    std::vector<char> heap(bytes);
    char* own = mapped(bytes);
    for (char* stack : {heap.data(), own}) {
        is_held = true;
        ask_in_fiber(stack, bytes);
        EXPECT_FALSE(is_held);
    }
    alignas(64) char piece[bytes];
    is_held = false;
    ask_in_fiber(piece, bytes);
    EXPECT_TRUE(is_held) << "a piece of the thread's own stack stays as long as that does";
    munmap(own, bytes);
}

TEST(native_stack, a_fibers_is_none) {
    ask_in_fibers();
    std::thread(ask_in_fibers).join();
}

TEST(native_stack, a_signal_handlers_own_is_none) {
    constexpr std::size_t bytes = 64 << 10;
    stack_t alternate{}, before{};
    alternate.ss_sp = mapped(bytes);
    alternate.ss_size = bytes;
    ASSERT_EQ(sigaltstack(&alternate, &before), 0);
    struct sigaction action {
    }, old{};
    action.sa_handler = [](int) { ask(); };
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, &old);
    is_held = true;
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, nullptr);
    sigaltstack(&before, nullptr);
    EXPECT_FALSE(is_held);
    munmap(alternate.ss_sp, bytes);
}

// A thread that libc knows nothing of: its %fs is its maker's, and so is what libc keeps.
TEST(native_stack, that_of_a_thread_without_libc_is_none) {
    constexpr std::size_t bytes = 64 << 10;
    static std::atomic<int> is_done;
    char* stack = mapped(bytes);
    is_held = true;
    is_done = 0;
    const auto begin = [](void*) {
        ask();
        is_done = 1;
        raw(SYS_exit, 0);
        return 0;
    };
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    ASSERT_NE(clone(begin, stack + bytes, flags, nullptr), -1);
    while (is_done == 0) sched_yield();
    EXPECT_FALSE(is_held);
}

TEST(native_stack, a_word_is_read_from_any_stack_or_from_none) {
    constexpr std::size_t bytes = 64 << 10;
    const NativeStack stack = NativeStack::of_this_thread();
    const Word here = 7;
    Word word = 0;
    char* other = mapped(bytes);
    reinterpret_cast<Word*>(other)[100] = 8;
    EXPECT_TRUE(stack.read(&here, nullptr, word));
    EXPECT_EQ(word, 7);
    EXPECT_TRUE(stack.read(reinterpret_cast<Word*>(other) + 100, &here, word));
    EXPECT_EQ(word, 8);
    munmap(other, bytes);
    EXPECT_FALSE(stack.read(reinterpret_cast<Word*>(other) + 100, &here, word));
}

#endif

}  // namespace
}  // namespace mpiprof::test
