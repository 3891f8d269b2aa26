// Wrappers in all their forms, around a fake library: what is forwarded, what is recorded. Polls, nested calls and what
// is left alone have files of their own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

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
    EXPECT_EXIT(FAKE_Missing(0), testing::ExitedWithCode(127), "symbol lookup error: undefined symbol: FAKE_Missing");
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
    frames[0] = {&function, running_line};
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

// ---- errors ----

TEST_F(wrap, a_call_that_fails_is_an_error_and_has_no_bytes) {
    send_eight_bytes();
    const Since sends(FakeId::send);

    script.result = 5;
    EXPECT_EQ(send_eight_bytes(), 5);
    EXPECT_EQ(send_eight_bytes(), 5);
    script.result = 0;
    send_eight_bytes();

    EXPECT_EQ(sends.errors(), 2u);
    EXPECT_EQ(sends.calls(), 1u);
    EXPECT_EQ(sends.bytes(), 8u);
}

TEST_F(wrap, nothing_is_asked_about_the_arguments_of_a_call_that_failed) {
    script.result = 5;

    FAKE_Send(0, 2, 4, 62);
    const int counts[] = {1};
    FAKE_Spread(reinterpret_cast<Word>(counts), 1, 62);

    EXPECT_EQ(script.questions, 0u);
}

TEST_F(wrap, a_counted_call_that_fails_is_an_error) {
    const Since queries(FakeId::query);
    for (int i = 0; i < 3; ++i) {
        script.result = i == 1 ? 5 : 0;
        FAKE_Query(1);
    }
    EXPECT_EQ(queries.counted(), 2u);
    EXPECT_EQ(queries.counted_errors(), 1u);
}

TEST_F(wrap, a_fortran_call_fails_by_its_ierror) {
    const Since sends(FakeId::send);
    int count = 3, type = 8, comm = 1, ierror = 0;
    for (int i = 0; i < 3; ++i) {
        script.ierror = i == 1 ? 5 : 0;
        fake_send_(0, reinterpret_cast<Word>(&count), reinterpret_cast<Word>(&type), reinterpret_cast<Word>(&comm),
                   reinterpret_cast<Word>(&ierror));
    }
    EXPECT_EQ(sends.calls(), 2u);
    EXPECT_EQ(sends.errors(), 1u);
}

// ---- handles ----

TEST_F(wrap, a_freed_handle_means_nothing_when_it_is_used_again) {
    const auto bytes_of = [](unsigned communicator) {
        std::uint64_t bytes = 0;
        for (const auto& cell : cells_of(runtime.records().image))
            if (cell.communicator == communicator) bytes += cell.bytes;
        return bytes;
    };
    index_of_communicator_7 = 71;
    for (int i = 0; i < 3; ++i) send_eight_bytes(7);

    FAKE_Free(7);
    index_of_communicator_7 = 72;
    for (int i = 0; i < 2; ++i) send_eight_bytes(7);

    EXPECT_EQ(script.freed, 1u);
    EXPECT_EQ(bytes_of(71), 24u);
    EXPECT_EQ(bytes_of(72), 16u);
}

TEST_F(wrap, freeing_is_counted_and_forwarded) {
    const Since frees(FakeId::free);

    FAKE_Free(9);
    FAKE_Free(9);

    EXPECT_EQ(frees.counted(), 2u);
    EXPECT_EQ(script.seen, std::vector<Word>{9});
}

// ---- what is left on the stack ----

constexpr std::size_t painted_bytes = 16384;
constexpr unsigned char paint = 0x5a;
const unsigned char* painted;

// As a real function that uses much stack would leave it.
[[gnu::noinline]] void paint_the_stack() {
    volatile unsigned char used[painted_bytes];
    for (volatile unsigned char& byte : used) byte = paint;
    painted = const_cast<const unsigned char*>(used);
    asm volatile("" : : "r"(used) : "memory");
}

// Words below a call that are somebody's, but for the wrapper's own frame and those of the fast form. Nothing is called
// in it: that would write there.
[[gnu::noinline, gnu::no_sanitize("address")]] std::size_t words_left_below() {
    constexpr std::size_t frames = 768;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    constexpr std::uintptr_t paint_word = 0x5a5a5a5a5a5a5a5a;
    std::size_t left = 0;
    for (auto at = reinterpret_cast<std::uintptr_t>(painted) + 7 & ~std::uintptr_t{7}; at < here - frames; at += 8) {
        const auto word = *reinterpret_cast<const volatile std::uintptr_t*>(at);
        left += word != paint_word && word != 0;
    }
    return left;
}

TEST_F(wrap, the_slow_path_leaves_zeros_on_the_programs_stack) {
    constexpr std::size_t way_into_memset = 2;  // return addresses
    script.inside = paint_the_stack;
    for (int i = 0; i < 4; ++i) {
        send_eight_bytes();
        EXPECT_LE(words_left_below(), way_into_memset) << "behind a new place, at call " << i;
    }
    FAKE_Send(1, 5000, 4, 1);
    EXPECT_LE(words_left_below(), way_into_memset) << "behind a new size";
}

// ---- threads ----

TEST_F(wrap, each_thread_records_for_itself) {
    const Since sends(FakeId::send), queries(FakeId::query);
    constexpr unsigned threads = 4, calls = 20000;

    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t)
        running.emplace_back([] {
            for (unsigned i = 0; i < calls; ++i) {
                send_eight_bytes();
                FAKE_Query(1);
            }
        });
    for (std::thread& thread : running) thread.join();

    EXPECT_EQ(sends.sums().calls, std::uint64_t{threads} * calls);
    EXPECT_EQ(queries.counted(), std::uint64_t{threads} * calls);
}

TEST_F(wrap, the_ledger_of_a_finished_thread_is_handed_on) {
    const auto threads = [] {
        return records_of<format::Thread>(runtime.records().image, format::TableType::threads).size();
    };
    std::thread([] { send_eight_bytes(); }).join();
    const std::size_t before = threads();
    const Since sends(FakeId::send);

    for (int i = 0; i < 50; ++i) std::thread([] { send_eight_bytes(); }).join();

    EXPECT_EQ(threads(), before);
    EXPECT_EQ(sends.calls(), 50u);
}

TEST_F(wrap, a_thread_that_records_while_another_frees_handles_loses_nothing) {
    const Since sends(FakeId::send);
    std::atomic<bool> stop{false};
    std::uint64_t made = 0;

    std::thread sender([&] {
        for (; !stop; ++made) send_eight_bytes(7);
    });
    for (int i = 0; i < 2000; ++i) runtime.forget_handles();
    stop = true;
    sender.join();

    EXPECT_EQ(sends.calls(), made);
    EXPECT_EQ(sends.bytes(), 8 * made);
}

}  // namespace
}  // namespace mpiprof::test
