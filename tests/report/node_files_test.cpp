// A file a node (MPIPROF_FILES=node): whatever is asked of the job has the answer that a file a rank gives.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <regex>

#include "libmpiprof/format/node_file.h"
#include "report/analysis/analysed.h"
#include "report/merge/merge.h"
#include "report/read/profile_reader.h"
#include "report/sections/section.h"
#include "report/views/view.h"
#include "tests/report/all_stories.h"
#include "tests/report/living_rank.h"
#include "tests/report/node_job.h"
#include "tests/report/run_reporter.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;
namespace node = format::node_file;
using report::Found;
using report::Job;

class node_files : public NodeJob {};

std::string all_sections(const Job& job, const char* view) {
    std::string text;
    for (const auto& section : report::sections()) {
        report::Question question;
        question.is_for_screen = std::string_view(view) == "text";
        const auto tables = section.answer(job, question);
        text += std::string(section.name) + ":\n";
        text += tables ? report::find_view(view)->show({section.name, *tables}, {.width = 100, .has_utf8 = true})
                       : tables.error().line();
    }
    return text;
}

TEST_F(node_files, give_every_answer_that_files_of_ranks_give) {
    for (const Story& story : all_stories()) {
        const fs::path ranks = path() / story.name, nodes = path() / (std::string(story.name) + "-nodes");
        write(story.ranks(), story.name);
        as_node_files(ranks, nodes);
        const Job from_ranks = job_of(ranks), from_nodes = job_of(nodes);
        ASSERT_FALSE(from_ranks.ranks.empty());
        for (const char* view : {"text", "json"})
            EXPECT_EQ(all_sections(from_nodes, view), all_sections(from_ranks, view)) << story.name;
    }
}

