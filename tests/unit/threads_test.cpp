// Threads that record at once: each has its ledger, all share image, sites, dictionary and drop counters.
// Built a second time with ThreadSanitizer (CMakeLists.txt).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

constexpr unsigned threads = 8;

// All begin together, each with a ledger of its own.
template <class Work>
void at_once(Recording& recording, Work work) {
    std::barrier ready(threads);
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            ready.arrive_and_wait();
            Ledger* ledger = Ledger::create(recording.records, t + 2, format::ThreadKind::other);
            ASSERT_NE(ledger, nullptr);
            work(*ledger, t);
        });
    for (std::thread& thread : running) thread.join();
}

TEST(threads, sums_are_exact_however_many_record_at_once) {
    Recording recording;
    constexpr unsigned calls = 50000;

    at_once(recording, [](Ledger& ledger, unsigned t) {
        for (unsigned i = 0; i < calls; ++i)
            record(ledger, 8 << (i % 8), 16 + i % 100,
                   {.call = static_cast<std::uint16_t>(i % 3), .site = some_site + (i + t) % 64});
    });

    Sums expected{};
    for (unsigned i = 0; i < calls; ++i) {
        expected.calls += threads;
        expected.bytes += Bytes{threads} * (8u << (i % 8));
        expected.ticks += Ticks{threads} * (16 + i % 100);
    }
    EXPECT_EQ(sums_of(recording.image()), expected);
    EXPECT_EQ(names_in_dictionary(recording.image()).size(), 3u);
}

// One thread frees a datatype and makes the next, which has the same handle, and hands it to another. Others, who know
// nothing of it, look in whenever they like.
TEST(threads, a_handle_that_is_freed_by_one_and_handed_to_another_means_the_new_type) {
    Recording recording;
    constexpr Word handle = 77;
    constexpr std::uint64_t rounds = 5000;
    std::atomic<std::uint64_t> epoch{0}, made{0}, used{0};
    unsigned stale = 0, wrong = 0;

    at_once(recording, [&](Ledger& ledger, unsigned t) {
        EndedHandles& ended = recording.records.ended;
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            if (t == 0) {
                while (used != i - 1) std::this_thread::yield();
                ledger.end_of({HandleKind::type, handle, 0});
                ended.publish({HandleKind::type, handle, 0});
                epoch = i;
                made = i;
            } else if (t == 1) {
                while (made != i) std::this_thread::yield();
                ledger.enter_epoch(epoch);
                stale += ledger.memos.known_type(handle) != nullptr;
                ledger.will_learn_type(handle);
                ledger.memos.learn_type(handle, i);
                const auto* known = ledger.memos.known_type(handle);
                wrong += !known || known->meaning != i;
                EXPECT_TRUE(ended.may_be_held_by_others(handle, 2)) << "the thread that frees has to say so";
                used = i;
            } else {
                ledger.enter_epoch(epoch);
                record(ledger, 8, 100);
            }
        }
    });

    EXPECT_EQ(stale, 0u);
    EXPECT_EQ(wrong, 0u);
}

TEST(threads, a_site_has_one_id_for_all_threads) {
    Recording recording;
    std::vector<std::vector<std::uint32_t>> seen(threads, std::vector<std::uint32_t>(500));

    at_once(recording, [&](Ledger&, unsigned t) {
        for (Word i = 0; i < 500; ++i)
            seen[t][static_cast<std::size_t>(i)] = recording.records.sites.find(
                recording.image(), {{0x1000 + i, 0, 0}}, unwind(nullptr, nullptr, 0x1000 + i, 1));
    });

    for (unsigned t = 1; t < threads; ++t) EXPECT_EQ(seen[t], seen[0]);
    EXPECT_EQ(records_of<format::Site>(recording.image(), format::TableType::sites).size(), 501u);
}

