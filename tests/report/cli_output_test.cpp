// What the commands of mpiprof-report print, to whom and where: sorted tables, launches, colours, files and pipes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "tests/report/cli.h"
#include "tests/report/goldens.h"
#include "tests/report/seed003_profiles.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

TEST_F(cli, tables_are_sorted_by_their_headings) {
    write(late_messages());
    const std::pair<const char*, const char*> by_heading[] = {
        {"calls", "TIME"},      {"calls", "%WALL"},    {"calls", "per call"}, {"calls", "AVG SIZE"},
        {"calls", "CALLS"},     {"sites", "%MPI"},     {"sites", "calls"},    {"ranks", "IN MPI"},
        {"ranks", "max-rss"},   {"comms", "BYTES"},    {"comms", "Time"},     {"peers", "AVG SIZE"},
        {"placement", "CORES"}, {"placement", "busy"}, {"peers", "MESSAGES"}, {"peers", "%"}};
    for (const auto& [section, heading] : by_heading) {
        const Ran ran = run({section, "--sort", heading});
        EXPECT_EQ(ran.code, 0) << section << " --sort " << heading << ": " << ran.err;
    }
    EXPECT_EQ(run({"calls", "--sort", "PER CALL"}).out, run({"calls", "--sort", "per_call_ns"}).out);
    EXPECT_EQ(run({"calls", "--sort", "CALL"}).out, run({"calls", "--sort", "call"}).out);
    EXPECT_NE(run({"calls", "--sort", "PER CALL"}).out, run({"calls", "--sort", "CALL"}).out);
}

TEST_F(cli, a_summary_says_how_its_commands_ask_of_the_same_job) {
    write(late_messages());
    const std::string named = run({".", "--job", "4711"}).out, here = run({}).out, calls = run({"calls", "."}).out;
    EXPECT_TRUE(named.ends_with("\n  for this job: mpiprof-report COMMAND --job 4711\n")) << named;
    for (const std::string& other : {here, calls, run({"summary", "--job", "4711", "--format", "json"}).out})
        EXPECT_EQ(other.find("for this job:"), std::string::npos) << other;
}

TEST_F(cli, what_explain_says_shows_which_requests_were_waited_for) {
    write(late_messages());
    EXPECT_NE(run({"explain", "requests"}).out.find("calls --width 140, column WAIT TIME"), std::string::npos);
    const std::string narrow = run({"calls", "--width", "80"}).out;
    EXPECT_EQ(narrow.substr(0, narrow.find('\n')).find("WAIT TIME"), std::string::npos);
    EXPECT_NE(narrow.find("WAIT TIME", narrow.find("hidden: ")), std::string::npos) << narrow;
    const std::string wide = run({"calls", "--width", "140"}).out;
    EXPECT_NE(wide.find("WAIT TIME  %OVERLAP"), std::string::npos) << wide;
    EXPECT_NE(wide.find("WAIT TIME: time in MPI_Wait, MPI_Test and the like"), std::string::npos) << wide;
}

