// Calls that the library makes itself, and calls that are left without returning: by longjmp, by an exception, by
// another stack of the same thread. Who records is the outermost wrapper, and the next call counts again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <csetjmp>
#include <stdexcept>
#include <vector>

#include "tests/unit/wrapped.h"

namespace mpiprof::test {
namespace {

TEST_F(wrap, what_the_library_calls_itself_is_forwarded_and_not_recorded) {
    const Since sends(FakeId::send), queries(FakeId::query);
    script.inside = [] {
        script.inside = nullptr;
        send_eight_bytes();
        FAKE_Query(1);
        const int counts[] = {1};
        FAKE_Spread(reinterpret_cast<Word>(counts), 1, 1);
    };

    FAKE_Send(0, 10, 4, 1);

    EXPECT_EQ(script.calls, 4u);
    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(sends.bytes(), 40u);
    EXPECT_EQ(queries.counted(), 0u);
    EXPECT_EQ(sends.nested(), 3u);
}

// Both are on their way to functions that the process calls for the first time.
TEST_F(wrap, a_first_call_of_a_signals_handler_within_a_first_call_is_another_call) {
    const Since sends(FakeId::send), queries(FakeId::query);
    static std::vector<Word> seen_in_handler;
    struct sigaction before, action{};
    action.sa_handler = [](int) {
        FAKE_Query(77);
        seen_in_handler = script.seen;
    };
    sigaction(SIGUSR1, &action, &before);
    forget_real_functions();
    script.while_looked_for = [] { raise(SIGUSR1); };
    FAKE_Send(1, 2, 4, 3);
    sigaction(SIGUSR1, &before, nullptr);
    EXPECT_EQ(seen_in_handler, (std::vector<Word>{77}));
    EXPECT_EQ(script.seen, (std::vector<Word>{1, 2, 4, 3}));
    EXPECT_EQ(script.calls, 2u);
    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(queries.counted(), 1u);
}

TEST_F(wrap, a_nested_call_that_fails_is_the_librarys_own_affair) {
    const Since sends(FakeId::send), spreads(FakeId::spread);
    script.inside = [] {
        script.inside = nullptr;
        script.result = 5;
        const int counts[] = {1};
        FAKE_Spread(reinterpret_cast<Word>(counts), 1, 1);
        script.result = 0;
    };

    FAKE_Send(0, 10, 4, 1);

    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(spreads.sums(), Sums{});
}

std::jmp_buf out;

[[gnu::noinline]] void leave_a_send_by_longjmp() {
    script.inside = [] { std::longjmp(out, 1); };
    if (setjmp(out) == 0) FAKE_Send(0, 10, 4, 1);
    script.inside = nullptr;
}

TEST_F(wrap, after_a_longjmp_out_of_a_call_the_next_calls_count) {  // a signal handler, an error handler
    leave_a_send_by_longjmp();
    const Since sends(FakeId::send), queries(FakeId::query);

    send_eight_bytes();
    FAKE_Query(1);
    send_eight_bytes();

    EXPECT_EQ(sends.calls(), 2u);
    EXPECT_EQ(queries.counted(), 1u);
}

template <std::size_t Bytes>
[[gnu::noinline]] void deeper() {
    char room[Bytes];
    for (std::size_t i = 0; i < Bytes; ++i) room[i] = 'x';
    asm volatile("" ::"r"(room) : "memory");
    send_eight_bytes();
    asm volatile("" ::"r"(room) : "memory");
}

TEST_F(wrap, after_a_longjmp_out_of_a_call_a_deeper_call_counts) {
    leave_a_send_by_longjmp();
    const Since sends(FakeId::send);

    deeper<8192>();

    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(sends.nested(), 0u);
}

TEST_F(wrap, an_exception_passes_through_and_the_next_call_counts) {
    for (int i = 0; i < 3; ++i) {
        script.inside = [] { throw std::runtime_error("an error handler of the user"); };
        EXPECT_THROW(send_eight_bytes(), std::runtime_error);
        script.inside = nullptr;
        const Since sends(FakeId::send);

        send_eight_bytes();

        EXPECT_EQ(sends.calls(), 1u);
    }
}

// A thread with two stacks (user-level threads): a call that was switched away is overtaken by another.
ucontext_t outside, fiber;

void send_from_a_fiber() {
    script.inside = [] {
        script.inside = nullptr;
        swapcontext(&fiber, &outside);
    };
    script.result = 0;
    FAKE_Send(0, 100, 4, 1);
}

TEST_F(wrap, a_call_that_another_stack_overtook_is_not_booked_as_something_else) {
    send_eight_bytes();
    const auto total = [] { return sums_of(runtime.records().image); };
    const Sums before = total();
    std::vector<char> stack(1 << 18);
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack.data();
    fiber.uc_stack.ss_size = stack.size();
    fiber.uc_link = &outside;
    makecontext(&fiber, send_from_a_fiber, 0);

    swapcontext(&outside, &fiber);  // until it is inside its call
    send_eight_bytes();
    swapcontext(&outside, &fiber);  // it returns
    send_eight_bytes();

    EXPECT_EQ(total().calls - before.calls, 2u) << "the overtaken one is lost, the others are exact";
    EXPECT_EQ(total().bytes - before.bytes, 16u);
    EXPECT_LT(total().ticks - before.ticks, 1'000'000'000'000u);
}

#if defined(__x86_64__)

// ---- where the stack cannot be followed ----

// As generated code calls, or the first frame of a fiber that somebody's assembly made: nothing describes its frame.
asm(R"(
    .text
    .type call_without_description, @function
call_without_description:
    pushq %rbx
    call *%rdi
    popq %rbx
    ret
    .size call_without_description, . - call_without_description
)");
extern "C" void call_without_description(void (*function)());

// Leaves a send whose frame nobody writes over afterwards.
[[gnu::noinline]] void send_far_below() {
    auto* room = static_cast<volatile char*>(__builtin_alloca(64 << 10));
    room[0] = 1;
    FAKE_Send(0, 10, 4, 1);
    asm volatile("" ::"r"(room) : "memory");
}
[[gnu::noinline]] void leave_a_send_far_below() {
    script.inside = [] { std::longjmp(out, 1); };
    if (setjmp(out) == 0) send_far_below();
    script.inside = nullptr;
}

void send_a_few() {
    for (int i = 0; i < 5; ++i) send_eight_bytes();
}

constexpr std::size_t fiber_bytes = 256 << 10;
ucontext_t home;
void run_in_fiber(char* stack, void (*function)()) {
    static void (*first)();
    first = function;
    ucontext_t inside;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = fiber_bytes;
    inside.uc_link = &home;
    makecontext(
        &inside, [] { call_without_description(first); }, 0);
    ASSERT_EQ(swapcontext(&home, &inside), 0);
}

TEST_F(wrap, after_a_longjmp_out_of_a_call_calls_of_fibers_count) {
    std::vector<char> stack(fiber_bytes);
    leave_a_send_far_below();
    const Since sends(FakeId::send);

    run_in_fiber(stack.data(), send_a_few);
    run_in_fiber(stack.data(), send_a_few);

    EXPECT_EQ(sends.calls(), 10u);
    EXPECT_EQ(sends.nested(), 0u);
    EXPECT_EQ(sends.unplaced(), 1u) << "the first of them; the one that was left is forgotten then";
}

TEST_F(wrap, after_a_longjmp_out_of_a_call_on_another_fiber_calls_of_fibers_count) {
    constexpr std::size_t fence = 64 << 10;
    auto* low = static_cast<char*>(
        mmap(nullptr, 2 * fiber_bytes + fence, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(mprotect(low + fiber_bytes, fence, PROT_NONE), 0);
    run_in_fiber(low + fiber_bytes + fence, leave_a_send_far_below);
    const Since sends(FakeId::send);

    run_in_fiber(low, send_a_few);

    munmap(low, 2 * fiber_bytes + fence);
    EXPECT_EQ(sends.calls(), 5u);
    EXPECT_EQ(sends.nested(), 0u);
}

TEST_F(wrap, after_an_exception_out_of_a_call_calls_of_fibers_count) {
    std::vector<char> stack(fiber_bytes);
    script.inside = [] { throw std::runtime_error("an error handler of the user"); };
    EXPECT_THROW(send_eight_bytes(), std::runtime_error);
    script.inside = nullptr;
    const Since sends(FakeId::send);

    run_in_fiber(stack.data(), send_a_few);

    EXPECT_EQ(sends.calls(), 5u);
}

[[gnu::noinline]] void recurse(int depth, void (*function)()) {
    volatile char room[100];  // written to at one end
    room[99] = 1;
    if (depth == 0)
        function();
    else
        recurse(depth - 1, function);
    asm volatile("" ::"r"(room) : "memory");
}

TEST_F(wrap, after_a_longjmp_out_of_a_call_those_of_a_deep_recursion_count) {
    for (const int depth : {200, 255, 256, 257, 1000, 20000}) {
        leave_a_send_far_below();
        const Since sends(FakeId::send);

        recurse(depth, send_a_few);

        EXPECT_EQ(sends.calls(), 5u) << depth;
        EXPECT_EQ(sends.unplaced(), 0u) << "the stack was followed to where the call had been";
    }
}

TEST_F(wrap, a_callbacks_call_below_a_deep_recursion_is_part_of_the_call) {
    const Since sends(FakeId::send);
    script.inside = [] {
        script.inside = nullptr;
        recurse(2000, send_a_few);
    };

    FAKE_Send(0, 10, 4, 1);

    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(sends.nested(), 5u);
    EXPECT_EQ(sends.unplaced(), 0u);
}

// An operator of generated code that calls MPI.
void send_with_a_generated_callback() {
    script.inside = [] {
        script.inside = nullptr;
        call_without_description(send_a_few);
    };
    FAKE_Send(0, 10, 4, 1);
}

TEST_F(wrap, a_call_of_generated_code_within_a_call_is_part_of_it) {
    const Since sends(FakeId::send);

    send_with_a_generated_callback();

    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(sends.nested(), 5u);
    EXPECT_EQ(sends.unplaced(), 5u) << "nobody can be sure";
}

TEST_F(wrap, a_call_of_generated_code_within_a_fibers_call_is_part_of_it) {
    std::vector<char> stack(fiber_bytes);
    const Since sends(FakeId::send);

    run_in_fiber(stack.data(), send_with_a_generated_callback);

    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(sends.nested(), 5u);
}

// A handler on a stack of its own, below the one that it interrupts.
TEST_F(wrap, a_call_of_a_signals_handler_within_a_call_is_part_of_it) {
    std::vector<char> stack(fiber_bytes);
    stack_t alternate{}, before{};
    alternate.ss_sp = stack.data();
    alternate.ss_size = stack.size();
    ASSERT_EQ(sigaltstack(&alternate, &before), 0);
    struct sigaction action {
    }, old{};
    action.sa_handler = [](int) { send_a_few(); };
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, &old);
    const Since sends(FakeId::send);
    script.inside = [] {
        script.inside = nullptr;
        raise(SIGUSR1);
    };

    FAKE_Send(0, 10, 4, 1);
    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(sends.nested(), 5u);
    EXPECT_EQ(sends.unplaced(), 0u);

    raise(SIGUSR1);
    EXPECT_EQ(sends.calls(), 6u) << "and outside of any they count";

    sigaction(SIGUSR1, &old, nullptr);
    sigaltstack(&before, nullptr);
}

#endif

}  // namespace
}  // namespace mpiprof::test