TEST(threads, what_threads_could_not_keep_is_counted_exactly) {
    Recording recording;
    constexpr unsigned calls = 20000;

    at_once(recording, [](Ledger& ledger, unsigned) {
        for (unsigned i = 0; i < calls; ++i) record(ledger, 8, static_cast<Ticks>(-1));
    });

    EXPECT_EQ(recording.drops().backwards, std::uint64_t{threads} * calls);
}

TEST(threads, tables_of_many_threads_do_not_overlap) {
    Recording recording;
    at_once(recording, [](Ledger& ledger, unsigned t) {
        for (unsigned i = 0; i < 500; ++i)
            record(ledger, Bytes{1} << (i % 40), Ticks{16} << (i % 20), {.site = some_site + t * 1000 + i});
    });

    auto tables = tables_of(recording.image());
    std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });

    for (std::size_t i = 1; i < tables.size(); ++i)
        EXPECT_GE(tables[i].offset,
                  tables[i - 1].offset + std::uint64_t{tables[i - 1].capacity} * tables[i - 1].record_size);
    EXPECT_LE(tables.back().offset + std::uint64_t{tables.back().capacity} * tables.back().record_size,
              recording.image().bytes());
}

// Handles as MPI's libraries give them out: a free one again at once, before the thread that has waited for its former
// meaning comes to book it, and one common handle for all that was complete when it was posted.
class Handles {
  public:
    static constexpr Word common = 0x9000;
    Word next() {
        const std::lock_guard lock(mutex_);
        if (free_.empty()) return 0;
        const Word handle = free_.back();
        free_.pop_back();
        return handle;
    }
    void posted(Word handle) {
        const std::lock_guard lock(mutex_);
        open_.push_front(handle);
    }
    // One to wait for; 0: there is none.
    Word take() {
        const std::lock_guard lock(mutex_);
        if (open_.empty()) return 0;
        const Word handle = open_.back();
        open_.pop_back();
        return handle;
    }
    void is_complete(Word handle) {
        const std::lock_guard lock(mutex_);
        if (handle != common) free_.push_back(handle);
    }

  private:
    std::mutex mutex_;
    std::vector<Word> free_{0x1000, 0x2000, 0x3000, 0x4000, 0x5000};
    std::deque<Word> open_;
};

TEST(threads, requests_that_any_thread_may_wait_for_are_booked_once_each) {
    Recording recording;
    recording.image().header().thread_level = 3;
    Handles handles;
    constexpr unsigned rounds = 4000;
    std::atomic<std::uint64_t> clock{1}, posted{0};

    at_once(recording, [&](Ledger& ledger, unsigned t) {
        const auto complete = [&] {
            const Word handle = handles.take();
            if (handle == 0) return false;
            const Ticks begin = clock++;
            handles.is_complete(handle);
            const Ticks end = clock++;
            int done = ledger.complete(handle, end, 0, end - begin);
            if (done == Requests::not_remembered) done = ledger.complete_of_others(handle, end, 0, end - begin);
            if (done == Requests::not_remembered) ledger.requests.count_unknown();
            return true;
        };
        for (unsigned i = 0; i < rounds; ++i) {
            const Memo& memo = record(ledger, 1000, 100, {.call = send});
            const Ticks since = clock++;
            const Word handle = (i + t) % 3 == 0 ? Handles::common : handles.next();
            if (handle != 0) {
                ledger.hand.begin(call_key(send, some_site), since);
                ledger.post(memo, handle, since);
                posted += 1;
                handles.posted(handle);
            }
            complete();
        }
        while (complete()) {
        }
    });

    std::uint64_t completed = 0;
    for (const auto& h : records_of<format::Histogram>(recording.image(), format::TableType::histograms))
        completed += h.completed;
    EXPECT_EQ(completed + recording.drops().requests, posted);
    EXPECT_EQ(recording.drops().requests, 0u);
    EXPECT_EQ(recording.drops().backwards, 0u);
    for (const auto& open : records_of<format::Request>(recording.image(), format::TableType::requests))
        EXPECT_EQ(open.handle, 0u) << "it is said to be open";
}

}  // namespace
}  // namespace mpiprof::test
