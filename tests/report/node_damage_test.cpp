// Damage to a node's file (MPIPROF_FILES=node) loses the ranks in whose ranges it is and no others, and each is said
// once.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "report/merge/merge.h"
#include "tests/report/node_job.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
namespace node = format::node_file;
using report::Found;

class node_damage : public NodeJob {};

Bytes junk(std::size_t bytes) { return Bytes(bytes, std::byte{0xa5}); }

TEST_F(node_damage, with_a_damaged_range_lose_that_rank_and_no_other) {
    const auto others = [](std::uint32_t lost) {
        std::vector<std::uint32_t> ranks;
        for (std::uint32_t rank = 0; rank < 8; ++rank)
            if (rank != lost) ranks.push_back(rank);
        return ranks;
    };
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        fs::remove_all(path() / "nodes");
        const fs::path file = write_one_node(balanced_stencil());
        change(file, node::place_of(rank).of(0), junk(format::segment_bytes));
        const Found found = find("nodes");
        EXPECT_EQ(ranks_of(found), others(rank));
        ASSERT_EQ(found.problems.size(), 1u);
        EXPECT_EQ(
            found.problems[0],
            fmt::format("{}, range {}: is damaged: no profile begins at byte {} of the file; rank {} is left out; "
                        "copy it again",
                        file.string(), rank, node::place_of(rank).begin, rank));
    }
}

constexpr const char* no_head = ": is damaged at its beginning, which holds no rank; its ranks are read; copy it again";

// What lies before the ranges: no rank is lost, and it is said where nothing else tells that this is a node's file.
TEST_F(node_damage, before_the_ranges_loses_no_rank) {
    const struct {
        const char* what;
        std::uint64_t from;
        std::size_t bytes;
        bool is_said;
    } blocks[]{{"first letter", 0, 1, true},
               {"first line", 0, sizeof(node::first_line), true},
               {"number of the format in the first line", 24, 1, false},
               {"header", 0, sizeof(node::Header), true},
               {"header behind its first letters", 20, 100, true},
               {"header behind its first line", 96, 24, false},
               {"header and a part of the claims", 0, 8192, true},
               {"claims", node::claims_offset, 16384, false},
               {"all but the first line", sizeof(node::first_line), 65536 - sizeof(node::first_line), false},
               {"all", 0, format::segment_bytes, true}};
    const fs::path file = write_one_node(balanced_stencil());
    const std::string whole = run({"calls", "--details", "ranks"}).out;
    const Bytes bytes = bytes_of(file);
    for (const auto& block : blocks)
        for (const Bytes& with : {junk(block.bytes), Bytes(block.bytes)}) {
            change(file, block.from, with);
            const Ran ran = run({"calls", "--details", "nodes"});
            EXPECT_EQ(ran.out, whole) << block.what;
            const std::string line = "mpiprof-report: nodes/" + file.filename().string() + no_head + "\n";
            EXPECT_EQ(ran.err, block.is_said ? line : "") << block.what;
            change(file, 0, Bytes(bytes.begin(), bytes.begin() + format::segment_bytes));
        }
}

// Each page of each image, and the same of files of ranks: what is read, and what is said.
TEST_F(node_damage, of_any_page_is_what_it_is_to_a_file_of_the_rank) {
    const fs::path file = write_one_node(balanced_stencil());
    const std::regex path_of_file(R"([^ ]*(mpi_profile\.4711\.\d+|mpi_profile\.4711\.node\w+, range \d+): )");
    for (const std::uint32_t rank : {0u, 3u, 7u}) {
        const fs::path own = path() / "ranks" / fmt::format("mpi_profile.4711.{}", rank);
        const Bytes image = bytes_of(own);
        for (std::size_t at = 0; at < image.size(); at += 4096)
            for (const bool is_junk : {true, false}) {
                const std::size_t bytes = std::min<std::size_t>(4096, image.size() - at);
                const Bytes with = is_junk ? junk(bytes) : Bytes(bytes);
                change(own, at, with);
                change(file, node::place_of(rank).of(at), with);
                const Found of_ranks = find("ranks"), of_node = find("nodes");
                EXPECT_EQ(ranks_of(of_node), ranks_of(of_ranks)) << rank << " at " << at;
                EXPECT_EQ(of_node.problems.size(), of_ranks.problems.size()) << rank << " at " << at;
                const Ran from_ranks = run({"calls", "--details", "ranks"}),
                          from_node = run({"calls", "--details", "nodes"});
                EXPECT_EQ(from_node.out, from_ranks.out) << rank << " at " << at;
                if (at != 0) {
                    EXPECT_EQ(std::regex_replace(from_node.err, path_of_file, ""),
                              std::regex_replace(from_ranks.err, path_of_file, ""));
                }
                const Bytes before(image.begin() + static_cast<std::ptrdiff_t>(at),
                                   image.begin() + static_cast<std::ptrdiff_t>(at + bytes));
                change(own, at, before);
                change(file, node::place_of(rank).of(at), before);
            }
    }
}

