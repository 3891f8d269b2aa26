// What CUPTI's records come to, handed over as CUPTI does: in any order, in several buffers, with what it could not
// measure.
#include "libmpiprof/gpu/cupti_records.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "libmpiprof/nccl/catalogue.h"
#include "tests/unit/image_tables.h"

namespace mpiprof::test {
namespace {

using namespace gpu;
using nccl::Id;

constexpr char nccl_kernel[] = "_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LLv";

// Buffers as the tests fill them: each record in a place of its own.
union Record {
    std::uint32_t kind;
    cupti::Kernel kernel;
    cupti::Memcpy copy;
    cupti::ExternalCorrelation link;
};
int next_record(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
    std::uint8_t* next = *record ? *record + sizeof(Record) : buffer;
    if (next + sizeof(Record) > buffer + valid) return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
    *record = next;
    return cupti::success;
}

Record kernel(std::uint32_t correlation, std::uint64_t start, std::uint64_t end, std::uint32_t device = 0) {
    Record r;
    std::memset(static_cast<void*>(&r), 0, sizeof r);
    r.kernel.kind = cupti::concurrent_kernel;
    r.kernel.start = start;
    r.kernel.end = end;
    r.kernel.device = device;
    r.kernel.correlation = correlation;
    r.kernel.name = nccl_kernel;
    return r;
}
Record link(std::uint64_t number, std::uint32_t correlation) {
    Record r;
    std::memset(static_cast<void*>(&r), 0, sizeof r);
    r.link = {cupti::external_correlation, cupti::external_ids, number, correlation};
    return r;
}

// Times of all tests are in one profile, each test's on a communicator of its own.
struct cupti_records : testing::Test {
    static void SetUpTestSuite() {
        if (runtime.records().image.bytes() == 0) {
            ASSERT_TRUE(runtime.records().image.open_private());
        }
        runtime.records().open(whole_catalogue);
    }
    void SetUp() override { ASSERT_TRUE(records->open()); }

    std::uint64_t launch(std::uint64_t collective = 0) {
        const std::uint32_t devices[] = {0};
        const std::uint64_t number = records->number(devices, 1);
        records->describe(
            number, {static_cast<std::uint16_t>(Id::AllReduce), 3, communicator, 0, 1000, 0, collective, communicator});
        return number;
    }
    void hand_over(std::vector<Record> buffer) {
        records->parse(next_record, reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size() * sizeof(Record));
    }
    // Of this test's communicator; all 0 where nothing was booked.
    format::GpuTime booked() const {
        format::GpuTime found{};
        for (const auto& t : records_of<format::GpuTime>(image(), format::TableType::gpu_times))
            if (t.communicator == communicator) found = t;
        return found;
    }
    // The times in the histogram of what was booked, each by the middle of its bucket.
    std::vector<double> in_histogram() const {
        return durations_in(
            image(), *reinterpret_cast<const format::Histogram*>(image().at(std::uint64_t{booked().histogram} * 8)));
    }
    static void is_about(double found, double expected) { EXPECT_NEAR(found, expected, expected / 32); }
    static Image& image() { return runtime.records().image; }

