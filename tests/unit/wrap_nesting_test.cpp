// Calls that the library makes itself, and calls that are left without returning: by longjmp, by an exception, by
// another stack of the same thread. Who records is the outermost wrapper, and the next call counts again.
#include <gtest/gtest.h>
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

}  // namespace
}  // namespace mpiprof::test
