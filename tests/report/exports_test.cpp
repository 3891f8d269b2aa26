// Exports that are text of lines: labels in a table, stacks for flame graphs, a line a launch.
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/analysis/analysed.h"
#include "report/exports/export.h"
#include "report/merge/merge.h"
#include "tests/report/run_reporter.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class exports : public testing::Test {
  protected:
    void write(const std::vector<ProfileSpec>& ranks, const char* name = ".") {
        fs::create_directories(directory_.path() / name);
        for (const ProfileSpec& rank : ranks) write_profile(directory_.path() / name, rank);
    }
    Ran run(std::vector<std::string> words) { return run_reporter(directory_.path(), std::move(words)); }
    // Stack to microseconds; every line has to be one.
    std::map<std::string, std::uint64_t> stacks() {
        const Ran ran = run({"export", "-f", "folded"});
        EXPECT_EQ(ran.code, 0) << ran.err;
        remarks_ = ran.err;
        std::map<std::string, std::uint64_t> found;
        std::istringstream in(ran.out);
        for (std::string line; std::getline(in, line);) {
            const auto blank = line.rfind(' ');
            EXPECT_NE(blank, std::string::npos) << line;
            EXPECT_TRUE(found.emplace(line.substr(0, blank), std::stoull(line.substr(blank + 1))).second) << line;
        }
        return found;
    }
    const fs::path& path() { return directory_.path(); }
    std::string remarks_;

  private:
    TemporaryDirectory directory_;
};

// ---- csv ----

TEST_F(exports, csv_labels_can_be_told_apart_whatever_they_say) {
    ProfileSpec spec = two_solvers().front();
    spec.labels = {{"grid", "512,512"}, {"note", "a = b"}, {"odd,key=", "100%"}};
    write({spec});
    const Ran ran = run({"export", "-f", "csv"});
    EXPECT_NE(ran.out.find(",\"grid=512%2C512,note=a = b,odd%2Ckey%3D=100%25\"\n"), std::string::npos) << ran.out;
}

// ---- folded ----

TEST_F(exports, folded_stacks_go_from_the_outermost_frame_to_the_call) {
    write(two_solvers());
    const auto found = stacks();
    EXPECT_EQ(found.at("flow+0x1180;flow+0x21f0;libcomm.so+0x1a40;MPI_Allreduce"), 3 * 640'000u + 40'000u);
    EXPECT_EQ(found.at("flow+0x1199;flow+0x3388;libcomm.so+0x1a40;MPI_Allreduce"), 4 * 12'000u);
    EXPECT_EQ(found.at("(other call sites);MPI_Bcast"), 1000u);
}

TEST_F(exports, folded_stacks_add_up_to_the_time_in_mpi_of_all_ranks) {
    for (const auto story : {two_solvers, balanced_stencil, uneven_work, device_buffers}) {
        std::uint64_t sum = 0, expected = 0;
        const report::Job job = job_of(story());
        for (const report::Rank& rank : job.ranks) expected += rank.mpi_ns;
        const TemporaryDirectory directory;
        for (const ProfileSpec& rank : story()) write_profile(directory.path(), rank);
        std::istringstream in(run_reporter(directory.path(), {"export", "-f", "folded"}).out);
        std::size_t lines = 0;
        for (std::string line; std::getline(in, line); ++lines) sum += std::stoull(line.substr(line.rfind(' ') + 1));
        EXPECT_GT(lines, 0u);
        EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(expected) / 1000, static_cast<double>(lines));
    }
}

[[gnu::noinline]] std::uint64_t here() {
    asm volatile("");
    return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

TEST_F(exports, folded_frames_have_function_and_line_where_the_program_is_here) {
    char program[4096] = "";
    ASSERT_GT(readlink("/proc/self/exe", program, sizeof program - 1), 0);
    std::uint64_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* at) {
            *static_cast<std::uint64_t*>(at) = info->dlpi_addr;
            return 1;
        },
        &base);
    const std::uint64_t address = here();
    const unsigned line = __LINE__ - 1;
    ProfileSpec spec;
    run_here_and_now(spec);
    spec.modules = {{.path = program}, {.path = "/home/user/train;v2.py", .function = "step"}};
    spec.sites = {{{1, address - base}}, {{2, 17}}};
    spec.common_frames = 1;
    spec.calls = {sends("MPI_Send", {{.time_ns = 5'000'000, .site = 1}, {.time_ns = 7'000'000, .site = 2}})};
    write({spec});
    bool is_found = false;
    for (const auto& [stack, us] : stacks()) {
        EXPECT_EQ(std::count(stack.begin(), stack.end(), ';'), 1) << "a semicolon in a name parts no frames: " << stack;
        is_found |= stack.find(fmt::format("(exports_test.cpp:{});MPI_Send", line)) != std::string::npos && us == 5000;
    }
    EXPECT_TRUE(is_found) << run({"export", "-f", "folded"}).out;
}

