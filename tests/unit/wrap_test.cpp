// Wrappers in all their forms, around a fake library: what is forwarded, what is recorded. Polls, nested calls, what
// fails, ends or runs beside others, and what is left alone have files of their own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "libmpiprof/process/standard_error.h"
#include "tests/unit/wrapped.h"

namespace mpiprof::test {
namespace {

TEST(before_the_start, calls_are_forwarded_and_not_recorded) {
    if (runtime.is_recording()) GTEST_SKIP() << "only in a process of its own";
    script = {};
    script.result = 17;

    EXPECT_EQ(FAKE_Send(1, 2, 3, 4), 17);
    EXPECT_EQ(FAKE_Query(5), 17);
    EXPECT_EQ(script.calls, 2u);

    script = {};
    start_recording();
    EXPECT_EQ(Since(FakeId::send).sums(), Sums{});
    const Since sends(FakeId::send);
    send_eight_bytes();
    EXPECT_EQ(sends.calls(), 1u);
}

// ---- forwarding ----

TEST_F(wrap, every_argument_is_forwarded_whole) {
    const Word wide = 0x1234567800000002;  // the upper half of an int's register is garbage
    for (int i = 0; i < 3; ++i) {
        FAKE_Send(-1, wide, 4, 0x7fffffffffff);
        EXPECT_EQ(script.seen, (std::vector<Word>{-1, wide, 4, 0x7fffffffffff}));
    }
}

TEST_F(wrap, the_whole_result_register_is_returned) {
    script.result = 0x1234567800000000;  // as an int: 0, success
    const Since sends(FakeId::send);

    for (int i = 0; i < 3; ++i) EXPECT_EQ(send_eight_bytes(), 0x1234567800000000);

    EXPECT_EQ(sends.calls(), 3u);
}

TEST_F(wrap, an_ints_upper_half_is_not_part_of_a_count) {
    const Since sends(FakeId::send);

    for (int i = 0; i < 3; ++i) FAKE_Send(0, static_cast<Word>(0xdeadbeef00000003), 4, 1);

    EXPECT_EQ(sends.bytes(), 36u);
}

TEST_F(wrap, errno_is_as_the_real_function_left_it) {
    script.inside = [] { errno = 4711; };
    for (int i = 0; i < 3; ++i) {
        errno = 0;
        FAKE_Send(0, 100 << i, 4, 1);
        EXPECT_EQ(errno, 4711);
    }
}

TEST_F(wrap, a_real_function_is_looked_for_once) {
    send_eight_bytes();
    script.lookups = 0;

    for (int i = 0; i < 100; ++i) send_eight_bytes();

    EXPECT_EQ(script.lookups, 0u);
    EXPECT_EQ(script.calls, 101u);
}

TEST_F(wrap, a_function_that_nobody_defines_ends_as_the_loader_would_have_ended_it) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    // What gtest has put at number 2 by then is a file of the program's own, as far as we can tell.
    const auto call_it = [&] {
        dup2(ends[1], 2);
        new (&standard_error) StandardError;
        standard_error.remember();
        FAKE_Missing(0);
    };
    EXPECT_EXIT(call_it(), testing::ExitedWithCode(127), "");
    close(ends[1]);
    char said[512] = "";
    EXPECT_GT(read(ends[0], said, sizeof said - 1), 0);
    close(ends[0]);
    EXPECT_TRUE(strstr(said, "symbol lookup error: undefined symbol: FAKE_Missing")) << said;
}

// ---- recording ----

TEST_F(wrap, every_call_counts_exactly_once) {
    const Since sends(FakeId::send), queries(FakeId::query);

    for (int i = 0; i < 1000; ++i) {
        send_eight_bytes();
        if (i % 4 == 0) FAKE_Query(1);
    }

    EXPECT_EQ(sends.calls(), 1000u);
    EXPECT_EQ(sends.bytes(), 8000u);
    EXPECT_GT(sends.sums().ticks, 0u);
    EXPECT_EQ(queries.counted(), 250u);
}

TEST_F(wrap, the_clock_decides_which_form_calls_take) {
    send_eight_bytes();
    const bool has_counter = runtime.clock() != format::ClockKind::monotonic;

    EXPECT_EQ(thread_state.epoch == gate.epoch, has_counter) << "only then does the fast form go on by itself";
}

TEST_F(wrap, a_known_call_asks_nothing) {
    std::vector<unsigned> questions;
    for (int i = 0; i < 100; ++i) {
        send_eight_bytes();
        questions.push_back(script.questions);
    }

    EXPECT_EQ(questions.back(), questions.at(2)) << "asked for one place, since another one is another caller";
}

TEST_F(wrap, two_places_in_the_program_are_two_sites) {
    const auto cells = [] {
        std::size_t n = 0;
        for (const auto& cell : cells_of(runtime.records().image)) n += cell.communicator == 61;
        return n;
    };
    for (int i = 0; i < 3; ++i) {
        FAKE_Send(0, 2, 4, 61);
        FAKE_Send(0, 2, 4, 61);
    }
    EXPECT_EQ(cells(), 2u);
}

TEST_F(wrap, a_size_that_needs_several_arguments_is_measured_after_the_call) {
    const Since spreads(FakeId::spread);
    const int counts[] = {100, 20, 3};

    for (int i = 0; i < 3; ++i) FAKE_Spread(reinterpret_cast<Word>(counts), 3, 1);

    EXPECT_EQ(spreads.calls(), 3u);
    EXPECT_EQ(spreads.bytes(), 3 * 123u);
}

TEST_F(wrap, what_arrived_is_counted_though_the_caller_ignores_the_status) {
    const Since receives(FakeId::receive);
    script.arrives = 24;

    for (int i = 0; i < 3; ++i) {
        FAKE_Receive(1000, 8, 1, 0);
        EXPECT_NE(script.seen[3], 0) << "ours took its place";
    }

    EXPECT_EQ(receives.bytes(), 72u);
}

TEST_F(wrap, the_callers_status_is_left_to_the_library) {
    const Since receives(FakeId::receive);
    script.arrives = 24;
    std::int64_t status = 0;

    for (int i = 0; i < 3; ++i) {
        FAKE_Receive(1000, 8, 1, reinterpret_cast<Word>(&status));
        EXPECT_EQ(script.seen[3], reinterpret_cast<Word>(&status));
    }

    EXPECT_EQ(status, 24);
    EXPECT_EQ(receives.bytes(), 72u);
}

TEST_F(wrap, a_size_that_is_not_at_hand_is_found_out_the_long_way) {
    const Since receives(FakeId::receive);
    script.status_is_opaque = true;
    script.arrives = 5;

    for (int i = 0; i < 3; ++i) FAKE_Receive(1000, 8, 1, 0);

    EXPECT_EQ(receives.sums().calls, 3u);
    EXPECT_EQ(receives.bytes(), 15u);
}

TEST_F(wrap, fortran_passes_everything_by_address) {
    const Since sends(FakeId::send);
    int count = 3, type = 8, comm = 1, ierror = -1;
    double buffer[3];

    for (int i = 0; i < 3; ++i)
        fake_send_(reinterpret_cast<Word>(buffer), reinterpret_cast<Word>(&count), reinterpret_cast<Word>(&type),
                   reinterpret_cast<Word>(&comm), reinterpret_cast<Word>(&ierror));

    EXPECT_EQ(sends.calls(), 3u);
    EXPECT_EQ(sends.bytes(), 72u);
    EXPECT_EQ(ierror, 0);
    EXPECT_EQ(script.seen[4], reinterpret_cast<Word>(&ierror));
}

TEST_F(wrap, a_hung_call_can_be_seen_while_it_hangs) {
    static format::Thread thread;
    static std::vector<format::Module> modules;
    script.inside = [] {
        thread = records_of<format::Thread>(runtime.records().image, format::TableType::threads).at(0);
        modules = records_of<format::Module>(runtime.records().image, format::TableType::modules);
    };

    for (int i = 0; i < 2; ++i) {
        thread = {};
        send_eight_bytes();
        EXPECT_EQ(call_of(thread.in_call), static_cast<std::uint16_t>(FakeId::send));
        const auto address = static_cast<std::uint64_t>(address_of(thread.in_call));
        EXPECT_TRUE(std::any_of(modules.begin(), modules.end(), [&](const format::Module& m) {
            return m.base <= address && address < m.end;
        })) << "where it was called is known before it returns";
    }

    thread = records_of<format::Thread>(runtime.records().image, format::TableType::threads).at(0);
    EXPECT_NE(thread.in_call & format::has_returned, 0u) << "outside again";
    EXPECT_EQ(call_of(thread.in_call & ~format::has_returned), static_cast<std::uint16_t>(FakeId::send));
}

// An interpreter with one frame, at the line that the test says; 0: no script is running.
thread_local std::int32_t running_line = 0;
unsigned running_frame(ScriptFrame* frames, unsigned) {
    static constexpr char function = 0;
    frames[0] = {&function, running_line, 0};
    return running_line != 0;
}
void describe_running(const ScriptFrame& frame, ScriptPlace& place) { place = {"train.py", "step", frame.instruction}; }
const Interpreter* interpreter() {
    static constexpr Interpreter ours{[](std::intptr_t) { return true; }, running_frame, describe_running};
    return &ours;
}

TEST_F(wrap, the_line_of_a_script_can_be_seen_while_its_call_hangs) {
    const auto before = std::exchange(runtime.records().sites.interpreter, interpreter);
    static format::Thread thread;
    script.inside = [] {
        thread = records_of<format::Thread>(runtime.records().image, format::TableType::threads).at(0);
    };
    const auto line_inside = [](std::int32_t line) -> std::uint64_t {
        running_line = line;
        send_eight_bytes();
        running_line = 0;
        if (thread.script_call != static_cast<std::uint32_t>(thread.in_call_since)) return 0;
        const Image& image = runtime.records().image;
        const auto site = records_of<format::Site>(image, format::TableType::sites).at(thread.script_site);
        return records_of<format::Frame>(image, format::TableType::frames).at(site.first_frame).offset;
    };
    line_inside(0);  // C made the call before a script did
    line_inside(3);
    const Since sends(FakeId::send);

    EXPECT_EQ(line_inside(7), 7u);
    EXPECT_EQ(line_inside(8), 8u);
    EXPECT_EQ(line_inside(0), 0u) << "a call of C's in between is not at the line of the last one";
    EXPECT_EQ(line_inside(7), 7u);
    EXPECT_EQ(sends.calls(), 4u);
    EXPECT_EQ(sends.bytes(), 32u);
    runtime.records().sites.interpreter = before;
}

}  // namespace
}  // namespace mpiprof::test
