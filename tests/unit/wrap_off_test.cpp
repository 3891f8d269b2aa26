// When wrappers forward and do not record: pauses, forked children, a second library, one that is off.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <utility>

#include "tests/unit/wrapped.h"

namespace mpiprof::test {
namespace {

TEST_F(wrap, a_paused_program_is_not_recorded) {
    const Since sends(FakeId::send), queries(FakeId::query);
    send_eight_bytes();

    runtime.pause();
    for (int i = 0; i < 5; ++i) {
        send_eight_bytes();
        FAKE_Query(1);
        FAKE_Free(7);
    }
    runtime.resume();
    send_eight_bytes();
    FAKE_Query(1);

    EXPECT_EQ(script.calls, 18u);
    EXPECT_EQ(sends.calls(), 2u);
    EXPECT_EQ(queries.counted(), 1u);
}

TEST_F(wrap, a_handle_that_is_freed_in_a_pause_is_forgotten_too) {
    const Since frees(FakeId::free);
    runtime.pause();

    FAKE_Free(9);

    runtime.resume();
    EXPECT_EQ(script.freed, 1u);
    EXPECT_EQ(frees.counted(), 0u);
}

Word spread() {
    static const int counts[] = {1};
    return FAKE_Spread(reinterpret_cast<Word>(counts), 1, 1);
}

TEST_F(wrap, collectives_of_a_pause_are_counted_but_for_those_that_are_part_of_another_call) {
    runtime.pause();
    script.inside = [] {
        const auto inside = std::exchange(script.inside, nullptr);
        spread();
        FAKE_Query(1);
        script.inside = inside;
    };

    spread();
    EXPECT_EQ(script.in_order, 1u);
    send_eight_bytes();
    EXPECT_EQ(script.in_order, 1u);
    script.inside = nullptr;
    spread();

    runtime.resume();
    EXPECT_EQ(script.in_order, 2u);
    EXPECT_EQ(script.calls, 7u);
}

std::jmp_buf out;

TEST_F(wrap, a_call_of_a_pause_that_is_left_by_a_longjmp_hides_no_later_one) {
    runtime.pause();
    script.inside = [] { std::longjmp(out, 1); };
    if (setjmp(out) == 0) spread();
    script.inside = nullptr;

    spread();
    runtime.resume();
    const Since sends(FakeId::send);
    send_eight_bytes();

    EXPECT_EQ(script.in_order, 1u);
    EXPECT_EQ(sends.calls(), 1u);
}

TEST_F(wrap, a_pause_that_ends_within_a_call_leaves_its_parts_unrecorded) {
    const Since sends(FakeId::send);
    runtime.pause();
    script.inside = [] {
        script.inside = nullptr;
        runtime.resume();
        send_eight_bytes();
    };

    spread();
    send_eight_bytes();

    EXPECT_EQ(sends.calls(), 1u);
}

TEST_F(wrap, a_pause_within_a_call_loses_neither_the_call_nor_the_token) {
    const Since sends(FakeId::send);
    script.inside = [] {
        runtime.pause();
        runtime.resume();
    };
    send_eight_bytes();
    script.inside = nullptr;

    send_eight_bytes();

    EXPECT_EQ(sends.calls(), 2u);
}

TEST_F(wrap, a_forked_child_records_nothing_and_forwards_everything) {
    send_eight_bytes();
    const Since sends(FakeId::send), queries(FakeId::query);
    script.calls = 0;

    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 5; ++i) {
            send_eight_bytes();
            FAKE_Query(1);
            FAKE_Free(7);
        }
        _exit(script.calls == 15 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);

    EXPECT_EQ(status, 0);
    EXPECT_EQ(sends.sums(), Sums{});
    EXPECT_EQ(queries.counted(), 0u);
    send_eight_bytes();
    EXPECT_EQ(sends.calls(), 1u);
}

TEST_F(wrap, calls_of_a_second_library_pass_untouched_and_those_of_the_first_count) {
    send_eight_bytes();
    const Since sends(FakeId::send), queries(FakeId::query);
    script.several = script.is_foreign = true;
    forget_real_functions();

    for (int i = 0; i < 3; ++i) {
        send_eight_bytes();
        FAKE_Query(1);
    }
    script.is_foreign = false;  // another caller
    for (int i = 0; i < 3; ++i) send_eight_bytes();

    EXPECT_EQ(script.calls, 10u);
    EXPECT_EQ(sends.calls(), 3u);
    EXPECT_EQ(queries.counted(), 0u);
}

TEST_F(wrap, a_library_that_is_off_is_passed_through_and_looked_for_once) {
    const Since sends(FakeId::send), queries(FakeId::query);
    forget_real_functions();
    script.is_off = true;

    for (int i = 0; i < 3; ++i) {
        send_eight_bytes();
        FAKE_Query(1);
    }

    EXPECT_EQ(script.calls, 6u);
    EXPECT_EQ(script.lookups, 2u);
    EXPECT_EQ(sends.calls(), 0u);
    EXPECT_EQ(queries.counted(), 0u);
}

}  // namespace
}  // namespace mpiprof::test
