// Size bins are mpitrace's: 0, then upper-inclusive powers of two from 4 on.
#include "libmpiprof/format/size_bins.h"

#include <gtest/gtest.h>

namespace mpiprof::format {
namespace {

TEST(size_bins, an_empty_message_has_a_bin_of_its_own) {
    EXPECT_EQ(size_bin(0), 0u);
    EXPECT_EQ(bin_max_bytes(0), 0u);
    EXPECT_NE(size_bin(1), size_bin(0));
}

TEST(size_bins, the_upper_end_belongs_to_the_bin) {
    EXPECT_EQ(bin_max_bytes(size_bin(4)), 4u);
    EXPECT_EQ(bin_max_bytes(size_bin(5)), 8u);
    EXPECT_EQ(bin_max_bytes(size_bin(8)), 8u);
    EXPECT_EQ(bin_max_bytes(size_bin(1024)), 1024u);
    EXPECT_EQ(bin_max_bytes(size_bin(1025)), 2048u);
}

TEST(size_bins, every_size_lies_in_exactly_one_bin) {
    for (unsigned shift = 0; shift < 64; ++shift) {
        const std::uint64_t power = std::uint64_t{1} << shift;
        for (const std::uint64_t bytes : {power - 1, power, power + 1}) {
            const unsigned bin = size_bin(bytes);

            ASSERT_LT(bin, size_bins);
            EXPECT_LE(bytes, bin_max_bytes(bin));
            if (bin > 0) {
                EXPECT_GT(bytes, bin_max_bytes(bin - 1));
            }
        }
    }
}

TEST(size_bins, three_gib_are_not_cut_to_32_bits) {
    const std::uint64_t bytes = std::uint64_t{3} << 30;

    EXPECT_EQ(bin_max_bytes(size_bin(bytes)), std::uint64_t{4} << 30);
}

}  // namespace
}  // namespace mpiprof::format
