// mpiprof-report as it is typed: commands, options, exit codes, what goes to stdout and what to stderr.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/report/cli.h"
#include "tests/report/stories.h"

namespace mpiprof::test {
namespace {

TEST_F(cli, without_a_word_it_summarises_this_directory) {
    write(balanced_stencil());
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(ran.out.starts_with("  No bottleneck: ")) << ran.out;
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

TEST_F(cli, top_shortens_lists_and_no_maps) {
    write(balanced_stencil(), "run");
    const auto peers = nlohmann::json::parse(run({"peers", "run", "--format", "json", "--top", "2"}).out);
    EXPECT_EQ(peers["pairs"].size(), 2u);
    EXPECT_EQ(peers["map"].size(), 8u);
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
    EXPECT_NE(ran.err.find("--rank is not an option of the summary, but of calls, "), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("mpiprof-report calls --rank"), std::string::npos) << ran.err;
    EXPECT_NE(run({"summary", "--sort", "time"}).err.find("--sort is not an option of summary, but of calls, "),
              std::string::npos);
}

TEST_F(cli, a_directory_with_the_name_of_a_command_is_reached_by_its_path) {
    write(balanced_stencil(), "calls");
    EXPECT_EQ(run({"./calls"}).code, 0);
    EXPECT_NE(run({"./calls"}).out.find("PER RANK"), std::string::npos);
    EXPECT_EQ(run({"./calls"}).out.find("EFFICIENCY"), std::string::npos);
    EXPECT_NE(run({"summary", "--details", "./calls"}).out.find("EFFICIENCY"), std::string::npos);
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

TEST_F(cli, a_script_that_was_written_for_another_schema_is_told) {
    write(balanced_stencil(), "run");
    EXPECT_EQ(run({"summary", "--format", "json", "--schema", "2", "run"}).code, 0);
    const Ran ran = run({"summary", "--format", "json", "--schema", "1", "run"});
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find("writes schema 2"), std::string::npos) << ran.err;
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
    EXPECT_NE(run({"elsewhere"}).err.find("not a command either"), std::string::npos);
    EXPECT_EQ(run({"./elsewhere"}).err.find("not a command"), std::string::npos);
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
    EXPECT_NE(ran.err.find("mpi_profile.1.1: is truncated"), std::string::npos);
}

TEST_F(cli, a_damaged_rank_does_not_end_the_report) {
    write(balanced_stencil());
    write_file(path() / "mpi_profile.4711.3", "mpiprof profile, format 1.");
    const Ran summary = run({});
    EXPECT_EQ(summary.code, 0);
    EXPECT_NE(summary.out.find("INCOMPLETE: 7 of 8 ranks, missing 3"), std::string::npos);
    EXPECT_NE(summary.out.find("mpi_profile.4711.3: is truncated"), std::string::npos);
    const Ran calls = run({"calls"});
    EXPECT_EQ(calls.code, 0);
    EXPECT_NE(calls.err.find("mpi_profile.4711.3: is truncated"), std::string::npos);
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
    EXPECT_NE(summary.out.find("profile complete: 3 of 8 ranks (MPIPROF_RANKS)"), std::string::npos) << summary.out;
    EXPECT_NE(summary.out.find("MPIPROF_RANKS=2,4-5,900: only these ranks were profiled"), std::string::npos)
        << summary.out;
    EXPECT_EQ(run({"calls", "--strict"}).err, "");
    EXPECT_EQ(run({"check"}).out.find("MISSING"), std::string::npos);
    EXPECT_EQ(run({"hang"}).out.find("no profile"), std::string::npos);

    std::filesystem::remove(path() / "mpi_profile.4711.4");
    EXPECT_NE(run({}).out.find("INCOMPLETE: 2 of 8 ranks, missing 4\n"), std::string::npos);
    EXPECT_NE(run({"check"}).out.find("MISSING"), std::string::npos);
    EXPECT_NE(run({"hang"}).out.find("no profile"), std::string::npos);
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

TEST_F(cli, help_of_a_command_explains_its_own_options_and_names_the_others) {
    const std::vector<std::string> commands = commands_in(run({"--help"}).out);
    ASSERT_GE(commands.size(), 16u);
    for (const std::string& command : commands) {
        const std::string help = run({command, "--help"}).out;
        for (const char* option : {"--job", "--launch", "--width", "--ascii", "--color", "-j", "--quiet", "--strict",
                                   "--wait", "--format", "DIR|FILE", "Examples:\n  mpiprof-report "})
            EXPECT_NE(help.find(option), std::string::npos) << command << ": " << option << "\n" << help;
        const bool is_its_own = help.find("--format FORMAT") != std::string::npos;
        const std::size_t others = help.find("Options of every command");
        EXPECT_NE(is_its_own, help.find("--format", others) < help.find("\n\n", others)) << command << "\n" << help;
        EXPECT_EQ(help.find("Draw with ASCII only"), std::string::npos) << command;
        EXPECT_LE(std::ranges::count(help, '\n'), 120) << command << "\n" << help;
    }
    EXPECT_NE(run({"--help"}).out.find("Draw with ASCII only"), std::string::npos);
    const std::string calls = run({"calls", "--help"}).out;
    for (const char* meaning : {"Only these ranks", "its heading (TIME)", "Row granularity"})
        EXPECT_NE(calls.find(meaning), std::string::npos) << meaning;
}

TEST_F(cli, a_job_in_a_directory_is_named_alike_in_all_commands) {
    auto other = balanced_stencil();
    for (ProfileSpec& rank : other) {
        rank.job = "4712";
        rank.launch += "b";
        rank.start_realtime_ns += 1'000'000'000'000;
    }
    write(balanced_stencil(), "run");
    write(other, "run");
    for (const char* command : {"summary", "calls", "check"})
        EXPECT_EQ(run({command, "run:4711"}).out, run({command, "run", "--job", "4711"}).out) << command;
    EXPECT_NE(run({"summary", "mine=run:4711"}).out.find("job 4711"), std::string::npos);
    EXPECT_NE(run({"summary", "run"}).out.find("job 4712"), std::string::npos);
    EXPECT_EQ(run({"merge", "-o", "one.mpiprof", "run:4711"}).code, 0);
    EXPECT_NE(run({"one.mpiprof"}).out.find("job 4711"), std::string::npos);
    EXPECT_EQ(run({"summary", "run:4799"}).code, 3);
}

}  // namespace
}  // namespace mpiprof::test
