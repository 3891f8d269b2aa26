// The rules of frames: read the short way where a description is as compilers make nearly all of them, the long way
// otherwise. Both have to say the same of every function of every object in this process.
#include "libmpiprof/record/frame_rules.h"

#include <gtest/gtest.h>
#include <link.h>
#include <string.h>

#include <vector>

namespace mpiprof::test {
namespace {

#if defined(__x86_64__)

// Where the functions of the loaded objects begin, by the sorted tables that their linkers made.
std::vector<Word> functions() {
    std::vector<Word> found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* argument) {
            auto& addresses = *static_cast<std::vector<Word>*>(argument);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME) continue;
                const auto header = static_cast<Word>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
                std::uint32_t count = 0;
                memcpy(&count, reinterpret_cast<const char*>(header) + 8, sizeof count);
                const auto* table = reinterpret_cast<const std::int32_t*>(header + 12);
                for (std::uint32_t f = 0; f < count; ++f) addresses.push_back(header + table[2 * f]);
            }
            return 0;
        },
        &found);
    return found;
}

bool are_alike(const FrameRule& a, const FrameRule& b) {
    return a.cfa == b.cfa && a.cfa_offset == b.cfa_offset && a.rbp == b.rbp && a.rbp_offset == b.rbp_offset;
}

TEST(frame_rules, read_the_short_way_are_those_read_the_long_way) {
    static FrameRules rules;
    ASSERT_TRUE(rules.begin(LibraryMoment::now()));
    std::size_t compared = 0, differing = 0;
    for (const Word begin : functions())
        for (const Word into : {0, 1, 4, 9, 30, 100, 300, 1000, 5000, 70000}) {
            const FrameRule quick = rules.find(begin + into, false), anew = FrameRules::read_anew(begin + into, false);
            ++compared;
            if (are_alike(quick, anew) || ++differing > 5) continue;
            ADD_FAILURE() << std::hex << begin << " + " << into;
        }
    rules.end();
    EXPECT_GT(compared, 10000u);
    EXPECT_EQ(differing, 0u);
}

#endif

}  // namespace
}  // namespace mpiprof::test
