// The token, with a wrapper reduced to its bones: who may be nested, and who takes over from a frame that is gone.
#include "libmpiprof/record/token.h"

#include <gtest/gtest.h>

#include <csetjmp>
#include <cstring>

namespace mpiprof {
namespace {

ThreadState state{};
Word returns_to = 0;  // where the last holder does
int recorded = 0;
int passed = 0;
using Body = void (*)();

// As wrap/ does it: only the outermost takes the token, records and gives it back.
[[gnu::noinline]] void wrapper(Body body) {
    const Word* frame = MPIPROF_FRAME();
    if (may_be_nested(state, frame, returns_to, {})) {
        ++passed;
        body();
        asm volatile("" ::: "memory");
        return;
    }
    state.token = frame;
    returns_to = reinterpret_cast<Word>(__builtin_return_address(0));
    body();
    ++recorded;
    state.token = nullptr;
}

void nothing() {}

// Calls `body` from a frame that is `bytes` deeper, and leaves no word of that room as it was.
template <std::size_t Bytes>
[[gnu::noinline]] void deeper(Body body) {
    char room[Bytes];
    std::memset(room, 0x5a, sizeof room);
    asm volatile("" ::"r"(room) : "memory");
    wrapper(body);
    asm volatile("" ::"r"(room) : "memory");
}

struct token : testing::Test {
    void SetUp() override {
        state = {};
        recorded = passed = 0;
    }
};

TEST_F(token, calls_one_after_the_other_are_all_recorded) {
    for (int i = 0; i < 5; ++i) wrapper(nothing);
    deeper<4096>(nothing);
    wrapper(nothing);

    EXPECT_EQ(recorded, 7);
    EXPECT_EQ(passed, 0);
}

TEST_F(token, what_a_call_calls_itself_is_passed_on) {
    wrapper([] {
        wrapper([] { deeper<1024>(nothing); });
        wrapper(nothing);
    });

    EXPECT_EQ(recorded, 1);
    EXPECT_EQ(passed, 3);
}

std::jmp_buf out;

[[gnu::noinline]] void leave_by_longjmp() {
    if (setjmp(out) == 0) wrapper([] { std::longjmp(out, 1); });
}

TEST_F(token, after_a_longjmp_the_next_call_is_recorded) {
    leave_by_longjmp();
    ASSERT_NE(state.token, nullptr) << "nobody gave it back";

    wrapper(nothing);
    wrapper(nothing);

    EXPECT_EQ(recorded, 2);
    EXPECT_EQ(passed, 0);
}

TEST_F(token, after_a_longjmp_a_call_from_the_same_frame_is_recorded) {
    volatile int attempt = 0;
    if (setjmp(out) == 0 || attempt < 3) {
        attempt = attempt + 1;
        wrapper([] { std::longjmp(out, 1); });
    }
    wrapper(nothing);

    EXPECT_EQ(recorded, 1);
    EXPECT_EQ(passed, 0);
}

TEST_F(token, after_a_longjmp_a_deeper_call_is_recorded) {
    leave_by_longjmp();

    deeper<4096>(nothing);

    EXPECT_EQ(recorded, 1);
    EXPECT_EQ(passed, 0);
    EXPECT_EQ(state.token, nullptr);
}

TEST_F(token, of_a_call_that_is_not_timed_is_not_doubted_by_where_it_returns_to) {
    wrapper(nothing);
    const Word* frame = MPIPROF_FRAME();
    state.token = untimed(frame);

    deeper<1024>(nothing);

    EXPECT_EQ(passed, 1);
}

TEST_F(token, after_a_longjmp_within_a_call_the_outer_call_still_counts_once) {
    wrapper([] {
        leave_by_longjmp();  // the inner call never held the token
        wrapper(nothing);
    });

    EXPECT_EQ(recorded, 1);
    EXPECT_EQ(passed, 2);
    EXPECT_EQ(state.token, nullptr);
}

[[gnu::noinline]] void same_depth_a() {
    if (setjmp(out) == 0) wrapper([] { std::longjmp(out, 1); });
}
[[gnu::noinline]] void same_depth_b() {
    wrapper(nothing);
    asm volatile("" ::: "memory");
}

TEST_F(token, a_new_call_in_the_place_of_a_lost_frame_is_recorded) {
    for (int i = 0; i < 3; ++i) {
        same_depth_a();
        same_depth_b();
    }

    EXPECT_EQ(recorded, 3);
    EXPECT_EQ(passed, 0);
}

}  // namespace
}  // namespace mpiprof