TEST_F(node_files, are_operands_of_every_command) {
    const std::regex path_of_file(R"("path": "[a-z]+/mpi_profile[^"]*", )");
    for (const bool is_killed : {false, true}) {
        fs::remove_all(path() / "ranks");
        fs::remove_all(path() / "nodes");
        write_both(is_killed ? killed_in_receive() : balanced_stencil());
        const std::vector<std::vector<std::string>> commands{{"summary"},
                                                             {"calls", "--rank", "1"},
                                                             {"sites", "--rank", "0-2"},
                                                             {"text", "--rank", "all"},
                                                             {"export", "-f", "csv"},
                                                             {"export", "-f", "json"},
                                                             {"export", "-f", "folded"},
                                                             {"export", "-f", "line"},
                                                             {"hang"},
                                                             {"check"},
                                                             {"watch"}};
        for (std::vector<std::string> words : commands) {
            words.emplace_back("ranks");
            const Ran ranks = run(words);
            words.back() = "nodes";
            const Ran nodes = run(words);
            EXPECT_EQ(std::regex_replace(answer_of(nodes), path_of_file, ""),
                      std::regex_replace(answer_of(ranks), path_of_file, ""))
                << words[0];
            EXPECT_EQ(nodes.err, ranks.err) << words[0];
            EXPECT_EQ(nodes.code, ranks.code) << words[0];
        }
    }
}

TEST_F(node_files, are_merged_and_split_to_the_bytes_of_files_of_ranks) {
    write_both(balanced_stencil());
    const Ran merged = run({"merge", "-o", "one.mpiprof", "nodes"});
    ASSERT_EQ(merged.code, 0) << merged.err;
    EXPECT_EQ(answer_of(run({"summary", "one.mpiprof"})), answer_of(run({"summary", "ranks"})));
    for (const char* from : {"nodes", "one.mpiprof", "ranks"}) {
        const std::string to = std::string(from) + "-split";
        const Ran split = run({"split", "-o", to, from});
        EXPECT_EQ(split.code, 0) << split.err;
        EXPECT_NE(split.err.find("8 of 8 ranks, "), std::string::npos) << split.err;
        for (const auto& entry : fs::directory_iterator(path() / "ranks"))
            EXPECT_EQ(bytes_of(path() / to / entry.path().filename()), bytes_of(entry.path())) << entry.path();
        EXPECT_EQ(std::distance(fs::directory_iterator(path() / to), {}), 8);
    }
    const Ran again = run({"split", "-o", "nodes-split", "nodes"});
    EXPECT_EQ(again.code, 1) << "nothing is overwritten";
    EXPECT_NE(again.err.find("nodes-split/mpi_profile.4711.0: cannot be written: File exists"), std::string::npos)
        << again.err;
    EXPECT_EQ(run({"split", "-q", "--rank", "1,3", "-o", "some", "nodes"}).code, 0);
    EXPECT_EQ(std::distance(fs::directory_iterator(path() / "some"), {}), 2);
    EXPECT_EQ(run({"split", "--rank", "9", "-o", "none", "nodes"}).code, 2);
    EXPECT_FALSE(fs::exists(path() / "none"));
}

TEST_F(node_files, stand_beside_files_of_ranks_of_the_same_launch) {
    write_both(balanced_stencil());
    const std::string whole = answer_of(run({"summary", "ranks"}));
    // Rank 3 kept a file of its own, as one whose range was taken does.
    const fs::path first = path() / "nodes/mpi_profile.4711.node000000000001";
    change(first, node::claim_offset(3), Bytes(sizeof(node::Claim)));
    change(first, node::place_of(3).of(0), Bytes(format::segment_bytes));
    EXPECT_NE(run({"summary", "nodes"}).out.find("INCOMPLETE: 7 of 8 ranks"), std::string::npos);
    fs::copy(path() / "ranks/mpi_profile.4711.3", path() / "nodes/mpi_profile.4711.3");
    const Ran ran = run({"summary", "nodes"});
    EXPECT_EQ(answer_of(ran), whole);
    EXPECT_EQ(ran.err, "");
}

TEST_F(node_files, of_several_launches_are_told_apart) {
    write_both(balanced_stencil());
    std::vector<ProfileSpec> other = balanced_stencil();
    for (ProfileSpec& rank : other) {
        rank.launch = "pmix:4711.1";
        rank.start_realtime_ns += 1'000'000'000;
    }
    write(other, "others");
    as_node_files(path() / "others", path() / "more");
    for (const auto& entry : fs::directory_iterator(path() / "more"))
        fs::rename(entry.path(), path() / "nodes" / (entry.path().filename().string() + "f"));
    const Found found = find("nodes");
    ASSERT_EQ(found.launches.size(), 2u);
    EXPECT_EQ(found.launches[0].launch, "pmix:4711.1");
    EXPECT_EQ(found.launches[0].files.size(), 8u);
    EXPECT_EQ(found.launches[1].files.size(), 8u);
}

TEST_F(node_files, of_a_running_job_show_who_runs) {
    LivingRank rank;
    write_both({rank.profile()});
    EXPECT_EQ(job_of(path() / "nodes").ranks[0].life, report::Life::running);
    rank.end();
    EXPECT_EQ(job_of(path() / "nodes").ranks[0].life, report::Life::ended);
}

// Five ranges of a segment each lie between the first and the second part of an image.
TEST_F(node_files, hold_images_of_any_size) {
    ProfileSpec spec = balanced_stencil()[0];
    spec.size = 1;
    for (int i = 0; i < 4000; ++i) spec.labels.emplace_back("key" + std::to_string(i), "value");
    write_both({spec});
    const Bytes whole = bytes_of(path() / "ranks/mpi_profile.4711.0");
    ASSERT_GT(whole.size(), 5u * format::segment_bytes);
    ASSERT_EQ(run({"-q", "split", "-o", "split", "nodes"}).code, 0);
    EXPECT_EQ(bytes_of(path() / "split/mpi_profile.4711.0"), whole);
}

TEST_F(node_files, longer_than_a_profile_can_be_are_read) {
    const fs::path file = write_one_node(balanced_stencil());
    fs::resize_file(file, std::uintmax_t{6} << 30);  // as the image of one rank would make it: nothing is written
    EXPECT_EQ(answer_of(run({"summary", "nodes"})), answer_of(run({"summary", "ranks"})));
}

// What mpiprof-report said of other formats before there were files of nodes.
TEST_F(node_files, are_refused_by_an_older_reporter_with_what_to_do) {
    const Bytes bytes = bytes_of(write_one_node(balanced_stencil()));
    const auto head = report::read_head(std::span(bytes).first(report::head_bytes), bytes.size(), "x.node1");
    ASSERT_FALSE(head);
    EXPECT_EQ(head.error().line(),
              "x.node1: has format 2, this mpiprof-report reads format 1; use the mpiprof-report that came with the "
              "library that wrote it");
    const fs::path later = path() / "nodes/mpi_profile.4711.later";
    Bytes changed(bytes.begin(), bytes.begin() + 8192);
    changed[24] = std::byte{'3'};
    overwrite(changed, offsetof(node::Header, format_major), std::uint16_t{3});
    write_file(later, changed);
    const Ran ran = run({"check", later});
    EXPECT_NE((ran.out + ran.err).find("has format 3, this mpiprof-report reads format 1"), std::string::npos);
}

}  // namespace
}  // namespace mpiprof::test
