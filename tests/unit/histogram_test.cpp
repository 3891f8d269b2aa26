// Percentiles read back from recorded histograms, against those of the durations themselves.
#include "libmpiprof/format/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tests/unit/image_tables.h"
#include "tests/unit/recording.h"

namespace mpiprof::test {
namespace {

using Durations = std::vector<Ticks>;

Durations drawn(std::size_t n, const std::function<double(std::mt19937_64&)>& draw) {
    std::mt19937_64 random(4711);
    Durations durations(n);
    for (Ticks& ticks : durations) ticks = static_cast<Ticks>(std::max(0.0, draw(random)));
    return durations;
}

struct Distribution {
    const char* name;
    Durations durations;
};

std::vector<Distribution> distributions() {
    using Engine = std::mt19937_64;
    const auto lognormal = [](double m, double s) {
        return [=](Engine& e) { return std::lognormal_distribution<>(m, s)(e); };
    };
    return {
        {"one duration", {123456}},
        {"constant", Durations(1000, 777)},
        {"shortest", {0, 0, 1, 2, 3, 15, 16, 17}},
        {"uniform", drawn(20000, [](Engine& e) { return std::uniform_real_distribution<>(100, 1e6)(e); })},
        {"exponential", drawn(20000, [](Engine& e) { return std::exponential_distribution<>(1e-4)(e); })},
        {"latencies", drawn(20000, lognormal(8, 0.3))},
        {"long tail", drawn(20000, lognormal(10, 3))},
        {"two modes", drawn(20000, [](Engine& e) { return e() % 10 == 0 ? 5e9 + double(e() % 1000) : 900.0; })},
        {"years", {Ticks{1} << 61, Ticks{1} << 62, (Ticks{1} << 62) + 12345}},
    };
}

double exact_percentile(Durations durations, double share) {
    std::sort(durations.begin(), durations.end());
    return static_cast<double>(durations[static_cast<std::size_t>(share * double(durations.size() - 1))]);
}

TEST(histogram, percentiles_are_within_five_percent_whatever_the_distribution) {
    for (const auto& [name, durations] : distributions()) {
        Recording recording;
        for (const Ticks ticks : durations) record(*recording.ledger, 8, ticks);

        const auto histograms = records_of<format::Histogram>(recording.image(), format::TableType::histograms);
        ASSERT_EQ(histograms.size(), 1u) << name;
        const auto read_back = durations_in(recording.image(), histograms[0]);
        ASSERT_EQ(read_back.size(), durations.size()) << name;

        for (const double share : {0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
            const double truth = exact_percentile(durations, share);
            const double answer = read_back[static_cast<std::size_t>(share * double(read_back.size() - 1))];
            EXPECT_NEAR(answer, truth, 0.05 * truth) << name << ", percentile " << share * 100;
        }
    }
}

TEST(histogram, durations_below_sixteen_ticks_are_exact) {
    Recording recording;
    for (Ticks ticks = 0; ticks < 16; ++ticks) record(*recording.ledger, 8, ticks);

    const auto histogram = records_of<format::Histogram>(recording.image(), format::TableType::histograms).at(0);
    const auto read_back = durations_in(recording.image(), histogram);

    ASSERT_EQ(read_back.size(), 16u);
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(read_back[i], static_cast<double>(i));
}

TEST(histogram, buckets_neither_overlap_nor_leave_gaps) {
    std::uint64_t expected = 0;
    for (unsigned octave = 0; octave < format::histogram_octaves; ++octave)
        for (unsigned sub = 0; sub < format::histogram_sub_buckets; ++sub) {
            const std::uint64_t begin = format::bucket_begin(octave, sub);
            const std::uint64_t last = begin + format::bucket_width(octave) - 1;
            ASSERT_EQ(begin, expected);
            for (const std::uint64_t ticks : {begin, last}) {
                EXPECT_EQ(format::histogram_position(ticks).octave, octave);
                EXPECT_EQ(format::histogram_position(ticks).sub, sub);
            }
            expected = last + 1;
        }
    EXPECT_EQ(expected, 0u) << "the last bucket ends where 64 bits end";
}

TEST(histogram, an_octave_takes_room_when_its_first_duration_arrives) {
    Recording recording;
    const auto blocks = [&] {
        return records_of<format::HistogramBlock>(recording.image(), format::TableType::histogram_blocks).size();
    };
    record(*recording.ledger, 8, 1000);
    record(*recording.ledger, 8, 1001);
    EXPECT_EQ(blocks(), 1u);

    record(*recording.ledger, 8, 100000);

    EXPECT_EQ(blocks(), 2u);
}

}  // namespace
}  // namespace mpiprof::test
