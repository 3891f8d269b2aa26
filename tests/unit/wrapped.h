// What the tests of wrappers share: a runtime that records calls of the fake library, and what was recorded of one
// function since a moment. Each of their programs runs with the processor's counter (fast form) and with the monotonic
// clock (plain form).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "libmpiprof/wrap/wrap.h"
#include "tests/unit/fake_library.h"
#include "tests/unit/image_tables.h"

namespace mpiprof::test {

inline std::filesystem::path directory;

// Recording begins at the first test that asks for it and goes on: there is one runtime in a process, as in a program.
inline void start_recording() {
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
inline const auto* const tidy = testing::AddGlobalTestEnvironment(new Tidy);

// What was recorded since it was made, of one function.
class Since {
  public:
    explicit Since(FakeId id)
        : id_(id),
          before_(cell_sums()),
          counted_before_(counter_sums()),
          nested_before_(sum_of(&format::Thread::nested)),
          unplaced_before_(sum_of(&format::Thread::unplaced)) {}
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
    std::uint64_t nested() const { return sum_of(&format::Thread::nested) - nested_before_; }
    std::uint64_t unplaced() const { return sum_of(&format::Thread::unplaced) - unplaced_before_; }

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
    template <class Count>
    static std::uint64_t sum_of(Count format::Thread::*count) {
        std::uint64_t sum = 0;
        for (const auto& thread : records_of<format::Thread>(image(), format::TableType::threads)) sum += thread.*count;
        return sum;
    }

    FakeId id_;
    Sums before_;
    std::pair<std::uint64_t, std::uint64_t> counted_before_;
    std::uint64_t nested_before_, unplaced_before_;
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
[[gnu::noinline]] inline Word send_eight_bytes(Word comm = 1) {
    const Word result = FAKE_Send(0, 2, 4, comm);
    asm volatile("" ::: "memory");  // no tail call: the return address is this function's
    return result;
}

}  // namespace mpiprof::test