TEST_F(node_damage, to_the_beginning_and_to_ranges_says_each_once) {
    const fs::path file = write_one_node(balanced_stencil());
    change(file, 0, junk(4096));
    change(file, node::place_of(2).begin, Bytes(4096));  // the rest of its image is there: nobody was killed so early
    change(file, node::claim_offset(5), junk(sizeof(node::Claim)));
    change(file, node::place_of(5).begin, junk(4096));
    const Found found = find("nodes");
    EXPECT_EQ(ranks_of(found), (std::vector<std::uint32_t>{0, 1, 3, 4, 6, 7}));
    ASSERT_EQ(found.problems.size(), 3u);
    EXPECT_EQ(found.problems[0], file.string() + no_head);
    EXPECT_EQ(found.problems[1],
              fmt::format("{}, range 2: is damaged: no profile begins at byte 196608 of the file; rank "
                          "2 is left out; copy it again",
                          file.string()));
    EXPECT_EQ(found.problems[2],
              fmt::format("{}, range 5: is damaged: no profile begins at byte 393216 of the file; its "
                          "rank is left out; copy it again",
                          file.string()));
    const Ran ran = run({"check", "nodes"});
    EXPECT_EQ(ran.code, 1);
    for (const std::string& line : found.problems)
        EXPECT_NE(ran.out.find(line.substr(line.find(": is damaged"))), std::string::npos) << ran.out;
}

// Whoever has the beginning alone is told what a rank's file would be told.
TEST_F(node_damage, that_leaves_no_profile_is_no_node_file) {
    const fs::path file = write_one_node(balanced_stencil());
    change(file, 0, junk(fs::file_size(file)));
    const Found found = find("nodes");
    EXPECT_TRUE(found.launches.empty());
    ASSERT_EQ(found.problems.size(), 1u);
    EXPECT_NE(found.problems[0].find(": is not a profile; profiles begin with"), std::string::npos)
        << found.problems[0];
}

// Ranges of the same place may hold something else there.
TEST_F(node_damage, is_not_taken_for_another_format) {
    const fs::path file = write_one_node(balanced_stencil());
    change(file, 24, {std::byte{'3'}});
    change(file, offsetof(node::Header, format_major), {std::byte{3}});
    const Found found = find("nodes");
    EXPECT_TRUE(found.launches.empty());
    ASSERT_EQ(found.problems.size(), 1u);
    EXPECT_NE(found.problems[0].find("has format 3, this mpiprof-report reads format 1"), std::string::npos);
}

TEST_F(node_damage, of_a_file_longer_than_a_profile_can_be_loses_no_rank) {
    const fs::path file = write_one_node(balanced_stencil());
    fs::resize_file(file, std::uintmax_t{6} << 30);
    change(file, 0, Bytes(4096));
    EXPECT_EQ(ranks_of(find("nodes")).size(), 8u);
}

