// Polls through wrappers: all are counted, few are timed, and their time is neither lost nor counted twice.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/unit/wrapped.h"

namespace mpiprof::test {
namespace {

TEST_F(wrap, every_poll_is_counted_and_few_are_timed) {
    const Since polls(FakeId::poll);

    for (int i = 0; i < 160; ++i) FAKE_Poll(1);

    EXPECT_EQ(polls.counted(), 160u);
    if (runtime.clock() != format::ClockKind::monotonic) {
        EXPECT_EQ(polls.calls(), 10u);
    }
    EXPECT_GT(polls.sums().ticks, 0u);
}

bool is_sample() { return thread_state.ledger->counters.is_sample(counter_of_polls); }

// The time that so many polls are recorded with, divided by the time that they took. The last one is a sample, as was
// the one before the first.
double recorded_share_of_polls(unsigned periods, void (*inside)()) {
    do FAKE_Poll(1);
    while (!is_sample());
    const bool monotonic = runtime.clock() == format::ClockKind::monotonic;
    const Ticks began = now(monotonic);
    FAKE_Poll(1);
    const Since polls(FakeId::poll);
    script.inside = inside;
    script.calls = 0;
    for (unsigned i = 0; i < periods * Counters::polls_per_sample; ++i) FAKE_Poll(1);
    const Ticks took = now(monotonic) - began;
    script.inside = nullptr;
    return static_cast<double>(polls.sums().ticks) / static_cast<double>(took);
}

// Samples that stood for themselves alone would have a sixteenth of the time. A machine that is busy delays polls that
// are not samples, or interrupts those that are: then once more.
constexpr double most_of_the_time = 0.4;
double best_recorded_share_of_polls(unsigned periods, void (*inside)()) {
    double best = 0;
    for (int attempt = 0; attempt < 100 && best < most_of_the_time; ++attempt)
        best = std::max(best, recorded_share_of_polls(periods, inside));
    return best;
}

TEST_F(wrap, the_time_of_polls_is_that_of_all_of_them) {
    const double share = best_recorded_share_of_polls(3, [] { usleep(1000); });
    EXPECT_GT(share, most_of_the_time);
    EXPECT_LE(share, 1);
}

TEST_F(wrap, a_poll_that_is_interrupted_counts_once) {
    const auto interrupted_samples = [] {
        if (is_sample()) usleep(20'000);
    };
    EXPECT_LE(recorded_share_of_polls(4, interrupted_samples), 1);

    // Nor are later polls charged with it.
    const Since polls(FakeId::poll);
    const bool monotonic = runtime.clock() == format::ClockKind::monotonic;
    const Ticks began = now(monotonic);
    for (unsigned i = 0; i < 4 * Counters::polls_per_sample; ++i) {
        FAKE_Poll(1);
        usleep(200);
    }
    EXPECT_LT(static_cast<double>(polls.sums().ticks), 0.5 * static_cast<double>(now(monotonic) - began));
}

// Each seventeenth takes long: a sample, and after it fifteen others.
TEST_F(wrap, polls_that_move_data_now_and_then_have_the_time_of_all_that_did) {
    const auto moves_data_now_and_then = [] {
        const bool monotonic = runtime.clock() == format::ClockKind::monotonic;
        if (script.calls % 17 != 16) return;
        for (const Ticks began = now(monotonic); now(monotonic) - began < Ticks{1} << 15;) {
        }  // 16 of them within one time slice
    };
    const double share = best_recorded_share_of_polls(17, moves_data_now_and_then);
    EXPECT_GT(share, most_of_the_time);
    EXPECT_LE(share, 1);
}

TEST_F(wrap, a_poll_that_fails_is_an_error) {
    const Since polls(FakeId::poll);
    for (int i = 0; i < 32; ++i) {
        script.result = i % 2 ? 5 : 0;
        FAKE_Poll(1);
    }
    EXPECT_EQ(polls.counted(), 16u);
    EXPECT_EQ(polls.counted_errors(), 16u);
}

}  // namespace
}  // namespace mpiprof::test
