// Wrappers in all their forms, around a fake library: what is forwarded, what is recorded, what is left alone.
// CMakeLists.txt runs each test with the processor's counter (fast form) and with the monotonic clock (plain form).
#include "libmpiprof/wrap/wrap.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/unit/fake_library.h"
#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

std::filesystem::path directory;

// Recording begins at the first test that asks for it and goes on: there is one runtime in a process, as in a program.
void start_recording() {
    if (runtime.is_recording()) return;
    std::string name = (std::filesystem::temp_directory_path() / "mpiprof-unit-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory = name;
    setenv("MPIPROF_DIR", name.c_str(), 1);
    ASSERT_TRUE(runtime.prepare());
    runtime.records().sites.unwinder = mpiprof::wrap::find_unwinder;
    runtime.start(fake_catalogue(), {0, 2, true, false, 0, format::MpiFamily::open_mpi, "Fake 1.0"}, 0);
    ASSERT_TRUE(runtime.is_recording());
}

class Tidy : public testing::Environment {
    void TearDown() override {
        runtime.finish(format::State::finalized, 0);
        if (!directory.empty()) std::filesystem::remove_all(directory);
    }
};
const auto* const tidy = testing::AddGlobalTestEnvironment(new Tidy);

// What was recorded since it was made, of one function.
class Since {
  public:
    explicit Since(FakeId id)
        : id_(id), before_(cell_sums()), counted_before_(counter_sums()), nested_before_(nested_sum()) {}
    Sums sums() const {
        const Sums now = cell_sums();
        return {now.calls - before_.calls, now.bytes - before_.bytes, now.ticks - before_.ticks,
                now.errors - before_.errors};
    }
    std::uint64_t calls() const { return sums().calls; }
    std::uint64_t bytes() const { return sums().bytes; }
    std::uint64_t errors() const { return sums().errors; }
    std::uint64_t counted() const { return counter_sums().first - counted_before_.first; }
    std::uint64_t counted_errors() const { return counter_sums().second - counted_before_.second; }
    std::uint64_t nested() const { return nested_sum() - nested_before_; }

  private:
    static Image& image() { return runtime.records().image; }
    Sums cell_sums() const {
        Sums sums{};
        for (const auto& cell : cells_of(image())) {
            if (cell.call != static_cast<std::uint16_t>(id_)) continue;
            sums.calls += cell.calls;
            sums.bytes += cell.bytes;
            sums.ticks += cell.ticks;
            sums.errors += cell.errors;
        }
        return sums;
    }
    std::pair<std::uint64_t, std::uint64_t> counter_sums() const {
        std::pair<std::uint64_t, std::uint64_t> sums;
        const auto counters = records_of<format::Counter>(image(), format::TableType::counters);
        const std::size_t index = id_ == FakeId::poll ? counter_of_polls : id_ == FakeId::free ? 1 : 0;
        for (std::size_t i = index; i < counters.size(); i += 3)
            sums.first += counters[i].calls, sums.second += counters[i].errors;
        return sums;
    }
    static std::uint64_t nested_sum() {
        std::uint64_t sum = 0;
        for (const auto& thread : records_of<format::Thread>(image(), format::TableType::threads)) sum += thread.nested;
        return sum;
    }

    FakeId id_;
    Sums before_;
    std::pair<std::uint64_t, std::uint64_t> counted_before_;
    std::uint64_t nested_before_;
};

struct wrap : testing::Test {
    wrap() {
        start_recording();
        script = {};
        index_of_communicator_7 = 7;
    }
    ~wrap() override { script = {}; }
};

// One place from which the tests call: its second call and all later ones find everything known.
[[gnu::noinline]] Word send_eight_bytes(Word comm = 1) {
    const Word result = FAKE_Send(0, 2, 4, comm);
    asm volatile("" ::: "memory");  // no tail call: the return address is this function's
    return result;
}

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
        EXPECT_TRUE(std::any_of(modules.begin(), modules.end(),
                                [&](const format::Module& m) { return m.base <= address && address < m.end; }))
            << "where it was called is known before it returns";
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
void describe_running(const ScriptFrame& frame, ScriptPlace& place) {
    place = {"train.py", "step", frame.instruction};
}
const Interpreter* interpreter() {
    static constexpr Interpreter ours{[](std::intptr_t) { return true; }, running_frame, describe_running};
    return &ours;
}

TEST_F(wrap, the_line_of_a_script_can_be_seen_while_its_call_hangs) {
    const auto before = std::exchange(runtime.records().sites.interpreter, interpreter);
    static format::Thread thread;
    script.inside = [] { thread = records_of<format::Thread>(runtime.records().image, format::TableType::threads).at(0); };
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

// ---- polls ----

TEST_F(wrap, every_poll_is_counted_and_few_are_timed) {
    const Since polls(FakeId::poll);

    for (int i = 0; i < 160; ++i) FAKE_Poll(1);

    EXPECT_EQ(polls.counted(), 160u);
    if (runtime.clock() != format::ClockKind::monotonic) {
        EXPECT_EQ(polls.calls(), 10u);
    }
    EXPECT_GT(polls.sums().ticks, 0u);
}

bool is_sample() { return thread_state.ledger->is_sample(counter_of_polls); }

// The time that so many polls are recorded with, divided by the time that they took. The last one is a sample, as was the one
// before the first.
double recorded_share_of_polls(unsigned periods, void (*inside)()) {
    do FAKE_Poll(1);
    while (!is_sample());
    const bool monotonic = runtime.clock() == format::ClockKind::monotonic;
    const Ticks began = now(monotonic);
    FAKE_Poll(1);
    const Since polls(FakeId::poll);
    script.inside = inside;
    script.calls = 0;
    for (unsigned i = 0; i < periods * Ledger::polls_per_sample; ++i) FAKE_Poll(1);
    const Ticks took = now(monotonic) - began;
    script.inside = nullptr;
    return static_cast<double>(polls.sums().ticks) / static_cast<double>(took);
}

// Samples that stood for themselves alone would have a sixteenth of the time. A machine that is busy delays polls that are not
// samples, or interrupts those that are: then once more.
constexpr double most_of_the_time = 0.4;
double best_recorded_share_of_polls(unsigned periods, void (*inside)()) {
    double best = 0;
    for (int attempt = 0; attempt < 100 && best < most_of_the_time; ++attempt) best = std::max(best, recorded_share_of_polls(periods, inside));
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
    for (unsigned i = 0; i < 4 * Ledger::polls_per_sample; ++i) {
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
        for (const Ticks began = now(monotonic); now(monotonic) - began < Ticks{1} << 15;) {}  // 16 of them within one time slice
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

// ---- nesting, and frames that are lost ----

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

TEST_F(wrap, a_handle_that_is_freed_in_a_pause_is_forgotten_too) {
    const Since frees(FakeId::free);
    runtime.pause();

    FAKE_Free(9);

    runtime.resume();
    EXPECT_EQ(script.freed, 1u);
    EXPECT_EQ(frees.counted(), 0u);
}

// ---- when not to record ----

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