TEST_F(node_damage, any_changed_bytes_are_read_or_refused_without_harm) {
    const fs::path file = write_one_node(killed_in_receive());
    const Bytes whole = bytes_of(file);
    const auto ranks = ranks_of(find("nodes"));
    std::uint64_t random = 1;
    const auto next = [&](std::uint64_t below) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (random >> 33) % below;
    };
    for (int round = 0; round < 400; ++round) {
        const auto rank = static_cast<std::uint32_t>(next(3));
        const std::uint64_t at = node::place_of(rank).of(next(8192));
        const Bytes before(whole.begin() + static_cast<std::ptrdiff_t>(at),
                           whole.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        change(file, at, {static_cast<std::byte>(next(256))});
        report::Progress progress;
        const Found found = find("nodes");
        for (const report::Launch& launch : found.launches) (void)report::merge(launch, 1, progress);
        auto left = ranks_of(found);
        for (const std::uint32_t other : ranks)
            if (other != ranks[rank]) {
                EXPECT_NE(std::find(left.begin(), left.end(), other), left.end())
                    << "rank " << other << ", byte " << at;
            }
        change(file, at, before);
    }
}

TEST_F(node_damage, that_are_cut_off_keep_the_ranks_before_the_cut) {
    const fs::path file = write_one_node(balanced_stencil());
    const std::uintmax_t size = fs::file_size(file);
    std::size_t before = 8;
    for (std::uintmax_t length = size; length > 0; length = length > 20011 ? length - 20011 : 0) {
        fs::resize_file(file, length);
        const Found found = find("nodes");
        const std::size_t ranks = ranks_of(found).size();
        EXPECT_LE(ranks, before);
        EXPECT_GE(ranks + found.problems.size(), length > format::segment_bytes ? 8u : 1u) << length;
        for (std::uint32_t rank = 0; rank < 8; ++rank) {
            const auto bytes = fs::file_size(path() / "ranks" / fmt::format("mpi_profile.4711.{}", rank));
            if (node::place_of(rank).of(0) + bytes <= length) {
                EXPECT_GT(ranks, rank) << length;
            }
        }
        before = ranks;
    }
    EXPECT_EQ(before, 0u);
}

TEST_F(node_damage, say_which_range_was_claimed_by_a_rank_that_wrote_nothing) {
    const fs::path file = write_one_node(balanced_stencil());
    change(file, node::place_of(7).of(0), Bytes(format::segment_bytes));
    const Found found = find("nodes");
    EXPECT_EQ(ranks_of(found).size(), 7u);
    ASSERT_EQ(found.problems.size(), 1u);
    EXPECT_NE(found.problems[0].find(", range 7: contains only zeros; its rank ended before recording began"),
              std::string::npos)
        << found.problems[0];
    fs::remove(file);
    begin_node_file(file);
    EXPECT_NE(
        run({"summary", "nodes"}).err.find("holds no profile; the ranks of its node ended before recording began"),
        std::string::npos);
}

// The end of a killed rank's image was never written; another rank's makes the file longer.
TEST_F(node_damage, of_a_full_disk_give_what_a_file_of_the_rank_gives) {
    Bytes profile = build(killed_in_receive()[0]);
    const std::uint64_t mapped = (profile.size() / 2 + 4095) / 4096 * 4096;
    ASSERT_LT(mapped, profile.size());
    overwrite(profile, offsetof(format::Header, mapped_bytes), mapped);
    Bytes cut(profile.begin(), profile.begin() + static_cast<std::ptrdiff_t>(mapped));
    fs::create_directories(path() / "ranks");
    write_file(path() / "ranks/mpi_profile.4711.0", cut);
    fs::create_directories(path() / "nodes");
    const fs::path file = path() / "nodes/mpi_profile.4711.node1";
    begin_node_file(file);
    put_into_range(file, 1, cut);
    fs::resize_file(file, node::place_of(1).of(profile.size() + 100000));
    const Ran ranks = run({"export", "-f", "csv", "ranks"}), nodes = run({"export", "-f", "csv", "nodes"});
    EXPECT_EQ(nodes.out, ranks.out);
    EXPECT_NE(run({"check", "nodes"}).out.find("the disk was full"), std::string::npos);
    EXPECT_EQ(answer_of(run({"check", "nodes"})), answer_of(run({"check", "ranks"})));
}

}  // namespace
}  // namespace mpiprof::test
