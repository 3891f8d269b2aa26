// For how long other kernels hide those of NCCL, against counting every nanosecond.
#include "libmpiprof/gpu/overlap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace mpiprof::test {
namespace {

struct Kernel {
    std::uint32_t device;
    std::uint64_t start, end;
    bool is_nccl;
};
using Portions = std::vector<std::vector<Kernel>>;
using Hidden = std::map<std::uint32_t, std::uint64_t>;
using Known = gpu::Overlap::Known;

void turn(gpu::Overlap& overlap, std::map<std::uint32_t, Known>& sums) {
    Known known[gpu::Overlap::most_devices];
    const unsigned n = overlap.turn(known);
    for (const Known* k = known; k < known + n; ++k) {
        Known& sum = sums[k->device];
        sum.hidden += k->hidden;
        sum.nccl += k->nccl;
        sum.nccl_hidden += k->nccl_hidden;
        sum.recorded += k->recorded;
        sum.any += k->any;
    }
}

std::map<std::uint32_t, Known> all_told(gpu::Overlap& overlap, const Portions& portions) {
    EXPECT_TRUE(overlap.open());
    std::map<std::uint32_t, Known> sums;
    for (const auto& portion : portions) {
        for (const Kernel& k : portion) overlap.add(k.device, k.start, k.end, k.is_nccl);
        turn(overlap, sums);
    }
    turn(overlap, sums);
    return sums;
}

Hidden told(const Portions& portions) {
    gpu::Overlap overlap;
    Hidden hidden;
    for (const auto& [device, known] : all_told(overlap, portions))
        if (known.hidden != 0) hidden[device] = known.hidden;
    return hidden;
}

// Of a device: nanoseconds with a kernel, with one of NCCL's, with both, and from the first to the last.
std::vector<std::uint64_t> by_hand(const Portions& portions, std::uint32_t device) {
    std::map<std::uint64_t, unsigned> at;
    for (const auto& portion : portions)
        for (const Kernel& k : portion)
            for (std::uint64_t ns = k.start; k.device == device && ns < k.end; ++ns) at[ns] |= k.is_nccl ? 2 : 1;
    std::vector<std::uint64_t> sums(4);
    for (const auto& [ns, what] : at) {
        sums[0] += 1;
        sums[1] += (what & 2) != 0;
        sums[2] += what == 3;
    }
    sums[3] = at.empty() ? 0 : at.rbegin()->first + 1 - at.begin()->first;
    return sums;
}

// A kernel of NCCL in one portion and any other in it or beside it, nanosecond by nanosecond.
Hidden counted(const Portions& portions) {
    Hidden hidden;
    for (std::size_t p = 0; p < portions.size(); ++p)
        for (const Kernel& nccl : portions[p]) {
            if (!nccl.is_nccl) continue;
            for (std::uint64_t ns = nccl.start; ns < nccl.end; ++ns) {
                bool is_hidden = false;
                for (std::size_t q = p ? p - 1 : 0; q <= p + 1 && q < portions.size(); ++q)
                    for (const Kernel& k : portions[q])
                        is_hidden |= !k.is_nccl && k.device == nccl.device && k.start <= ns && ns < k.end;
                hidden[nccl.device] += is_hidden;
            }
        }
    std::erase_if(hidden, [](const auto& pair) { return pair.second == 0; });
    return hidden;
}

TEST(overlap, is_what_other_kernels_cover_on_the_same_device) {
    const Portions portions{{{0, 100, 200, true}, {0, 50, 120, false}, {0, 180, 300, false}, {1, 100, 200, false}}};

    EXPECT_EQ(told(portions), (Hidden{{0, 40}}));
}

TEST(overlap, kernels_that_are_told_later_or_earlier_count_once) {
    const Portions portions{{{0, 0, 150, false}},
                            {{0, 100, 400, true}, {0, 120, 160, false}},
                            {{0, 140, 200, false}, {0, 350, 500, false}}};

    EXPECT_EQ(told(portions), (Hidden{{0, 150}}));
}

TEST(overlap, agrees_with_counting_for_any_kernels_in_any_order) {
    std::mt19937 random(4711);
    const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    for (int round = 0; round < 200; ++round) {
        Portions portions(1 + draw(5));
        for (std::size_t p = 0; p < portions.size(); ++p)
            for (unsigned i = draw(30); i > 0; --i) {
                const std::uint64_t start = 300 * p + draw(500);
                portions[p].push_back({draw(2), start, start + draw(80), draw(3) == 0});
            }

        EXPECT_EQ(told(portions), counted(portions)) << "round " << round;
    }
}

TEST(overlap, how_long_a_device_was_busy_agrees_with_counting) {
    std::mt19937 random(815);
    const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    for (int round = 0; round < 200; ++round) {
        Portions portions(1 + draw(5));
        for (std::size_t p = 0; p < portions.size(); ++p)
            for (unsigned i = draw(30); i > 0; --i) {
                const bool is_nccl = draw(3) == 0;
                const std::uint64_t start = 300 * p + draw(is_nccl ? 200 : 500);
                portions[p].push_back({draw(2), start, start + 1 + draw(80), is_nccl});
            }
        gpu::Overlap overlap;

        for (const auto& [device, known] : all_told(overlap, portions))
            EXPECT_EQ((std::vector{known.any, known.nccl, known.nccl_hidden, known.recorded}),
                      by_hand(portions, device))
                << "round " << round << ", device " << device;
    }
}

TEST(overlap, a_time_in_which_nothing_was_recorded_is_not_idle) {
    gpu::Overlap overlap;
    auto sums = all_told(overlap, {{{0, 100, 200, true}, {0, 300, 350, false}}});
    overlap.begin_stretch();
    for (const auto& [device, known] : all_told(overlap, {{{0, 9000, 9100, false}}})) {
        sums[device].recorded += known.recorded;
        sums[device].any += known.any;
    }

    EXPECT_EQ(sums[0].recorded, 250 + 100);
    EXPECT_EQ(sums[0].any, 150 + 100);
}

TEST(overlap, more_kernels_than_there_is_room_for_do_no_harm) {
    Portions portions(1);
    for (std::uint64_t i = 0; i < 20000; ++i) portions[0].push_back({0, 20000 - i, 20001 - i, i % 2 == 0});

    EXPECT_LE(told(portions)[0], 8192u);
}

}  // namespace
}  // namespace mpiprof::test
