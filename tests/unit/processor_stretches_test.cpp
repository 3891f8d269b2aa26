// Which stretches of a thread's run are looked at. What the kernel says of them is in tests/e2e.
#include "libmpiprof/record/processor_stretches.h"

#include <gtest/gtest.h>

#include "libmpiprof/base/kernel_files.h"

namespace mpiprof::test {
namespace {

constexpr Ticks rest = Ticks{1} << 28;  // longer than it rests

class processor_stretches : public ::testing::Test {
  protected:
    void SetUp() override {
        char text[96];
        if (slurp("/proc/thread-self/schedstat", text, sizeof text) == 0) GTEST_SKIP() << "the kernel keeps no account";
        stretches_.open(shown_, 0);
    }
    // Calls of 10 ticks that begin every 100 until one is to be announced; when that one ended.
    Ticks until_announced(Ticks now) {
        EXPECT_GT(stretches_.due(), now) << "it rests first";
        for (int calls = 0; calls < 8; ++calls, now += 100)
            if (stretches_.after_call(rest + now, rest + now + 10)) return rest + now + 10;
        ADD_FAILURE() << "no call was announced";
        return 0;
    }

    format::Thread shown_{};
    ProcessorStretches stretches_;
};

TEST_F(processor_stretches, one_is_what_lies_between_two_calls_and_the_second_of_them) {
    const Ticks ended = until_announced(0);
    EXPECT_TRUE(stretches_.awaits_call());
    EXPECT_EQ(stretches_.due(), 0u) << "the call's end is to be told, however short it is";
    stretches_.before_call(ended + 700);
    EXPECT_FALSE(stretches_.awaits_call());
    EXPECT_FALSE(stretches_.after_call(ended + 705, ended + 1000));
    EXPECT_EQ(shown_.between_calls_ticks, 700u);
    EXPECT_EQ(shown_.in_calls_ticks, 300u);
    EXPECT_GT(stretches_.due(), ended + 1000) << "it rests";
}

TEST_F(processor_stretches, a_call_that_did_not_say_that_it_begins_gives_the_stretch_up) {
    const Ticks ended = until_announced(0);
    EXPECT_FALSE(stretches_.after_call(ended + 705, ended + 1000));
    EXPECT_EQ(shown_.between_calls_ticks, 0u);
    EXPECT_EQ(shown_.in_calls_ticks, 0u);
    EXPECT_FALSE(stretches_.awaits_call());
}

TEST_F(processor_stretches, a_call_that_failed_is_not_taken_for_the_next_one) {
    const Ticks ended = until_announced(0);
    stretches_.before_call(ended + 700);  // whose end nobody told
    EXPECT_FALSE(stretches_.after_call(ended + rest, ended + rest + 10));
    EXPECT_EQ(shown_.in_calls_ticks, 0u);
}

TEST_F(processor_stretches, of_a_thread_that_was_not_opened_nothing_is_read) {
    EXPECT_EQ(ProcessorStretches().due(), ~Ticks{0});
}

}  // namespace
}  // namespace mpiprof::test
