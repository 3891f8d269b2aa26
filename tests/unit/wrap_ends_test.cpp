// Wrappers where not all goes well or goes on: calls that fail, handles that end, what is left on the stack, and
// threads beside each other.
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
    constexpr std::size_t frames = 384;
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    constexpr std::uintptr_t paint_word = 0x5a5a5a5a5a5a5a5a;
    std::size_t left = 0;
    for (auto at = reinterpret_cast<std::uintptr_t>(painted) + 7 & ~std::uintptr_t{7}; at < here - frames; at += 8) {
        const auto word = *reinterpret_cast<const volatile std::uintptr_t*>(at);
        left += word != paint_word && word != 0;
    }
    return left;
}

// Places of which all but two frames are known.
template <int N>
[[gnu::noinline]] void send_from_one_more_place() {
    send_eight_bytes();
    asm volatile("" ::"i"(N) : "memory");
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
    for (void (*send)() : {send_from_one_more_place<1>, send_from_one_more_place<2>, send_from_one_more_place<3>}) {
        send();
        EXPECT_LE(words_left_below(), way_into_memset) << "behind a new caller";
    }
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