    std::unique_ptr<CuptiRecords> records = std::make_unique<CuptiRecords>();
    const std::uint16_t communicator = ++last_communicator;
    static inline std::uint16_t last_communicator = 0;
};

TEST_F(cupti_records, a_launch_is_as_long_as_from_its_first_kernel_to_its_last) {
    const auto number = launch();
    hand_over({link(number, 1), link(number, 2), kernel(1, 1'000'000, 1'004'000), kernel(2, 1'003'000, 1'010'000)});

    EXPECT_EQ(booked().operations, 1);
    EXPECT_EQ(booked().kernels, 2);
    EXPECT_EQ(booked().ns, 10'000);
}

TEST_F(cupti_records, a_kernel_that_comes_later_lengthens_what_was_booked_everywhere) {
    const std::uint64_t collective = times.enqueue(communicator);
    const auto number = launch(collective);
    hand_over({link(number, 1), kernel(1, 1'000'000, 1'004'000)});
    ASSERT_EQ(booked().ns, 4'000);

    hand_over({link(number, 2), kernel(2, 1'004'000, 1'100'000)});

    const format::GpuTime time = booked();
    EXPECT_EQ(time.operations, 1);
    EXPECT_EQ(time.kernels, 2);
    EXPECT_EQ(time.ns, 100'000);
    EXPECT_EQ(time.min_ns, 100'000);
    EXPECT_EQ(time.max_ns, 100'000);
    ASSERT_EQ(in_histogram().size(), 1);
    is_about(in_histogram()[0], 100'000);
    for (const auto& s : records_of<format::GpuSequence>(image(), format::TableType::gpu_sequences))
        if (s.communicator == communicator) {
            EXPECT_EQ(s.us16[0], 1600) << "in the sequence, too";
        }
}

TEST_F(cupti_records, one_of_several_that_is_lengthened_leaves_the_others_as_they_were) {
    const auto first = launch(), second = launch();
    hand_over({link(first, 1), kernel(1, 1'000'000, 1'004'000), link(second, 2), kernel(2, 2'000'000, 2'008'000)});

    hand_over({link(second, 3), kernel(3, 2'008'000, 2'020'000)});

    EXPECT_EQ(booked().operations, 2);
    EXPECT_EQ(booked().ns, 24'000);
    EXPECT_EQ(booked().min_ns, 4'000);
    EXPECT_EQ(booked().max_ns, 20'000);
    ASSERT_EQ(in_histogram().size(), 2);
    is_about(in_histogram()[0], 4'000);
    is_about(in_histogram()[1], 20'000);
}

TEST_F(cupti_records, a_kernel_within_what_was_booked_changes_no_time) {
    const auto number = launch();
    hand_over({link(number, 1), kernel(1, 1'000'000, 1'004'000)});

    hand_over({link(number, 2), kernel(2, 1'001'000, 1'002'000)});

    EXPECT_EQ(booked().ns, 4'000);
    EXPECT_EQ(booked().kernels, 2);
    ASSERT_EQ(in_histogram().size(), 1);
    is_about(in_histogram()[0], 4'000);
}

TEST_F(cupti_records, a_kernel_whose_times_cupti_could_not_take_lengthens_nothing) {
    const auto number = launch();
    hand_over({link(number, 1), link(number, 2), link(number, 3), kernel(1, 0, 0),
               kernel(2, 1'790'000'000'000'000'000, 1'790'000'000'000'004'000),
               kernel(3, 1'790'000'000'000'009'000, 1'790'000'000'000'008'000)});

    EXPECT_EQ(booked().operations, 1);
    EXPECT_EQ(booked().ns, 4'000);
    EXPECT_EQ(booked().kernels, 1);
}

TEST_F(cupti_records, a_record_that_ends_before_it_begins_is_no_giant_time) {
    const auto number = launch();
    hand_over({link(number, 1), kernel(1, 5'000'000, 4'000'000)});
    records->finish();

    EXPECT_EQ(booked().operations, 0);
    EXPECT_EQ(records->unfinished(), 1);
    for (const auto& work : records_of<format::GpuWork>(image(), format::TableType::gpu_work)) {
        EXPECT_LT(work.ns, 1'000'000'000);
    }
}

TEST_F(cupti_records, ten_thousand_kernels_may_come_before_the_records_that_say_whose_they_are) {
    std::vector<std::uint64_t> numbers;
    std::vector<Record> kernels, links;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        numbers.push_back(launch());
        kernels.push_back(kernel(i + 1, 1'000'000 + i * 10'000, 1'003'000 + i * 10'000));
        links.push_back(link(numbers.back(), i + 1));
    }

    hand_over(kernels);
    hand_over(links);

    EXPECT_EQ(booked().operations, 10'000);
    EXPECT_EQ(booked().ns, 30'000'000);
    EXPECT_EQ(booked().max_ns, 3'000);
    records->finish();
    EXPECT_EQ(records->unfinished(), 0);
}

TEST_F(cupti_records, what_is_under_way_at_the_end_of_a_profile_counts_when_it_comes) {
    const auto number = launch();
    records->finish();
    EXPECT_EQ(records->unfinished(), 1);

    hand_over({link(number, 1), kernel(1, 1'000'000, 1'004'000)});
    records->finish();

    EXPECT_EQ(booked().operations, 1);
    EXPECT_EQ(records->unfinished(), 0);
}

TEST_F(cupti_records, more_launches_under_way_than_there_is_room_for_are_counted) {
    for (int i = 0; i < 40'000; ++i) launch();
    records->finish();

    EXPECT_EQ(booked().operations, 0);
    EXPECT_EQ(records->unfinished(), 40'000);
}

}  // namespace
}  // namespace mpiprof::test
