// The helper thread: its pace, what the program notices of it (nothing), and its end.
#include "libmpiprof/process/helper.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <fstream>
#include <thread>

#include "libmpiprof/base/clock.h"
#include "libmpiprof/base/raw.h"

namespace mpiprof {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t second = 1000 * ms;

TEST(pace, work_is_done_once_a_period) {
    Pace pace(second);
    EXPECT_EQ(pace.pause_after(10'000), second);
    EXPECT_EQ(pace.period_ns(), second);
}

TEST(pace, slow_writes_take_a_thousandth_of_the_time_and_no_more) {
    Pace pace(second);
    pace.pause_after(20 * ms);
    EXPECT_EQ(pace.pause_after(20 * ms), 20 * second);
    EXPECT_EQ(pace.period_ns(), 20 * second) << "what a kill can cost is what is said";
    EXPECT_EQ(pace.pause_after(1000), second);
}

TEST(pace, a_single_write_that_stalls_changes_nothing) {
    Pace pace(second);
    pace.pause_after(ms);
    EXPECT_EQ(pace.pause_after(100 * second), second);
    EXPECT_EQ(pace.pause_after(ms), second);
}

TEST(pace, writes_that_stall_do_not_end_the_saving_for_hours) {
    Pace pace(second);
    pace.pause_after(100 * second);
    EXPECT_EQ(pace.pause_after(100 * second), 300 * second);
}

TEST(pace, a_job_that_has_just_begun_is_written_more_often) {
    Pace pace(second, 50 * ms);
    EXPECT_EQ(pace.period_ns(), second);
    for (const std::uint64_t expected : {50, 100, 200, 400, 800, 1000, 1000})
        EXPECT_EQ(pace.pause_after(10'000), expected * ms);
    EXPECT_EQ(pace.period_ns(), second) << "what a kill can cost";
}

TEST(pace, slow_writes_take_a_tenth_of_the_time_at_the_beginning_and_no_more) {
    Pace pace(10 * second, 50 * ms);
    EXPECT_EQ(pace.pause_after(30 * ms), 50 * ms) << "a single one may have stalled";
    EXPECT_EQ(pace.pause_after(30 * ms), 300 * ms);
    EXPECT_EQ(pace.pause_after(30 * ms), 600 * ms);
    for (int i = 0; i < 4; ++i) pace.pause_after(30 * ms);
    EXPECT_EQ(pace.pause_after(30 * ms), 30 * second) << "from then on a thousandth";
}

TEST(pace, a_period_that_is_shorter_than_the_first_pause_is_kept_from_the_first_on) {
    Pace pace(20 * ms, 50 * ms);
    EXPECT_EQ(pace.pause_after(1000), 20 * ms);
    EXPECT_EQ(pace.pause_after(1000), 20 * ms);
}

TEST(pace, a_sleep_that_fails_ends_the_thread_instead_of_spinning) {
    Pace pace(second);
    int rounds = 0;
    while (rounds < 1000 && pace.slept(second, 300)) ++rounds;
    EXPECT_LT(rounds, 10);
}

TEST(pace, a_single_early_wakeup_is_forgiven) {
    Pace pace(second);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(pace.slept(second, 100 * ms));
        EXPECT_TRUE(pace.slept(second, second));
    }
}

struct helper : testing::Test {
    static std::uint64_t count(void* self, std::uint64_t period_ns) {
        auto& h = *static_cast<helper*>(self);
        __atomic_fetch_add(&h.worked, 1, __ATOMIC_RELAXED);
        h.period = period_ns;
        h.thread = static_cast<int>(raw(SYS_gettid));
        raw(SYS_close, -1);  // fails: the program's errno must not hear of it
        raw(SYS_rt_sigprocmask, SIG_BLOCK, 0, raw_address(&h.blocked), 8);
        return Helper::when_asked;
    }
    int times() const { return __atomic_load_n(&worked, __ATOMIC_RELAXED); }
    void wait_for(int n) const {
        for (int i = 0; i < 5000 && times() < n; ++i) raw(SYS_sched_yield), usleep(1000);
        ASSERT_GE(times(), n);
    }
    void SetUp() override {
        if (!has_raw_calls) GTEST_SKIP() << "no helper thread on this processor or under this sanitizer";
    }
    void TearDown() override { tested.stop(); }

    Helper tested;
    int worked = 0;
    int thread = 0;
    std::uint64_t period = 0;
    std::uint64_t blocked = 0;
};

TEST_F(helper, works_until_it_is_stopped) {
    ASSERT_TRUE(tested.start(count, this, 5 * ms, 0));
    wait_for(5);
    tested.stop();
    EXPECT_FALSE(tested.is_running());
    const int then = times();
    usleep(30'000);
    EXPECT_EQ(times(), then);
    EXPECT_GE(period, 5 * ms);  // longer where its work takes long, as it does on a busy machine
    EXPECT_LE(period, 50 * ms);
}

TEST_F(helper, works_soon_again_where_pauses_grow_to_a_long_period) {
    ASSERT_TRUE(tested.start(count, this, 3600 * second, 0, ms));
    wait_for(5);
    EXPECT_EQ(period, 3600 * second);
}

TEST_F(helper, can_be_started_again) {
    for (int i = 1; i <= 3; ++i) {
        ASSERT_TRUE(tested.start(count, this, ms, 0));
        EXPECT_FALSE(tested.start(count, this, ms, 0)) << "there is one already";
        wait_for(times() + 2);
        tested.stop();
    }
}

TEST_F(helper, a_long_pause_is_ended_at_once) {
    ASSERT_TRUE(tested.start(count, this, 3600 * second, 0));
    wait_for(1);
    const std::uint64_t began = nanoseconds(CLOCK_MONOTONIC);
    tested.stop();
    EXPECT_FALSE(tested.is_running());
    EXPECT_LT(nanoseconds(CLOCK_MONOTONIC) - began, second);
}

TEST_F(helper, takes_no_signal_of_the_program) {
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    ASSERT_TRUE(tested.start(count, this, 5 * ms, 0));
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    wait_for(1);

    EXPECT_EQ(memcmp(&before, &after, 8), 0) << "the program's own mask is as it was";
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD, SIGXFSZ, SIGALRM, SIGPROF})
        EXPECT_TRUE(blocked >> (signal - 1) & 1) << strsignal(signal);
}

TEST_F(helper, leaves_the_programs_errno_alone) {
    errno = 77;
    ASSERT_TRUE(tested.start(count, this, ms, 0));
    while (times() < 20) raw(SYS_sched_yield);
    EXPECT_EQ(errno, 77);
}

TEST_F(helper, outlives_the_thread_that_started_it) {
    std::thread([this] { ASSERT_TRUE(tested.start(count, this, ms, 0)); }).join();
    wait_for(20);
}

TEST_F(helper, has_a_name_that_people_recognise) {
    ASSERT_TRUE(tested.start(count, this, ms, 0));
    wait_for(1);
    std::string name;
    std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/comm"), name);
    EXPECT_EQ(name, "mpiprof");
}

TEST(threads, a_process_knows_whether_it_has_several) {
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) usleep(100);
    });
    EXPECT_TRUE(has_threads());
    done = true;
    other.join();
}

}  // namespace
}  // namespace mpiprof
