// Stacks that are given back while the thread goes on: the same call at the same address, whose callers lay further up
// when it was met first, finds nothing there any more. What is read above it would end the program.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/unit/wrapped.h"

namespace mpiprof::test {
namespace {

constexpr std::size_t page = 4096, large_stack = 512 << 10, large_work = 200 << 10, small_work = 28000;

// A piece of memory at an address, as stacks are made of it.
char* mapped_at(void* place, std::size_t bytes) {
    const int fixed = place ? MAP_FIXED_NOREPLACE : 0;
    void* p = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
}

std::uintptr_t frame;  // of the last call's caller
std::uint64_t made;

[[gnu::noinline]] void call() {
    frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    FAKE_Send(0, 2, 4, 1);
    ++made;
    asm volatile("" ::: "memory");
}

// One kernel for tasks of all sizes, with its work array on the stack.
[[gnu::noinline]] void kernel(std::size_t work) {
    auto* room = static_cast<volatile char*>(__builtin_alloca(work));
    room[0] = 1;
    room[work - 1] = 1;
    for (int i = 0; i < 5; ++i) call();
    room[0] = 2;
}

std::size_t task;
[[gnu::noinline]] void enter() {
    kernel(task);
    asm volatile("" ::: "memory");
}

ucontext_t outside;
void run_in_fiber(char* stack, std::size_t bytes, std::size_t work) {
    ucontext_t fiber;
    task = work;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = bytes;
    fiber.uc_link = &outside;
    makecontext(&fiber, enter, 0);
    ASSERT_EQ(swapcontext(&outside, &fiber), 0);
}

void run_in_thread(char* stack, std::size_t bytes, std::size_t work) {
    pthread_attr_t attributes;
    pthread_t thread;
    task = work;
    pthread_attr_init(&attributes);
    pthread_attr_setguardsize(&attributes, 0);
    ASSERT_EQ(pthread_attr_setstack(&attributes, stack, bytes), 0);
    const auto begin = [](void*) -> void* {
        enter();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, begin, nullptr), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

// So much of a stack is left that a frame which lay there just fits.
std::size_t up_to(const char* stack, std::uintptr_t address) {
    return (address - reinterpret_cast<std::uintptr_t>(stack) + 2 * page - 1) / page * page;
}

// Small tasks of many sizes, until one of them has its frame there.
template <class Run>
bool comes_to(std::uintptr_t wanted, Run run) {
    for (std::size_t work = 16; work < small_work; work += 16) {
        run(work);
        if (frame == wanted) return true;
    }
    return false;
}

struct given_stacks : wrap {
    Since sends{FakeId::send};
    std::uint64_t before = made;
    ~given_stacks() override { EXPECT_EQ(sends.calls(), made - before) << "each is counted"; }
};

TEST_F(given_stacks, of_fibers_are_unmapped_and_a_smaller_one_comes) {
    void* const low = reinterpret_cast<void*>(std::uintptr_t{1} << 33);  // where nothing comes to by itself
    char* large = mapped_at(low, large_stack);
    ASSERT_NE(large, nullptr);
    run_in_fiber(large, large_stack, large_work);
    const std::uintptr_t there = frame;
    munmap(large, large_stack);
    const std::size_t bytes = up_to(large, there);
    char* small = mapped_at(large, bytes);
    ASSERT_EQ(small, large);

    EXPECT_TRUE(comes_to(there, [&](std::size_t work) { run_in_fiber(small, bytes, work); }));

    munmap(small, bytes);
}

TEST_F(given_stacks, of_fibers_are_cut_short_and_used_again) {
    char* stack = mapped_at(nullptr, large_stack);
    run_in_fiber(stack, large_stack, large_work);
    const std::uintptr_t there = frame;
    const std::size_t bytes = up_to(stack, there);
    ASSERT_EQ(mprotect(stack + bytes, large_stack - bytes, PROT_NONE), 0);

    EXPECT_TRUE(comes_to(there, [&](std::size_t work) { run_in_fiber(stack, bytes, work); }));

    munmap(stack, large_stack);
}

// Addresses that differ in their upper halves alone.
TEST_F(given_stacks, of_fibers_lie_four_gib_from_each_other) {
    constexpr std::uintptr_t distance = std::uintptr_t{4} << 30;
    char* large = mapped_at(nullptr, large_stack);
    run_in_fiber(large, large_stack, large_work);
    const std::uintptr_t there = frame;
    const std::size_t bytes = up_to(large, there);
    char* small = mapped_at(large - distance, bytes);
    ASSERT_EQ(small, large - distance);

    EXPECT_TRUE(comes_to(there - distance, [&](std::size_t work) { run_in_fiber(small, bytes, work); }));

    munmap(large, large_stack);
    munmap(small, bytes);
}

// The callers on a thread's own stack are compared; a fiber of the same thread is not taken for it.
TEST_F(given_stacks, of_fibers_lie_four_gib_from_the_threads_own) {
    constexpr std::uintptr_t distance = std::uintptr_t{4} << 30;
    static char *own, *small;
    static std::size_t bytes;
    static bool has_met;
    own = mapped_at(nullptr, large_stack);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setguardsize(&attributes, 0);
    ASSERT_EQ(pthread_attr_setstack(&attributes, own, large_stack), 0);
    const auto begin = [](void*) -> void* {
        kernel(large_work);
        const std::uintptr_t there = frame;
        bytes = up_to(own, there);
        small = mapped_at(own - distance, bytes);
        has_met = comes_to(there - distance, [](std::size_t work) { run_in_fiber(small, bytes, work); });
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, begin, nullptr), 0);
    pthread_join(thread, nullptr);

    EXPECT_TRUE(has_met);

    munmap(own, large_stack);
    munmap(small, bytes);
}

TEST_F(given_stacks, of_threads_are_followed_by_smaller_ones_at_the_same_place) {
    char* stack = mapped_at(nullptr, large_stack);
    run_in_thread(stack, large_stack, large_work);
    const std::uintptr_t there = frame;
    const std::size_t bytes = up_to(stack, there) + 4 * page;  // libc has its own things at the top
    ASSERT_EQ(mprotect(stack + bytes, large_stack - bytes, PROT_NONE), 0);

    EXPECT_TRUE(comes_to(there, [&](std::size_t work) { run_in_thread(stack, bytes, work); }));

    munmap(stack, large_stack);
}

// A call that was left for good on a fiber's stack, which is gone when the next one asks whether it is a part of it.
ucontext_t left;
TEST_F(given_stacks, of_fibers_take_a_call_with_them_that_never_returned) {
    char* low = mapped_at(nullptr, 2 * large_stack);
    char* high = low + large_stack;
    static ucontext_t home;
    getcontext(&left);
    left.uc_stack.ss_sp = high;
    left.uc_stack.ss_size = large_stack;
    left.uc_link = &home;
    makecontext(
        &left,
        [] {
            script.inside = [] {
                script.inside = nullptr;
                swapcontext(&left, &home);
            };
            FAKE_Send(0, 2, 4, 1);
        },
        0);
    ASSERT_EQ(swapcontext(&home, &left), 0);
    munmap(high, large_stack);

    run_in_fiber(low, large_stack, 16);

    munmap(low, large_stack);
}

}  // namespace
}  // namespace mpiprof::test