TEST_F(cli, headings_that_name_nccl_are_sorted_by_too) {
    write(gpu_training_with_cupti());
    ASSERT_NE(run({"calls", "--width", "200"}).out.find("%NCCL"), std::string::npos);
    EXPECT_EQ(run({"calls", "--sort", "%NCCL"}).code, 0) << run({"calls", "--sort", "%NCCL"}).err;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TEST_F(cli, brief_is_a_few_lines_of_80_columns_of_which_none_is_cut) {
    for (const auto& story : {uneven_work, slow_node, one_never_arrived, crowded_cores, gpu_training}) {
        const TemporaryDirectory directory;
        for (const ProfileSpec& rank : story()) write_profile(directory.path(), rank);
        const Ran ran = run_reporter(directory.path(), {"--brief"});
        EXPECT_EQ(ran.code, 0);
        EXPECT_EQ(ran.err, "");
        const auto lines = lines_of(ran.out);
        EXPECT_GE(lines.size(), 4u);
        EXPECT_LE(lines.size(), 14u) << ran.out;
        for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
        EXPECT_TRUE(lines.at(0).starts_with("mpiprof: ")) << ran.out;
        EXPECT_TRUE(lines.back().starts_with("  profiles: ")) << ran.out;
        EXPECT_EQ(ran.out.substr(0, ran.out.rfind("  profiles: ")).find("..."), std::string::npos) << ran.out;
        EXPECT_NE(ran.out.find("]\n"), std::string::npos) << "the rule ends the sentence: " << ran.out;
    }
}

TEST_F(cli, brief_of_a_healthy_job_is_its_sentence) {
    write(balanced_stencil());
    const Ran ran = run({"--brief"});
    EXPECT_TRUE(ran.out.starts_with("mpiprof: ")) << ran.out;
    EXPECT_TRUE(ran.out.ends_with("[healthy]\n")) << ran.out;
}

TEST_F(cli, brief_without_a_profile_is_one_line_and_no_failure) {
    const Ran ran = run({"--brief"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.err, "");
    ASSERT_EQ(lines_of(ran.out).size(), 1u) << ran.out;
    EXPECT_NE(ran.out.find("LD_PRELOAD"), std::string::npos);
    EXPECT_LE(lines_of(ran.out)[0].size(), 80u);
    write(balanced_stencil(), "results");
    EXPECT_NE(run({"--brief"}).out.find("mpiprof-report "), std::string::npos);
    EXPECT_NE(run({"--brief"}).out.find("results"), std::string::npos);
    EXPECT_EQ(run({"--brief", "/no/such/directory"}).code, 0);
}

TEST_F(cli, a_note_is_six_lines_in_ascii_whatever_there_is) {
    const std::vector<std::string> keys{"verdict", "where", "cost", "next", "run", "data"};
    const auto note = [&](const std::string& directory) {
        const Ran ran = run_reporter(directory, {"--brief", "--format", "note"});
        EXPECT_EQ(ran.code, 0);
        EXPECT_EQ(ran.err, "");
        auto lines = lines_of(ran.out);
        EXPECT_EQ(lines.size(), keys.size()) << ran.out;
        lines.resize(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_TRUE(lines[i].starts_with(keys[i] + ": ")) << ran.out;
        EXPECT_TRUE(std::ranges::all_of(ran.out, [](char c) { return c == '\n' || (c >= ' ' && c < '\x7f'); }));
        return lines;
    };
    for (const auto& story : {uneven_work, slow_node, one_never_arrived, balanced_stencil, gpu_training}) {
        const TemporaryDirectory directory;
        for (const ProfileSpec& rank : story()) write_profile(directory.path(), rank);
        const auto lines = note(directory.path());
        EXPECT_TRUE(lines[0].ends_with("]")) << lines[0];
        EXPECT_NE(lines[4].find("ranks"), std::string::npos) << lines[4];
        EXPECT_TRUE(lines[5].ends_with(directory.path().string())) << lines[5];
    }
    const TemporaryDirectory slow;
    for (const ProfileSpec& rank : uneven_work()) write_profile(slow.path(), rank);
    EXPECT_NE(note(slow.path())[2].find("of the time of all ranks"), std::string::npos);
    const TemporaryDirectory empty;
    const auto nothing = note(empty.path());
    EXPECT_NE(nothing[0].find("no profile"), std::string::npos) << nothing[0];
    EXPECT_EQ(nothing[1], "where: -");
    EXPECT_EQ(run({"--format", "note"}).code, 2);
    EXPECT_EQ(run({"--brief", "--format", "csv"}).code, 2);
}

TEST_F(cli, brief_has_a_line_for_each_launch_of_a_job) {
    auto first = balanced_stencil();
    for (auto& rank : first) rank.launch = "pmix:first";
    write(first);
    auto second = uneven_work();
    for (auto& rank : second) rank.start_realtime_ns += 3'600'000'000'000;
    write(second);
    const auto lines = lines_of(run({"--brief"}).out);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_NE(lines[0].find("launch 2, ./stencil"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("healthy"), std::string::npos) << lines[0];
    EXPECT_NE(lines[1].find("launch 1, ./solver"), std::string::npos) << lines[1];
    EXPECT_NE(lines[1].find("slow-rank: rank 2"), std::string::npos) << lines[1];
}

TEST_F(cli, explain_says_what_a_rule_means) {
    const Ran ran = run({"explain", "slow-rank"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(ran.out.starts_with("slow-rank\n  Some ranks compute longer, or spend longer outside MPI")) << ran.out;
    EXPECT_NE(ran.out.find("Evidence: "), std::string::npos);
    EXPECT_NE(ran.out.find("Check: "), std::string::npos);
    EXPECT_GT(lines_of(run({"explain"}).out).size(), 60u);
    EXPECT_EQ(run({"explain", "no-such-rule"}).code, 2);
    for (const char* word : {"none-seen", "one-run", "too-few", "not-in-turns", "mixed-sizes", "no-time", "slower",
                             "faster", "caution", "plateau"})
        EXPECT_NE(run({"explain", word}).out.find("Check: "), std::string::npos) << word << ": diff and scaling say it";
    EXPECT_NE(run({"explain", "no-such-rule"}).err.find("mpiprof-report explain lists the rules"), std::string::npos);
}

TEST_F(cli, explain_says_what_a_column_means) {
    const Ran heading = run({"explain", "per call"});
    EXPECT_EQ(heading.code, 0) << heading.err;
    EXPECT_TRUE(heading.out.starts_with("PER CALL, per_call_ns: Mean time of a call.\n  In ")) << heading.out;
    EXPECT_NE(heading.out.find("calls"), std::string::npos);
    EXPECT_EQ(run({"explain", "per_call_ns"}).out, heading.out);
    EXPECT_NE(run({"explain", "IN NCCL"}).out.find("IN NCCL, mpi_ns: "), std::string::npos)
        << "a heading that depends on the job";
    const std::string both = run({"explain", "waiting"}).out;
    EXPECT_TRUE(both.starts_with("waiting\n")) << both;
    EXPECT_NE(both.find("WAITING, waiting_share: "), std::string::npos) << "[waiting] and WAITING";
}

TEST_F(cli, calls_with_details_have_a_histogram_of_their_durations) {
    write(balanced_stencil());
    const std::string text = run({"calls", "--details", "--width", "200"}).out;
    EXPECT_NE(text.find("DURATIONS"), std::string::npos) << text;
    EXPECT_NE(text.find("DURATIONS: how many calls took how long: from "), std::string::npos) << text;
    EXPECT_EQ(run({"calls", "--width", "200"}).out.find("DURATIONS"), std::string::npos);
}

TEST_F(cli, another_launch_is_chosen_by_number_job_or_identity) {
    auto older = balanced_stencil();
    for (auto& rank : older) rank.launch = "pmix:old", rank.job = "4710";
    write(older);
    auto newer = uneven_work();
    for (auto& rank : newer) rank.start_realtime_ns += 3'600'000'000'000;
    write(newer);

    EXPECT_NE(run({}).out.find("\n./solver"), std::string::npos);
    EXPECT_NE(run({}).out.find("OTHER LAUNCHES HERE"), std::string::npos);
    EXPECT_NE(run({"--launch", "2"}).out.find("\n./stencil"), std::string::npos);
    EXPECT_NE(run({"--launch", "pmix:old"}).out.find("\n./stencil"), std::string::npos);
    EXPECT_NE(run({"--job", "4710"}).out.find("\n./stencil"), std::string::npos);
    EXPECT_NE(run({"calls"}).err.find("this is launch 1 of 2 here (job 4711)"), std::string::npos);
    EXPECT_EQ(run({"--job", "1"}).code, 3);
    EXPECT_NE(run({"--job", "1"}).err.find("there is 4711, 4710"), std::string::npos);
}

TEST_F(cli, named_files_are_a_part_on_purpose) {
    write(balanced_stencil());
    const Ran ran = run({"mpi_profile.4711.1", "mpi_profile.4711.2"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_NE(ran.out.find("2 of 8 ranks (files given)"), std::string::npos);
    EXPECT_EQ(ran.out.find("INCOMPLETE"), std::string::npos);
}

TEST_F(cli, all_files_of_a_job_as_a_shell_names_them_show_the_job) {
    write(seed003_cpu());
    write_file(path() / "mpi_profile.4711.0.txt", read_file(golden("seed003_cpu.txt")));
    const Ran whole = run({});
    std::vector<std::string> expanded;
    for (const auto& entry : fs::directory_iterator(path())) expanded.push_back(entry.path().filename());
    std::sort(expanded.begin(), expanded.end());
    ASSERT_EQ(expanded[1], "mpi_profile.4711.0.txt");
    const Ran ran = run(expanded);
    EXPECT_EQ(ran.out, whole.out);
    EXPECT_NE(ran.out.find("16 of 16 ranks"), std::string::npos) << ran.out;
}

TEST_F(cli, colour_is_for_terminals_unless_asked_for) {
    write(uneven_work());
    const auto has_colour = [&](std::vector<std::string> words, std::vector<std::string> environment) {
        environment.push_back("LC_ALL=C.UTF-8");
        return run_reporter(path(), std::move(words), environment).out.find('\x1b') != std::string::npos;
    };
    EXPECT_FALSE(has_colour({}, {}));
    EXPECT_TRUE(has_colour({"--color=always"}, {}));
    EXPECT_TRUE(has_colour({"--color=always"}, {"NO_COLOR=1"}));
    EXPECT_TRUE(has_colour({}, {"CLICOLOR_FORCE=1"}));
    EXPECT_FALSE(has_colour({"--color=never"}, {"CLICOLOR_FORCE=1"}));
    EXPECT_FALSE(has_colour({}, {"CLICOLOR_FORCE=0"}));
}

TEST_F(cli, unicode_is_for_utf8_locales) {
    write(uneven_work());
    const auto is_ascii = [](const std::string& text) {
        return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    };
    EXPECT_TRUE(is_ascii(run_reporter(path(), {}, {"LC_ALL=C"}).out));
    EXPECT_TRUE(is_ascii(run_reporter(path(), {"--ascii"}, {"LC_ALL=C.UTF-8"}).out));
    EXPECT_FALSE(is_ascii(run_reporter(path(), {}, {"LC_ALL=C.UTF-8"}).out));
}

TEST_F(cli, text_of_one_rank_goes_to_stdout_and_of_all_into_a_directory) {
    write(balanced_stencil());
    const Ran one = run({"text", "--rank", "3"});
    EXPECT_TRUE(one.out.starts_with("Data for MPI rank 3 of 8:\n"));
    EXPECT_TRUE(run({"text"}).out.starts_with("Data for MPI rank 0 of 8:\n"));

    const Ran all = run({"text", "--rank", "all", "-o", "texts"});
    EXPECT_EQ(all.code, 0);
    EXPECT_EQ(all.out, "");
    EXPECT_NE(all.err.find("8 files written to texts"), std::string::npos);
    EXPECT_EQ(read_file(path() / "texts/mpi_profile.4711.3.txt"), one.out);
    EXPECT_NE(run({"text", "--layout", "mpitrace-2025"}).out, run({"text"}).out);
}

TEST_F(cli, a_job_name_cannot_lead_out_of_the_directory) {
    auto ranks = device_buffers();
    for (auto& rank : ranks) {
        rank.job = "../../evil";
        write_file(path() / ("mpi_profile.x." + std::to_string(rank.rank)), build(rank));
    }
    EXPECT_EQ(run({"text", "--rank", "all", "-o", "texts"}).code, 0);
    EXPECT_TRUE(fs::exists(path() / "texts/mpi_profile..._.._evil.0.txt"));
}

TEST_F(cli, exports_go_to_a_file_or_stdout) {
    write(balanced_stencil());
    const Ran csv = run({"export", "-f", "csv"});
    EXPECT_EQ(csv.code, 0);
    EXPECT_TRUE(csv.out.starts_with("rank,call,bin_max_bytes,buffer,calls,bytes,time_ns,min_ns,max_ns"));
    EXPECT_EQ(run({"export", "-f", "csv", "-o", "all.csv"}).code, 0);
    EXPECT_EQ(read_file(path() / "all.csv"), csv.out);
    const Ran full = run({"export", "-f", "csv", "-o", "/dev/full"});
    EXPECT_EQ(full.code, 1);
    EXPECT_NE(full.err.find("cannot be written: No space left on device"), std::string::npos);
}

TEST_F(cli, a_closed_pipe_ends_it_quietly) {
    write(balanced_stencil());
    const std::string command =
        std::string("cd ") + path().string() + " && " + MPIPROF_REPORT + " export -f json 2>err | true; test ! -s err";
    EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace mpiprof::test
