// The ledger when something is full, its tables or the disk: sums stay exact, and the drop counters say what was not
// told apart.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "libmpiprof/record/ledger.h"
#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using format::Cell;
using format::TableType;

const Word stack[] = {some_site};  // where calls in these tests return to

constexpr unsigned bins_used = 50;
constexpr Bytes size_in_bin(unsigned bin) { return bin < 2 ? bin : Bytes{2} << bin; }

TEST(full_ledger, what_finds_no_cell_goes_to_its_calls_other_cell_and_no_sum_is_lost) {
    Recording recording;
    Sums expected{};

    for (int round = 0; round < 2; ++round)
        for (Word site = 0; site < 400; ++site)  // 20 000 kinds of call
            for (unsigned bin = 0; bin < bins_used; ++bin) {
                const Bytes bytes = size_in_bin(bin);
                record(*recording.ledger, bytes, 100, {.site = some_site + site});
                expected.calls += 1;
                expected.bytes += bytes;
                expected.ticks += 100;
            }

    EXPECT_EQ(sums_of(recording.image()), expected);
    std::uint64_t in_other = 0;
    std::vector<bool> bins(format::size_bins);
    for (const Cell& cell : cells_of(recording.image()))
        if (cell.site == 0) {
            EXPECT_EQ(cell.call, reduce) << "the call is still known";
            EXPECT_EQ(cell.communicator, 0);
            bins[cell.bin] = true;
            in_other += cell.calls;
        }
    EXPECT_GT(in_other, 0u);
    EXPECT_EQ(std::count(bins.begin(), bins.end(), true), bins_used) << "the size is still known";
    EXPECT_EQ(recording.drops().cells, in_other);
}

TEST(full_ledger, errors_that_find_no_cell_are_not_lost_either) {
    Recording recording;
    for (Word site = 0; site < 400; ++site)
        for (unsigned bin = 0; bin < bins_used; ++bin)
            record(*recording.ledger, size_in_bin(bin), 100, {.site = some_site + site});
    const std::uint64_t before = recording.drops().cells;

    for (int i = 0; i < 5; ++i) recording.ledger->add_error(call_key(send, some_site + 5000), 0, stack);

    EXPECT_EQ(sums_of(recording.image()).errors, 5u);
    EXPECT_EQ(recording.drops().cells, before + 5);
}

// A file that may grow to `segments` segments and no further.
class SmallDisk {
  public:
    explicit SmallDisk(unsigned segments) : fd_(memfd_create("profile", MFD_ALLOW_SEALING)) {
        // Sealed at its full size: space within it can be taken, none beyond.
        EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(segments) * format::segment_bytes), 0);
        EXPECT_EQ(fcntl(fd_, F_ADD_SEALS, F_SEAL_GROW), 0);
    }
    ~SmallDisk() { close(fd_); }
    int fd() const { return fd_; }

  private:
    int fd_;
};

TEST(full_ledger, on_a_full_disk_recording_goes_on_in_memory_and_sums_stay_exact) {
    const SmallDisk disk(2);
    Recording recording(disk.fd());
    ASSERT_NE(recording.ledger, nullptr);
    Sums expected{};

    for (int round = 0; round < 3; ++round)
        for (std::uint16_t call = 0; call < 3; ++call)
            for (Word site = 0; site < 300; ++site)
                for (unsigned bin = 0; bin < 20; ++bin) {
                    const Ticks ticks = Ticks{16} << bin;
                    record(*recording.ledger, size_in_bin(bin), ticks, {.call = call, .site = some_site + site});
                    expected.calls += 1;
                    expected.bytes += size_in_bin(bin);
                    expected.ticks += ticks;
                }

    EXPECT_EQ(sums_of(recording.image()), expected);
    EXPECT_TRUE(recording.image().has_unsaved());
    EXPECT_EQ(recording.drops().histograms, 0u);
    EXPECT_GT(recording.drops().cells, 0u) << "of so many sites some share their call's other cell, on any disk";
}

TEST(full_ledger, calls_that_find_not_even_an_other_cell_are_still_counted) {
    const SmallDisk disk(2);
    Recording recording(disk.fd());
    ASSERT_NE(recording.ledger, nullptr);
    while (recording.image().take(64)) {  // the disk is full before the first call
    }
    Sums expected{};

    for (int round = 0; round < 2; ++round)
        for (std::uint16_t call = 0; call < 3; ++call)
            for (unsigned bin = 0; bin < bins_used; ++bin) {
                record(*recording.ledger, size_in_bin(bin), 100, {.call = call});
                expected.calls += 1;
                expected.bytes += size_in_bin(bin);
                expected.ticks += 100;
            }

    EXPECT_EQ(sums_of(recording.image()), expected);
    std::uint64_t in_other = 0;
    for (const Cell& cell : cells_of(recording.image()))
        if (cell.communicator == 0) in_other += cell.calls;
    EXPECT_GT(in_other, 100u);
    EXPECT_EQ(recording.drops().cells, in_other);
}

TEST(full_ledger, an_overflow_is_named_once_in_the_dictionary) {
    Recording recording;
    const std::size_t room = recording.image().bytes();

    for (int i = 0; i < 1000; ++i) recording.records.publish_call(0xffff);  // what the last resort publishes

    EXPECT_EQ(names_in_dictionary(recording.image()), std::vector<std::string>{"(other calls)"});
    EXPECT_LT(recording.image().bytes(), room + 8192);
}

TEST(full_ledger, without_room_for_histograms_calls_are_counted_as_left_out) {
    const SmallDisk disk(2);
    Recording recording(disk.fd());
    ASSERT_NE(recording.ledger, nullptr);
    record(*recording.ledger, 8, 100);
    while (recording.image().take(64)) {
    }

    std::uint64_t calls = 1;
    for (int round = 0; round < 2; ++round)
        for (unsigned bin = 0; bin < bins_used; ++bin, ++calls) record(*recording.ledger, size_in_bin(bin), 100);

    std::uint64_t in_histograms = 0;
    for (const auto& histogram : records_of<format::Histogram>(recording.image(), TableType::histograms))
        in_histograms += durations_in(recording.image(), histogram).size();
    EXPECT_GT(in_histograms, 1u) << "a few were made with the first";
    EXPECT_GT(recording.drops().histograms, 0u);
    EXPECT_EQ(in_histograms + recording.drops().histograms, calls);
    EXPECT_EQ(sums_of(recording.image()).calls, calls);
}

TEST(full_ledger, a_thread_that_cannot_get_a_ledger_costs_no_memory) {
    const SmallDisk disk(1);
    Recording recording(disk.fd());
    ASSERT_NE(recording.ledger, nullptr);
    while (recording.image().take(64)) {
    }
    const auto pages = [] {  // of this process, as the kernel sees them
        std::ifstream statm("/proc/self/statm");
        long size = 0;
        statm >> size;
        return size;
    };
    ASSERT_EQ(Ledger::create(recording.records, 2, format::ThreadKind::other), nullptr);
    const long before = pages();

    for (int i = 0; i < 1000; ++i)  // as often as that thread makes a call
        ASSERT_EQ(Ledger::create(recording.records, 2, format::ThreadKind::other), nullptr);

    EXPECT_LE(pages(), before + 16);
}

}  // namespace
}  // namespace mpiprof::test