TEST_F(exports, folded_says_what_no_stack_has) {
    write(killed_in_receive());
    stacks();
    EXPECT_NE(remarks_.find("calls that have not returned are in no stack"), std::string::npos) << remarks_;
}

// ---- line ----

std::vector<json> lines_of(const std::string& text) {
    std::vector<json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
}

TEST_F(exports, a_line_says_what_is_asked_of_a_thousand_jobs) {
    write(slow_node());
    const Ran ran = run({"export", "-f", "line"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
    const json line = lines_of(ran.out).at(0);
    const report::Job job = job_of(slow_node());
    EXPECT_EQ(line.at("job"), job.job);
    EXPECT_EQ(line.at("ranks"), 96);
    EXPECT_EQ(line.at("nodes"), 12);
    EXPECT_EQ(line.at("started_at"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(line.at("started_at_ns"), 1'700'000'000'000'000'000);
    std::uint64_t mpi_ns = 0, elapsed_ns = 0, longest_ns = 0;
    for (const report::Rank& rank : job.ranks) {
        mpi_ns += rank.mpi_ns;
        elapsed_ns += rank.elapsed_ns;
        longest_ns = std::max(longest_ns, rank.elapsed_ns);
    }
    EXPECT_EQ(line.at("mpi_ns"), mpi_ns);
    EXPECT_EQ(line.at("elapsed_ns"), longest_ns);
    EXPECT_NEAR(line.at("mpi_share"), static_cast<double>(mpi_ns) / static_cast<double>(elapsed_ns), 1e-9);
    EXPECT_EQ(line.at("verdict").at("rule"), "slow-node");
    const std::string ranks = line.at("verdict").at("ranks");
    const auto dash = ranks.find('-');
    ASSERT_NE(dash, std::string::npos) << "eight neighbours are a range: " << ranks;
    EXPECT_EQ(std::stoul(ranks.substr(dash + 1)) - std::stoul(ranks), 7u) << ranks;
    EXPECT_EQ(line.at("verdict").at("host"), job.hosts[job.find(static_cast<std::uint32_t>(std::stoul(ranks)))->host]);
    EXPECT_EQ(line.at("completeness").at("is_complete"), true);
}

TEST_F(exports, a_line_has_what_a_site_adds_up_and_is_short_whatever_the_job_is_called) {
    auto ranks = slow_node();
    const std::string long_word(3000, 'w');
    for (ProfileSpec& rank : ranks) {
        rank.facts.push_back({format::FactKind::environment, "SLURM_CLUSTER_NAME", "alps"});
        rank.command = "./solver \xc3\xa4" + long_word;
    }
    write(ranks);
    const Ran ran = run({"export", "-f", "line"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_LT(ran.out.size(), 4096u);
    const json line = lines_of(ran.out).at(0);
    EXPECT_EQ(line.at("cluster"), "alps");
    EXPECT_TRUE(line.at("command").get<std::string>().ends_with("w..."));
    const double waited = line.at("waiting_ns"), all_mpi = line.at("mpi_ns");
    EXPECT_GT(waited, line.at("verdict").at("cost_ns").get<double>() / 2);
    EXPECT_LE(waited, all_mpi);
    EXPECT_GE(line.at("profiler_ns").get<double>(), 0);
    EXPECT_EQ(line.at("gpus"), 0);

    const Ran without_names = run({"export", "-f", "line", "--private"});
    ASSERT_EQ(without_names.code, 0) << without_names.err;
    const json hidden = lines_of(without_names.out).at(0);
    for (const char* key : {"command", "directory", "cluster", "executable"})
        EXPECT_NE(hidden.at(key), line.at(key)) << key;
    EXPECT_EQ(hidden.at("waiting_ns"), line.at("waiting_ns"));
    EXPECT_EQ(run({"export", "-f", "csv", "--private"}).code, 2);
}

TEST_F(exports, a_line_stays_short_where_everything_is_long) {
    auto ranks = slow_node();
    std::erase_if(ranks, [](const ProfileSpec& rank) { return rank.rank % 2 != 0; });
    for (ProfileSpec& rank : ranks) {
        rank.size = 100'000;
        rank.rank *= 1000;
        rank.command = std::string(1000, '\x01');
        rank.labels.clear();
        for (int i = 0; i < 20; ++i)
            rank.labels.push_back({fmt::format("label{}", i) + std::string(80, 'n'), std::string(200, '"')});
    }
    write(ranks);
    const Ran ran = run({"export", "-f", "line"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_LT(ran.out.size(), 4096u);
    const json line = lines_of(ran.out).at(0);
    EXPECT_TRUE(line.at("command").get<std::string>().ends_with("..."));
    EXPECT_EQ(line.at("labels").size(), 12u);
    EXPECT_EQ(line.at("completeness").at("profiles"), 48);
}

TEST_F(exports, a_line_names_missing_and_unfinished_ranks) {
    write(killed_in_receive());
    const json line = lines_of(run({"export", "-f", "line"}).out).at(0);
    const json& completeness = line.at("completeness");
    EXPECT_EQ(completeness.at("is_complete"), false);
    EXPECT_EQ(completeness.at("profiles"), 3);
    EXPECT_EQ(completeness.at("expected"), 4);
    const report::Job job = job_of(killed_in_receive());
    EXPECT_EQ(completeness.at("missing"), std::to_string(job.missing().at(0).first));
    EXPECT_EQ(completeness.at("unfinished"), 3);
    EXPECT_EQ(line.at("verdict").at("rule"), "unfinished");
    EXPECT_EQ(run({"--strict", "export", "-f", "line"}).code, 1);
}

TEST_F(exports, each_launch_in_a_directory_has_its_line_and_one_can_be_asked_for) {
    write(uneven_work());
    for (int later = 1; later <= 2; ++later) {
        std::vector<ProfileSpec> ranks = balanced_stencil();
        for (ProfileSpec& rank : ranks) {
            rank.launch = "pmix:" + std::to_string(4711 + later) + ".0";
            rank.job = std::to_string(4711 + later);
            rank.start_realtime_ns += static_cast<std::uint64_t>(later) * 1'000'000'000;
        }
        write(ranks);
    }
    write_file(path() / "mpi_profile.4711.damaged", "nothing");
    const auto jobs = [&](const std::vector<std::string>& words) {
        std::vector<std::string> all{"export", "-f", "line"}, found;
        all.insert(all.end(), words.begin(), words.end());
        const Ran ran = run(all);
        EXPECT_EQ(ran.code, 0) << ran.err;
        for (const json& line : lines_of(ran.out)) found.push_back(line.at("job"));
        return found;
    };
    using Jobs = std::vector<std::string>;
    EXPECT_EQ(jobs({}), (Jobs{"4711", "4712", "4713"})) << "in the order in which they began";
    EXPECT_EQ(jobs({"--job", "4712"}), Jobs{"4712"});
    EXPECT_EQ(jobs({"--launch", "1"}), Jobs{"4713"});
    EXPECT_EQ(run({"export", "-f", "line", "--job", "9"}).code, 3);
    ASSERT_EQ(run({"export", "-f", "line", "-o", "log.ndjson"}).code, 0);
    EXPECT_EQ(run({"export", "-f", "line", "-o", "-"}).out, run({"export", "-f", "line"}).out);
    EXPECT_EQ(read_file(path() / "log.ndjson"), run({"export", "-f", "line"}).out);
}

// ---- json ----

TEST_F(exports, json_of_many_ranks_is_handed_over_in_small_pieces) {
    std::vector<ProfileSpec> ranks;
    for (std::uint32_t rank = 0; rank < 500; ++rank) {
        ranks.push_back(balanced_stencil()[1]);
        ranks.back().rank = rank;
        ranks.back().size = 500;
    }
    write(ranks);
    report::Progress progress;
    const auto found = report::find_profiles({path().string()}, 1, progress);
    const auto job = report::merge(found.launches.at(0), 1, progress);
    ASSERT_TRUE(job);
    report::RankReader reader(found.launches[0]);
    std::size_t largest = 0, all = 0;
    report::find_export("json")->write(
        *job, [&](std::uint32_t rank) { return reader.profile(rank); },
        [&](std::string_view piece) {
            largest = std::max(largest, piece.size());
            all += piece.size();
        },
        [](const report::Problem& problem) { ADD_FAILURE() << problem.line(); });
    EXPECT_GT(all, 1u << 20);
    EXPECT_LT(largest, 1u << 18) << "the text of a hundred thousand ranks does not fit";
}

}  // namespace
}  // namespace mpiprof::test
