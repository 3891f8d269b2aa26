// mpiprof-report as it is typed: commands, options, exit codes, what goes to stdout and what to stderr.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "tests/report/goldens.h"
#include "tests/report/run_reporter.h"
#include "tests/report/seed003_profiles.h"
#include "tests/report/stories.h"
#include "tests/report/whole_pipeline.h"

namespace mpiprof::test {
namespace {

namespace fs = std::filesystem;

class cli : public testing::Test {
  protected:
    void write(const std::vector<ProfileSpec>& ranks, const char* name = ".") {
        fs::create_directories(directory_.path() / name);
        for (const ProfileSpec& rank : ranks) write_profile(directory_.path() / name, rank);
    }
    Ran run(std::vector<std::string> words) { return run_reporter(directory_.path(), std::move(words)); }
    const fs::path& path() { return directory_.path(); }

  private:
    TemporaryDirectory directory_;
};

TEST_F(cli, without_a_word_it_summarises_this_directory) {
    write(balanced_stencil());
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(ran.out.starts_with("  Nothing here is worth your time: ")) << ran.out;
    EXPECT_NE(ran.out.find("\n\n./stencil --grid 4096\njob 4711 · 8 ranks on 2 nodes"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(run({"summary", "."}).out, ran.out);
    EXPECT_EQ(run({"."}).out, ran.out);
}

TEST_F(cli, options_work_before_and_behind_the_command) {
    write(balanced_stencil(), "run");
    const Ran ran = run({"calls", "run", "--ascii", "--top", "2"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(run({"--ascii", "calls", "--top", "2", "run"}).out, ran.out);
    EXPECT_EQ(run({"run", "calls", "--top", "2", "--ascii"}).out, ran.out);
    EXPECT_NE(ran.out.find("MPI_Waitall"), std::string::npos);
}

TEST_F(cli, options_of_a_command_work_before_it) {
    write(balanced_stencil(), "run");
    const Ran ran = run({"calls", "--rank", "1", "--top", "2", "run"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("rank 1 of 8"), std::string::npos) << ran.out;
    EXPECT_EQ(run({"--rank", "1", "--top", "2", "calls", "run"}).out, ran.out);
    EXPECT_EQ(run({"--rank=1", "run", "--top=2", "calls"}).out, ran.out);
    EXPECT_EQ(run({"--job", "calls"}).code, 3) << "a value is no command";
}

TEST_F(cli, an_option_without_its_command_is_told_where_it_belongs) {
    write(balanced_stencil());
    const Ran ran = run({"--rank", "1"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find("--rank is no option of the summary, but of calls, "), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("mpiprof-report calls --rank"), std::string::npos) << ran.err;
    EXPECT_NE(run({"summary", "--sort", "time"}).err.find("--sort is no option of summary, but of calls, "),
              std::string::npos);
}

TEST_F(cli, a_directory_with_the_name_of_a_command_is_reached_by_its_path) {
    write(balanced_stencil(), "calls");
    EXPECT_EQ(run({"./calls"}).code, 0);
    EXPECT_NE(run({"./calls"}).out.find("EFFICIENCY"), std::string::npos);
    EXPECT_EQ(run({"calls"}).code, 3);  // the command, in a directory without profiles
}

TEST_F(cli, no_profile_is_explained) {
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 3);
    EXPECT_EQ(ran.out, "");
    for (const char* hint : {"mpirun -x LD_PRELOAD", "-genv LD_PRELOAD", "--export=ALL,LD_PRELOAD", "statically",
                             "MPIPROF_DIR", "MPIPROF_VERBOSE=1"})
        EXPECT_NE(ran.err.find(hint), std::string::npos) << hint;
}

TEST_F(cli, profiles_one_directory_further_down_are_pointed_at) {
    write(balanced_stencil(), "run1");
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 3);
    EXPECT_NE(ran.err.find("run1 has some: mpiprof-report run1"), std::string::npos);
}

TEST_F(cli, a_path_that_is_not_there_is_named) {
    const Ran ran = run({"nowhere"});
    EXPECT_EQ(ran.code, 3);
    EXPECT_NE(ran.err.find("nowhere: No such file or directory"), std::string::npos);
    EXPECT_NE(run({"elsewhere"}).err.find("no command of that name either"), std::string::npos);
    EXPECT_EQ(run({"./elsewhere"}).err.find("no command"), std::string::npos);
}

TEST_F(cli, a_mistyped_command_is_told_the_right_one) {
    write(balanced_stencil());
    const Ran mistyped = run({"rankz", "."});
    EXPECT_EQ(mistyped.code, 2);
    EXPECT_EQ(mistyped.out, "");
    EXPECT_NE(mistyped.err.find("rankz: no such file or command; did you mean ranks?"), std::string::npos)
        << mistyped.err;
    EXPECT_NE(run({"calls", "sites"}).err.find("one command at a time: calls or sites"), std::string::npos);
    write(balanced_stencil(), "rankz");
    EXPECT_EQ(run({"rankz"}).code, 0) << "a directory is one, whatever it is called";
}

TEST_F(cli, unreadable_profiles_alone_are_no_report) {
    write_file(path() / "mpi_profile.1.0", "");
    write_file(path() / "mpi_profile.1.1", "mpiprof profile, format 1. Read it");
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 3);
    EXPECT_NE(ran.err.find("mpi_profile.1.0: is empty"), std::string::npos);
    EXPECT_NE(ran.err.find("mpi_profile.1.1: is cut off"), std::string::npos);
}

TEST_F(cli, a_damaged_rank_does_not_end_the_report) {
    write(balanced_stencil());
    write_file(path() / "mpi_profile.4711.3", "mpiprof profile, format 1.");
    const Ran summary = run({});
    EXPECT_EQ(summary.code, 0);
    EXPECT_NE(summary.out.find("INCOMPLETE: 7 of 8 ranks, missing 3"), std::string::npos);
    EXPECT_NE(summary.out.find("mpi_profile.4711.3: is cut off"), std::string::npos);
    const Ran calls = run({"calls"});
    EXPECT_EQ(calls.code, 0);
    EXPECT_NE(calls.err.find("mpi_profile.4711.3: is cut off"), std::string::npos);
    EXPECT_NE(calls.err.find("7 of 8 ranks have a profile"), std::string::npos);
    EXPECT_EQ(run({"calls", "-q"}).err, "");
}

TEST_F(cli, sections_that_add_up_all_ranks_do_not_take_some) {
    write(balanced_stencil());
    for (const char* section : {"summary", "regions", "comms", "nccl", "settings"}) {
        const Ran ran = run({section, "--rank", "1"});
        EXPECT_EQ(ran.code, 2) << section << ran.out;
    }
}

TEST_F(cli, ranks_that_were_not_chosen_are_not_missing) {
    std::vector<ProfileSpec> ranks = balanced_stencil();
    for (ProfileSpec& rank : ranks) rank.settings = {{.name = "RANKS", .value = "2,4-5,900"}};
    write({ranks[2], ranks[4], ranks[5]});
    const Ran summary = run({"--strict"});
    EXPECT_EQ(summary.code, 0);
    EXPECT_NE(summary.out.find("profile complete: 3 of 8 ranks, as chosen"), std::string::npos) << summary.out;
    EXPECT_NE(summary.out.find("MPIPROF_RANKS=2,4-5,900: only these ranks were profiled"), std::string::npos)
        << summary.out;
    EXPECT_EQ(run({"calls", "--strict"}).err, "");
    EXPECT_EQ(run({"check"}).out.find("MISSING"), std::string::npos);
    EXPECT_EQ(run({"hang"}).out.find("no profile"), std::string::npos);

    std::filesystem::remove(path() / "mpi_profile.4711.4");
    EXPECT_NE(run({}).out.find("INCOMPLETE: 2 of 8 ranks, missing 4\n"), std::string::npos);
    EXPECT_NE(run({"calls"}).err.find("2 of 3 ranks have a profile"), std::string::npos);
    EXPECT_EQ(run({"--strict"}).code, 1);
}

TEST_F(cli, strict_turns_an_incomplete_job_into_a_failed_check) {
    write(killed_in_receive());
    EXPECT_EQ(run({}).code, 0);
    EXPECT_EQ(run({"--strict"}).code, 1);
    write(balanced_stencil(), "whole");
    EXPECT_EQ(run({"--strict", "whole"}).code, 0);
}

TEST_F(cli, wrong_usage_is_2_and_says_what_is_possible) {
    write(balanced_stencil());
    const std::vector<std::vector<std::string>> wrong{
        {"--colour"},
        {"calls", "--sort", "smell"},
        {"calls", "--by", "colour"},
        {"calls", "--rank", "x"},
        {"calls", "--rank", "5-3"},
        {"calls", "--rank", ""},
        {"calls", "--rank", "99"},
        {"--format", "xml"},
        {"export"},
        {"export", "-f", "text"},
        {"--width", "7"},
        {"text", "--layout", "nonsense"},
        {"text", "--rank", "8"},
        {"-j", "0"},
        {"calls", "--rank", "0-4000000000"},
        {"calls", "--top", "-3"},
        {"calls", "--top", "0"},
    };
    for (const auto& words : wrong) {
        const Ran ran = run(words);
        EXPECT_EQ(ran.code, 2) << words.back() << ": " << ran.err;
        EXPECT_EQ(ran.out, "") << words.back();
        EXPECT_TRUE(ran.err.starts_with("mpiprof-report: ")) << words.back() << ": " << ran.err;
    }
    EXPECT_NE(run({"calls", "--sort", "smell"}).err.find("there is CALL, "), std::string::npos);
}

TEST_F(cli, help_and_version_are_fine) {
    EXPECT_EQ(run({"--help"}).code, 0);
    for (const char* word :
         {"summary", "calls", "ranks", "text", "export", "--job", "--launch", "--color", "Exit code"})
        EXPECT_NE(run({"--help"}).out.find(word), std::string::npos) << word;
    EXPECT_EQ(run({"calls", "--help"}).code, 0);
    EXPECT_NE(run({"calls", "--help"}).out.find("--sort"), std::string::npos);
    EXPECT_EQ(run({"--version"}).out, std::string("mpiprof-report ") + MPIPROF_VERSION + "\n");
}

// The commands that `--help` lists.
std::vector<std::string> commands_in(const std::string& help) {
    std::vector<std::string> commands;
    std::istringstream lines(help.substr(help.find("Subcommands:")));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && line.starts_with("  "))
        commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    return commands;
}

TEST_F(cli, help_of_a_command_lists_every_option_that_it_takes) {
    const std::vector<std::string> commands = commands_in(run({"--help"}).out);
    ASSERT_GE(commands.size(), 16u);
    for (const std::string& command : commands) {
        const std::string help = run({command, "--help"}).out;
        for (const char* option : {"--job ID", "--launch N|ID", "--width N", "--ascii", "--color WHEN", "-j N",
                                   "-q,--quiet", "--strict", "--wait SECONDS", "--format FORMAT", "DIR|FILE"})
            EXPECT_NE(help.find(option), std::string::npos) << command << ": " << option << "\n" << help;
        EXPECT_EQ(help.find("--format FORMAT"), help.rfind("--format FORMAT")) << command << " lists it twice\n"
                                                                               << help;
    }
    const std::string calls = run({"calls", "--help"}).out;
    for (const char* meaning : {"Only these ranks", "its heading (TIME)", "What one line is", "Draw with ASCII only"})
        EXPECT_NE(calls.find(meaning), std::string::npos) << meaning;
}

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

TEST_F(cli, brief_is_at_most_six_lines_of_80_columns) {
    for (const auto& story : {uneven_work, slow_node, one_never_arrived, balanced_stencil, gpu_training}) {
        const TemporaryDirectory directory;
        for (const ProfileSpec& rank : story()) write_profile(directory.path(), rank);
        const Ran ran = run_reporter(directory.path(), {"--brief"});
        EXPECT_EQ(ran.code, 0);
        EXPECT_EQ(ran.err, "");
        const auto lines = lines_of(ran.out);
        EXPECT_GE(lines.size(), 3u);
        EXPECT_LE(lines.size(), 6u) << ran.out;
        for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
        EXPECT_TRUE(lines.at(0).starts_with("mpiprof: ")) << ran.out;
        EXPECT_TRUE(lines.back().starts_with("  profiles: ")) << ran.out;
    }
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
    EXPECT_TRUE(ran.out.starts_with("slow-rank\n  Some ranks are longer outside MPI")) << ran.out;
    EXPECT_NE(ran.out.find("Evidence: "), std::string::npos);
    EXPECT_NE(ran.out.find("Check: "), std::string::npos);
    EXPECT_GT(lines_of(run({"explain"}).out).size(), 60u);
    EXPECT_EQ(run({"explain", "no-such-rule"}).code, 2);
    EXPECT_NE(run({"explain", "no-such-rule"}).err.find("mpiprof-report explain lists them"), std::string::npos);
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
    EXPECT_NE(ran.out.find("2 of 8 ranks, as named"), std::string::npos);
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

// ---- check ----

TEST_F(cli, check_of_whole_profiles_says_so) {
    write(balanced_stencil());
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 0) << ran.out;
    EXPECT_NE(ran.out.find("all 8 profiles are whole"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("8 finalized"), std::string::npos);
    EXPECT_NE(ran.out.find("mapped"), std::string::npos);
    EXPECT_EQ(ran.err, "");
}

TEST_F(cli, check_names_each_damaged_file_on_a_line_and_fails) {
    auto ranks = balanced_stencil();
    write(ranks);
    const std::string whole = read_file(path() / "mpi_profile.4711.2");
    write_file(path() / "mpi_profile.4711.2", whole.substr(0, whole.size() / 2));
    write_file(path() / "mpi_profile.4711.3", "");
    write_file(path() / "mpi_profile.4711.x", "something else\n");
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("mpi_profile.4711.2: is cut off"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("mpi_profile.4711.3: is empty"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("mpi_profile.4711.x: is not a profile"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("3 defects found; 6 profiles can be read; 2 ranks without a profile"), std::string::npos)
        << ran.out;
    EXPECT_NE(ran.out.find("2 and 3"), std::string::npos) << "the ranks that are missing";
    EXPECT_EQ(run({"check", "-j", "3"}).out, ran.out);
}

TEST_F(cli, check_says_what_is_missing_twice_or_dropped_and_does_not_call_it_damage) {
    auto ranks = errors_and_drops();
    ranks[0].size = 3;
    ranks[1].size = 3;
    ranks[1].state = format::State::exited;
    ranks[1].store = format::StoreKind::written;
    ranks[1].store_period_ms = 10'000;
    write(ranks);
    write_file(path() / "mpi_profile.copy.1", build(ranks[1]));
    const Ran ran = run({"check", "--width", "120"});
    EXPECT_EQ(ran.code, 1) << "a rank has no profile, another no end\n" << ran.out;
    EXPECT_NE(ran.out.find("all 2 profiles are whole; 1 rank without a profile; 1 rank did not reach MPI_Finalize"),
              std::string::npos)
        << ran.out;
    for (const char* part : {"rank 1 has two profiles", "1 exited", "1 finalized", "1 mapped, 1 written every 10.00 s",
                             "2,400 cells", "5 threads", " 2 "})
        EXPECT_NE(ran.out.find(part), std::string::npos) << part << "\n" << ran.out;
}

TEST_F(cli, check_of_a_killed_job_says_so_and_fails) {
    auto ranks = balanced_stencil();
    for (ProfileSpec& rank : ranks) rank.state = format::State::running;
    ranks[3].state = format::State::aborted;
    write(ranks);
    const Ran ran = run({"check", "--width", "200"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_NE(ran.out.find("all 8 profiles are whole; 8 ranks did not reach MPI_Finalize (1 aborted, 7 killed"),
              std::string::npos)
        << ran.out;
}

TEST_F(cli, check_finds_sums_that_do_not_add_up) {
    auto ranks = late_messages();
    write(ranks);
    const fs::path file = path() / "mpi_profile.4711.1";
    Bytes bytes = build(ranks[1]);
    const auto cells = table_of(bytes, format::TableType::cells, 1);
    ASSERT_TRUE(cells);
    const std::size_t calls = cells->table.offset + offsetof(format::Cell, calls);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + calls, sizeof value);
    overwrite(bytes, calls, value * 5);
    write_file(file, bytes);
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("mpi_profile.4711.1: does not add up: "), std::string::npos) << ran.out;
}

TEST_F(cli, check_blames_calls_in_flight_for_sums_of_a_killed_rank) {
    auto ranks = late_messages();
    ranks[1].state = format::State::running;
    write(ranks);
    Bytes bytes = build(ranks[1]);
    const auto cells = table_of(bytes, format::TableType::cells, 1);
    ASSERT_TRUE(cells);
    for (std::uint32_t i = 0; i < cells->table.used; ++i) {
        const std::size_t at = cells->table.offset + i * cells->table.record_size;
        format::Cell cell{};
        std::memcpy(&cell, bytes.data() + at, sizeof cell);
        if (cell.histogram == 0 || cell.calls < 2) continue;
        overwrite(bytes, at + offsetof(format::Cell, calls), cell.calls - 1);
        break;
    }
    write_file(path() / "mpi_profile.4711.1", bytes);
    const Ran ran = run({"check"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_NE(ran.out.find("all 2 profiles are whole; 1 rank did not reach MPI_Finalize"), std::string::npos)
        << ran.out;
    EXPECT_NE(ran.out.find("by calls in flight"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("killed"), std::string::npos) << ran.out;
}

TEST_F(cli, check_is_for_programs_too) {
    write(balanced_stencil());
    write_file(path() / "mpi_profile.4711.x", "something else\n");
    const Ran csv = run({"check", "--format", "csv"});
    EXPECT_EQ(csv.code, 1);
    EXPECT_NE(csv.out.find("damaged,\"mpi_profile.4711.x: is not a profile; "), std::string::npos) << csv.out;
    EXPECT_EQ(run({"check", "nowhere"}).code, 1);
    fs::create_directory(path() / "empty");
    EXPECT_EQ(run({"check", "empty"}).code, 3);
}

// ---- live jobs ----

std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// A process that lives until it is told, and its profile.
class LivingRank {
  public:
    LivingRank() : process_(fork()) {
        if (process_ == 0) {
            pause();
            _exit(0);
        }
    }
    ~LivingRank() { end(); }
    void end() {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    ProfileSpec profile() const {
        char host[256] = "";
        gethostname(host, sizeof host - 1);
        ProfileSpec spec = uneven_work()[0];
        spec.size = 1;
        spec.host = host;
        spec.pid = static_cast<std::uint32_t>(process_);
        spec.state = format::State::running;
        spec.before_init_ns = spec.init_ns = 1'000'000;
        spec.start_realtime_ns = now_ns();
        spec.elapsed_ns = 1'000'000;
        return spec;
    }

  private:
    pid_t process_;
};

TEST_F(cli, watch_shows_a_running_job_until_it_ends) {
    LivingRank rank;
    write({rank.profile()});
    std::thread end([&] {
        usleep(1'500'000);
        rank.end();
    });
    const Ran ran = run({"watch", "--interval", "0.3"});
    end.join();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_GE(std::count(ran.out.begin(), ran.out.end(), '\n'), 3) << ran.out;
    EXPECT_NE(ran.out.find("; 1 running; "), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find(" now)"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("job 4711 has ended: 1 ended without MPI_Finalize; "), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << "not a terminal: lines are appended";
}

TEST_F(cli, watch_changes_no_file) {
    write(balanced_stencil());
    const auto times = [&] {
        std::map<std::string, std::pair<fs::file_time_type, std::uintmax_t>> all;
        for (const auto& entry : fs::directory_iterator(path()))
            all[entry.path()] = {entry.last_write_time(), entry.file_size()};
        return all;
    };
    const auto before = times();
    const Ran ran = run({"watch"});
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(times(), before);
    EXPECT_TRUE(ran.out.starts_with("job 4711 has ended: 8 finalized; ")) << ran.out;
}

TEST_F(cli, watch_ends_at_an_interrupt) {
    LivingRank rank;
    write({rank.profile()});
    std::thread interrupt([] {
        usleep(1'000'000);
        // The reporter is the other child; it has no name of its own to be found by but its parent.
        const std::string children = read_file(fmt::format("/proc/{0}/task/{0}/children", getpid()));
        std::istringstream pids(children);
        for (pid_t pid = 0; pids >> pid;)
            if (read_file(fmt::format("/proc/{}/cmdline", pid)).find("watch") != std::string::npos) kill(pid, SIGINT);
    });
    const Ran ran = run({"watch", "--interval", "60"});
    interrupt.join();
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("1 running"), std::string::npos);
}

TEST_F(cli, wait_takes_until_the_last_rank_is_there) {
    auto ranks = balanced_stencil();
    const ProfileSpec last = ranks.back();
    ranks.pop_back();
    write(ranks);
    std::thread later([&] {
        usleep(800'000);
        write({last});
    });
    const Ran ran = run({"--wait", "20"});
    later.join();
    EXPECT_EQ(ran.code, 0);
    EXPECT_NE(ran.out.find("profile complete: 8 of 8 ranks"), std::string::npos) << ran.out;
    EXPECT_NE(ran.err.find("waiting up to 20 s"), std::string::npos) << ran.err;
    fs::remove(path() / "mpi_profile.4711.7");
    const Ran late = run({"--wait", "0.2"});
    EXPECT_NE(late.out.find("INCOMPLETE: 7 of 8"), std::string::npos) << "time is over: what there is";
    EXPECT_EQ(run({"--wait", "soon"}).code, 2);
}

TEST_F(cli, last_writes_that_are_not_visible_yet_are_named) {
    auto ranks = balanced_stencil();
    for (ProfileSpec& spec : ranks) spec.start_realtime_ns = now_ns() - spec.elapsed_ns - 3'000'000'000;
    ranks[5].state = format::State::running;
    ranks[5].elapsed_ns -= 8'000'000'000;
    ranks.pop_back();
    write(ranks);
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 0);
    std::string text = ran.out;
    std::erase(text, '\n');
    EXPECT_NE(text.find("writes of 2 of 8 ranks may not be visible"), std::string::npos) << ran.out;
    EXPECT_NE(run({"calls"}).err.find("--wait 60"), std::string::npos);
    ranks[5] = ranks[4];
    ranks[5].rank = 5;
    write(ranks, "damaged");
    write_file(path() / "damaged" / "mpi_profile.4711.7", "mpiprof profile, format 1.");
    EXPECT_EQ(run({"damaged"}).out.find("--wait"), std::string::npos) << "waiting mends no damaged file";
}

}  // namespace
}  // namespace mpiprof::test
